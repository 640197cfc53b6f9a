// What a policy promises, as far as a page has to know.

/** Mechanisms that have no way not to hide who answered what. */
const ALWAYS = ["null-randomized-response", "matrix-factorization"];

/** The mechanism of campaigns whose answers are sealed for keyholders. */
export const SEALED = "sealed-sum";

/** Whether answers are sealed for keyholders. @param {{mechanism: Record<string, any>}} policy */
export function isSealed({ mechanism }) {
  return mechanism.name === SEALED;
}

/**
 * Whether the policy hides which tasks a worker answered.
 *
 * @param {{mechanism: Record<string, any>}} policy
 * @returns {boolean}
 */
export function hidesParticipation({ mechanism }) {
  if (mechanism.name === "sampled") return hidesParticipation({ mechanism: mechanism.of });
  if (ALWAYS.includes(mechanism.name) || mechanism.hidden === true) return true;
  return mechanism.null !== undefined && mechanism.null !== false && mechanism.null !== "absent";
}
