// The command that does the same.

/**
 * Its words, of which none shall be broken.
 *
 * @param {import("./lab-form.js").Lab} lab
 * @param {number[]} epsilons
 */
export function planLine(lab, epsilons) {
  return [
    "sottovoce plan",
    `--tasks ${lab.tasks}`,
    `--workers ${lab.workers}`,
    `--answers-per-worker ${lab.answers}`,
    domain(lab),
    `--epsilon ${epsilons.join(" ")}`,
    `--ability ${lab.ability}`,
    ...(lab.hides ? ["--hide-participation"] : []),
  ];
}

/** @param {import("./lab-form.js").Lab} lab */
function domain({ kind, labels, low, high }) {
  if (kind === "numeric") return `--range ${low} ${high}`;
  if (kind === "categorical") return `--labels ${labels}`;
  const names = Array.from({ length: Number(labels) || 2 }, (_, index) => `label-${index + 1}`);
  return `--domain ordinal:${names.join(",")}`;
}
