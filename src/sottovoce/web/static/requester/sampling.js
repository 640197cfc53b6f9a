// The sample campaign: made and answered by simulated workers in one click.

import { ask, place } from "./asking.js";

/**
 * Makes a sample campaign when a button is pressed, and goes to its dashboard.
 *
 * @param {HTMLElement} button
 * @param {HTMLElement} said where it is said that it did not work
 */
export function offerSample(button, said) {
  button.addEventListener("click", async () => {
    button.setAttribute("disabled", "");
    button.classList.add("busy");
    said.textContent = "";
    try {
      const made = await ask("sample", { method: "POST" });
      location.assign(place("campaigns", made.id));
    } catch (error) {
      said.textContent = /** @type {Error} */ (error).message;
      button.removeAttribute("disabled");
      button.classList.remove("busy");
    }
  });
}
