// DOM elements without markup: text written by others stays text.

/** @typedef {Node | string | false | null | undefined} Child */

/**
 * An element; functions among the attributes listen to events of their name.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag @param {Record<string, any>} [attributes] @param {...Child} children
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(name, value);
    else if (value !== false && value != null) made.setAttribute(name, value === true ? "" : value);
  }
  made.append(.../** @type {(Node | string)[]} */ (children.filter(Boolean)));
  return made;
}

/** The heading of a view. It gets the focus when the view is shown. @param {...Child} words */
export const heading = (...words) => el("h1", { tabindex: "-1", id: "heading" }, ...words);

/** @param {string} words @param {() => unknown} click @param {string} [kind] */
export const button = (words, click, kind) => el("button", { type: "button", class: kind, click }, words);

/** @param {string} words @param {...Child} children */
export const details = (words, ...children) => el("details", {}, el("summary", {}, words), ...children);

/** @param {string} title @param {...Child} children */
export const card = (title, ...children) =>
  el("section", { class: "card" }, el("h2", {}, title), ...children);

/** A text with a copy button. @param {string} text @param {{copy: string, copied: string, notCopied: string}} t */
export function copyable(text, t) {
  const status = el("span", { role: "status", class: "hint" });
  const copy = async () => {
    await navigator.clipboard.writeText(text).then(
      () => status.replaceChildren(t.copied),
      () => status.replaceChildren(t.notCopied),
    );
  };
  return el("div", { class: "copy" },
    el("pre", { tabindex: "0" }, el("code", {}, text)), button(t.copy, copy, "quiet"), status);
}
