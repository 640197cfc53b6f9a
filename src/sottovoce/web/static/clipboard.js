// Copies a text when a button is pressed. Browsers allow it over HTTPS and on this machine only.

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
