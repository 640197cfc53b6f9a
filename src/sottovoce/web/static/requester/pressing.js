// A button that does something that takes a while: once at a time, and it keeps the focus, which a
// disabled button would lose.

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
