// Screen: one question.

import { asked } from "./draw.js";
import { button, el, heading } from "./elements.js";
import { number, t } from "./language.js";
import { keepAnswers } from "./storage.js";

/** @import { App, Given, Label } from "./types.js" */

/** With more labels than this, there is a search field. */
const FEW = 12;
/** The most labels listed at once; typing narrows them down. */
const LISTED = 100;
/** Longer texts are not headlines. */
const HEADLINE = 90;

/** @param {App} app @param {number} place */
export function question(app, place) {
  const tasks = asked(app);
  const given = tasks[place];
  const fault = el("p", { class: "notice bad", id: "fault", role: "alert", hidden: true });
  const field = app.verified.domain.kind === "numeric" ? numberField(app, given) : labelField(app, given);
  // After a change from the review, return to the review.
  const isLast = () => place + 1 === tasks.length || tasks.every(({ task }) => app.answers.has(task));
  const next = () => (isLast() ? app.go("review") : app.go("question", place + 1));
  const settle = (/** @type {Label | null} */ answer) => {
    app.answers.set(given.task, answer);
    keepAnswers(app.answers);
    next();
  };
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const { answer, wrong } = field.read();
    if (answer !== undefined) return settle(answer);
    fault.replaceChildren(wrong ?? "");
    fault.hidden = false;
    field.input()?.setAttribute("aria-invalid", "true");
    field.input()?.focus();
  };
  return [
    el("p", { class: "kicker progress" }, t.progress(number(place + 1), number(tasks.length)),
      el("progress", { max: String(tasks.length), value: String(place + 1), "aria-label": t.progressBar })),
    app.offer.question !== given.text && el("p", { class: "hint asked" }, app.offer.question),
    el("form", { submit, novalidate: true },
      field.drawn, fault,
      el("p", { class: "actions" },
        el("button", {}, t.next),
        button(t.back, () => history.back(), "quiet"),
        button(t.skip, () => settle(null), "quiet")),
      el("p", { class: "hint" }, app.verified.hidesParticipation ? t.skipPrivate : t.skipSeen)),
  ];
}

/** @param {string} image */
function picture(image) {
  const address = new URL(image, location.href);
  if (address.protocol === "data:" || address.origin === location.origin) {
    return el("img", { class: "picture", src: image, alt: t.imageOf });
  }
  const link = el("a", { href: image, rel: "noreferrer noopener", target: "_blank" }, t.openImage(address.host));
  return el("p", {}, link);
}

/**
 * @typedef {object} Field
 * @property {HTMLElement} drawn
 * @property {() => {answer?: Label, wrong?: string}} read
 * @property {() => HTMLElement | null} input the field to correct
 */

/** @param {App} app @param {Given} given @returns {Field} */
function numberField(app, given) {
  const { offer, verified, answers } = app;
  const domain = /** @type {{low: number, high: number}} */ (verified.domain);
  const step = /** @type {any} */ (verified.document).domain.step;
  const input = el("input", {
    id: "number", class: "number", autocomplete: "off", inputmode: domain.low < 0 ? "text" : "decimal",
    "aria-describedby": "range fault", "aria-labelledby": "heading", value: answers.get(given.task) ?? "",
  });
  const range = t.range(number(domain.low), number(domain.high), offer.unit, step && number(Number(step)));
  const read = () => {
    const typed = input.value.normalize("NFKC").trim().replace("−", "-");
    const answer = typed === "" ? NaN : Number(typed);
    return answer >= domain.low && answer <= domain.high ? { answer } : { wrong: t.notInRange(range) };
  };
  const drawn = el("div", {}, heading(...headline(given)), given.image && picture(given.image),
    el("div", { class: "with-unit" }, input, el("span", {}, offer.unit ?? "")),
    el("p", { class: "hint", id: "range" }, range));
  return { drawn, read, input: () => input };
}

/** @param {Given} given */
const headline = ({ text }) => [el("span", { class: text.length > HEADLINE && "long" }, text)];

/** @param {App} app @param {Given} given @returns {Field} */
function labelField(app, given) {
  const { labels } = /** @type {{labels: Label[]}} */ (app.verified.domain);
  const list = el("div", { class: "choices" });
  let picked = labels.findIndex((label) => String(label) === String(app.answers.get(given.task)));
  const show = (/** @type {string} */ wanted) => {
    const found = [...labels.keys()].filter((i) => String(labels[i]).toLowerCase().includes(wanted.toLowerCase()));
    list.replaceChildren(...found.slice(0, LISTED).map((i) => choice(i)),
      found.length > LISTED ? el("p", { class: "hint" }, t.moreLabels(number(found.length - LISTED))) : "",
      found.length ? "" : el("p", { class: "hint" }, t.noLabel));
  };
  const choice = (/** @type {number} */ i) => {
    const radio = el("input", { type: "radio", name: "answer", value: String(i), change: () => (picked = i) });
    radio.checked = i === picked;
    return el("label", { class: "choice" }, radio, el("span", {}, String(labels[i])),
      labels.length <= 9 && el("kbd", { "aria-hidden": "true" }, String(i + 1)));
  };
  show("");
  const filter = labels.length > FEW && el("label", { class: "filter" }, t.findLabel,
    el("input", { type: "search", autocomplete: "off", input: (/** @type {any} */ event) => show(event.target.value) }));
  const drawn = el("fieldset", { "aria-describedby": "fault" },
    el("legend", {}, heading(...headline(given))), given.image && picture(given.image), filter, list);
  return {
    drawn,
    read: () => (picked < 0 ? { wrong: t.chooseOne } : { answer: labels[picked] }),
    input: () => drawn.querySelector("input"),
  };
}

/** Keys 1 to 9 choose an answer, except in a text field. @param {KeyboardEvent} event */
export function chooseByKey(event) {
  const typing = event.target instanceof HTMLInputElement && event.target.type !== "radio";
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !/^[1-9]$/.test(event.key)) return;
  const radio = /** @type {HTMLInputElement | null} */ (document.querySelector(`input[type=radio][value="${Number(event.key) - 1}"]`));
  radio?.focus();
  radio?.click();
}
