// Step 4: the whole campaign in one list, as stored on the server, before it is locked.

import { el, fill } from "../requester/elements.js";
import { counted, whole, written } from "../requester/formats.js";
import { againstWords, betsOf100, betWords, devicesWarning, hundred, inNumbers, inWords, isSealed, keyholdersCard, mechanismName, of100, sealedWords } from "../requester/policy.js";
import { ask } from "../requester/requests.js";
import { preview } from "./answers.js";
import { adopt, write } from "./draft.js";

/** @import { Campaign } from "../requester/types.js" */
/** @import { Draft } from "./draft.js" */
/** @import { View } from "./wizard.js" */

/**
 * @param {Draft} draft
 * @param {() => void} _keep
 * @param {() => void} rest updates the buttons
 * @returns {View}
 */
export function reviewStep(draft, _keep, rest) {
  const element = el("div", {}, el("p", { class: "hint busy", text: "Loading the saved campaign" }));
  let isCutShort = false;
  const show = (/** @type {Campaign} */ campaign) => {
    isCutShort = Boolean(campaign.devices?.warning);
    fill(element, laid(campaign, draft, take));
    rest();
    return true;
  };
  const fail = (/** @type {Error} */ error) => {
    fill(element, el("p", { class: "error", role: "alert", text: error.message }));
    return false;
  };
  const take = (/** @type {number} */ workers, /** @type {number} */ answers) => {
    adopt(draft, workers, answers);
    reading = write(draft).then(show, fail);
  };
  // Wait for the server: a campaign must be shown before it can be opened.
  let reading = ask(`campaigns/${draft.id}`).then(show, fail);
  return { element, check: () => reading, isCutShort: () => isCutShort };
}

/** @param {Campaign} campaign @param {Draft} draft @param {(workers: number, answers: number) => void} take */
function laid(campaign, draft, take) {
  const { guarantee, policy, policy_hash, devices, block } = campaign;
  const workers = Number(draft.workers) || 1;
  const crowd = devices?.most ? Math.ceil((workers * block) / devices.most) : null;
  return el("div", { class: "with-aside" },
    el("div", {},
      devicesWarning(devices && { ...devices, workers: crowd }, { workers, tasks: campaign.tasks }, take),
      el("section", { class: "card" },
        el("h2", { text: campaign.title }),
        el("p", { class: "question", text: campaign.question }),
        el("dl", {},
          line("Tasks", whole(campaign.tasks)),
          line("Answers", domainWords(campaign)),
          line("Each worker gets", counted(campaign.block, "task")),
          line("Choice of tasks", campaign.assignment === "need" ? "the most needed first" : "by chance"),
          line("Which tasks were answered", draft.hides ? "private" : "visible"),
          !isSealed(policy) && line("Workers see their reports", draft.showDraw === "before_send" ? "before sending" : "after sending"),
          line("Ends", endWords(campaign)),
        ),
      ),
      el("section", { class: "card promise" },
        el("h2", { text: "Privacy" }),
        isSealed(policy)
          ? [el("p", { class: "odds", text: sealedWords(policy) }), el("p", { text: betWords(betsOf100(guarantee.per_answer.epsilon ?? Infinity)) })]
          : odds(guarantee.odds),
        guarantee.warning && el("p", { class: "notice bad", text: guarantee.warning }),
        el("dl", { class: "fine" },
          line("For one answer", inNumbers(guarantee.per_answer)),
          line(`For ${counted(campaign.answers, "answer")} of a worker`, inNumbers(guarantee.per_worker)),
          isSealed(policy) && line("Against", againstWords(policy)),
          line("Mechanism", inWords(mechanismName(policy))),
        ),
        el("p", { class: "fine" }, "Policy ", el("code", { class: "hash", text: policy_hash })),
      ),
      isSealed(policy) && keyholdersCard(policy),
      el("section", { class: "notice lock" },
        el("h2", { text: "Locked after opening" }),
        el("p", { text: "Once the campaign is open, its tasks, question, answers and guarantee are locked: workers’ software pins the policy by this hash and refuses any other. You can close the campaign at any time." }),
      ),
    ),
    el("aside", { class: "sticky", "aria-label": "Preview" }, preview(draft).element),
  );
}

/** @param {string | null} words */
const odds = (words) => el("div", { class: "odds-row small" }, hundred(of100(words)), el("p", { class: "odds", text: words ?? "No odds are defined." }));

/** @param {string} name @param {string} value */
const line = (name, value) => el("div", {}, el("dt", { text: name }), el("dd", { text: value }));

/** @param {Campaign} campaign */
function domainWords({ domain, unit }) {
  if (domain.kind === "numeric") return `numbers from ${domain.low} to ${domain.high}${unit ? ` ${unit}` : ""}`;
  const labels = (domain.labels ?? []).map(String);
  const shown = labels.length > 8 ? `${labels.slice(0, 7).join(", ")} and ${labels.length - 7} more` : labels.join(", ");
  return domain.kind === "ordinal" ? `${shown} (in this order)` : shown;
}

/** @param {Campaign} campaign */
function endWords({ closes_on, quota }) {
  const ends = [closes_on && `on ${written(closes_on)}`, quota && `after ${counted(quota, "worker")}`].filter(Boolean);
  return ends.length ? ends.join(", or ") : "when you close it";
}
