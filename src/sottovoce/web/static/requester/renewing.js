// Renews a part of the page only if what it shows has changed. Tables that were unfolded stay
// unfolded, and the focus stays where it is: whoever reads is not to be disturbed by the news.

/** @type {WeakMap<Element, string>} */
const shown = new WeakMap();

/**
 * @param {Element} part
 * @param {unknown} data what decides how the part looks, as JSON could hold it
 * @param {() => (Node | string)[]} build
 */
export function renew(part, data, build) {
  const text = JSON.stringify(data);
  if (shown.get(part) === text) return;
  shown.set(part, text);
  const unfolded = [...part.querySelectorAll("details")].map((each) => each.open);
  const hadFocus = part.contains(document.activeElement);
  const focused = [...part.querySelectorAll("summary")].findIndex((each) => each === document.activeElement);
  part.replaceChildren(...build());
  part.querySelectorAll("details").forEach((each, i) => {
    each.open = unfolded[i] ?? false;
  });
  if (hadFocus) focusAgain(part, part.querySelectorAll("summary")[focused]);
}

/** On the same thing, or where it was: nobody is to start again from the top. @param {Element} part @param {HTMLElement | undefined} same */
function focusAgain(part, same) {
  if (!same) part.setAttribute("tabindex", "-1");
  (same ?? /** @type {HTMLElement} */ (part)).focus({ preventScroll: true });
}
