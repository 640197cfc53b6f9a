// Runs the randomiser outside a browser: jobs come in as JSON, replies go out as JSON.
//
//   {verify: policy, counts: [...], rows: [[answer, threshold]...]} -> what it found
//   {randomize: policy, worker, answers: [[task, answer]...], tasks, words?} -> {submission, reports, unread}
//   {threshold: policy, worker, task}, {pseudonym: [campaign, receipt]}, {sha256: text} -> a value
//
// With `words` the randomness is these, in this order; without, it is the system's. A job that is
// refused gives {refused: code, message}.

import { readFileSync } from "node:fs";

// A data: address is a module whatever the file's name and the folder around it.
const source = readFileSync(process.argv[2], "utf8");
const load = () => import(`data:text/javascript,${encodeURIComponent(source)}`);
const real = crypto.getRandomValues.bind(crypto);

/** @param {string[]} words */
function scripted(words) {
  crypto.getRandomValues = (array) => {
    if (!(array instanceof BigUint64Array)) throw new Error("only whole words are drawn");
    for (let i = 0; i < array.length; i++) {
      const next = words.shift();
      if (next === undefined) throw new Error("more words are drawn than expected");
      array[i] = BigInt(next);
    }
    return array;
  };
}

async function done(job, { verify, randomize, thresholdOf, pseudonym, sha256 }) {
  globalThis.isSecureContext = job.secure ?? true;
  if ("pseudonym" in job) return pseudonym(...job.pseudonym);
  if ("sha256" in job) return sha256(job.sha256);
  const verified = await verify(job.verify ?? job.randomize ?? job.threshold);
  if ("threshold" in job) return thresholdOf(verified, job.worker, job.task);
  if ("verify" in job) {
    const { guarantee, rows, ...found } = verified;
    return {
      ...found,
      guarantees: (job.counts ?? []).map(guarantee),
      rows: (job.rows ?? []).map(([answer, threshold]) => rows(answer, threshold)),
    };
  }
  const words = job.words && [...job.words];
  if (words) scripted(words);
  else crypto.getRandomValues = real;
  const drawn = await randomize(verified, job.worker, new Map(job.answers), job.tasks);
  return job.brief ? drawn.reports.map(({ report }) => report) : { ...drawn, unread: words?.length ?? 0 };
}

const module = await load();
const replies = [];
for (const job of JSON.parse(readFileSync(0, "utf8"))) {
  try {
    replies.push(await done(job, module));
  } catch (error) {
    if (!(error instanceof module.PolicyError)) throw error;
    replies.push({ refused: error.code, message: error.message });
  }
}
process.stdout.write(JSON.stringify(replies));
