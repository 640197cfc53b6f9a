// Elements that the requester's pages share: DOM and SVG nodes, parts that refresh, buttons, dialogs.
// Text is always text: nothing here parses markup.

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {string | number | boolean | null | undefined | EventListener} Attribute */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element. `class` and `text` set its class and text, a function listens to the event it is
* named after (`onclick`), true sets an attribute without a value; false, null and undefined set none.
 *
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function el(tag, attributes = {}, ...children) {
  return dressed(document.createElement(tag), attributes, children);
}

/**
 * Makes an SVG element.
 *
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | Child[])} children
 * @returns {SVGElementTagNameMap[T]}
 */
export function svg(tag, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, tag), attributes, children);
}

/**
 * The element of the page with this id. A page without it is a bug.
 *
 * @param {string} id
 * @returns {HTMLElement}
 */
export function at(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`this page has no #${id}`);
  return found;
}

/**
 * Replaces the children of an element.
 *
 * @param {Element} parent
 * @param {...(Child | Child[])} children
 */
export function fill(parent, ...children) {
  parent.replaceChildren(...shown(children));
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Record<string, any>} attributes
 * @param {(Child | Child[])[]} children
 * @returns {E}
 */
function dressed(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") element.append(String(value));
    else if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...shown(children));
  return element;
}

/** @param {(Child | Child[])[]} children @returns {(Node | string)[]} */
function shown(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

// A large number with its name.

/** @param {string} name @param {string} value @param {string} [note] */
export function large(name, value, note) {
  return el(
    "div",
    {},
    el("dt", { text: name }),
    el("dd", {}, value, note ? el("span", { class: "note", text: ` ${note}` }) : null),
  );
}

// Refreshing a part of the page only when its data changed. Open details stay open and the focus stays
// where it is.

/** @type {WeakMap<Element, string>} */
const lastShown = new WeakMap();

/**
 * @param {Element} part
 * @param {unknown} data what decides how the part looks, as JSON could hold it
 * @param {() => (Node | string)[]} build
 */
export function renew(part, data, build) {
  const text = JSON.stringify(data);
  if (lastShown.get(part) === text) return;
  lastShown.set(part, text);
  const unfolded = [...part.querySelectorAll("details")].map((each) => each.open);
  const hadFocus = part.contains(document.activeElement);
  const focused = [...part.querySelectorAll("summary")].findIndex((each) => each === document.activeElement);
  part.replaceChildren(...build());
  part.querySelectorAll("details").forEach((each, i) => {
    each.open = unfolded[i] ?? false;
  });
  if (hadFocus) focusAgain(part, part.querySelectorAll("summary")[focused]);
}

/** Keeps the focus on the same element, or in the same place. @param {Element} part @param {HTMLElement | undefined} same */
function focusAgain(part, same) {
  if (!same) part.setAttribute("tabindex", "-1");
  (same ?? /** @type {HTMLElement} */ (part)).focus({ preventScroll: true });
}

// A button acts once at a time. It keeps the focus, which a disabled button would lose.

/**
 * @param {HTMLElement} button
 * @param {() => Promise<void>} act
 */
export async function once(button, act) {
  if (button.getAttribute("aria-busy") === "true") return;
  button.setAttribute("aria-busy", "true");
  try {
    await act();
  } finally {
    button.removeAttribute("aria-busy");
  }
}

// A button that copies a text and confirms it. Browsers allow copying over HTTPS and on localhost only.

/**
 * @param {string} label
 * @param {() => string} text
 * @param {string} [look] the button's class
 * @param {string} [name] what the button is called where its label does not say enough
 */
export function copyButton(label, text, look = "quiet", name = undefined) {
  const button = el("button", { type: "button", class: look, text: label, "aria-label": name, hidden: true });
  const status = el("span", { class: "hint", role: "status" });
  offerCopy(button, status, text);
  return el("span", { class: "copying" }, button, " ", status);
}

/**
 * @param {HTMLElement} button hidden where copying is not possible
 * @param {HTMLElement} status says that it is done
 * @param {() => string} text
 */
export function offerCopy(button, status, text) {
  if (!navigator.clipboard) return;
  button.hidden = false;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text());
      status.textContent = "Copied.";
    } catch {
      status.textContent = "The browser did not allow it: select the text and copy it.";
    }
  });
}

// A confirmation dialog for actions that cannot be undone.

/**
 * @typedef {object} Doubt
 * @property {string} title the question
 * @property {string[]} words the consequences, one paragraph each
 * @property {string} action the label of the confirming button
 * @property {string} [typed] the text to type first
 */

/**
 * Whether the user confirms. Escape, and everything but the button, means no.
 *
 * @param {Doubt} doubt
 * @returns {Promise<boolean>}
 */
export function confirmed({ title, words, action, typed }) {
  const yes = el("button", { type: "submit", value: "yes", text: action, disabled: typed !== undefined });
  const form = el(
    "form",
    { method: "dialog" },
    el("h2", { id: "doubt", text: title }),
    words.map((text) => el("p", { text })),
    typed === undefined ? null : typing(typed, yes),
    el(
      "p",
      { class: "actions" },
      yes,
      el("button", { type: "button", class: "quiet", text: "Cancel", onclick: () => dialog.close() }),
    ),
  );
  const dialog = el("dialog", { "aria-labelledby": "doubt" }, form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) =>
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    }),
  );
}

/** @param {string} typed @param {HTMLButtonElement} yes */
function typing(typed, yes) {
  const field = el("input", { autocomplete: "off", autocapitalize: "off", spellcheck: "false" });
  field.addEventListener("input", () => {
    yes.disabled = !same(field.value, typed);
  });
  return el("label", {}, "Type “", el("span", { class: "typed", text: typed }), "” to confirm", field);
}

/** Compares texts without regard to spaces: a title can have invisible ones. @param {string} one @param {string} other */
function same(one, other) {
  const plain = (/** @type {string} */ text) => text.normalize().trim().replace(/\s+/g, " ");
  return plain(one) === plain(other);
}
