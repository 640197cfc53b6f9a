// The home page: paste a token, and continue to the page that asked for it.

import { at } from "./elements.js";
import { ask, backToWhereOneWas, isSignedIn, isToken, offerSample, signIn, signOut, wasSentAway } from "./requests.js";

/** @import { Problem } from "./requests.js" */

const form = /** @type {HTMLFormElement} */ (at("signing-in"));
const field = /** @type {HTMLInputElement} */ (at("token"));
const said = at("token-error");

form.hidden = isSignedIn();
at("signed-in").hidden = !isSignedIn();
form.addEventListener("submit", tryToken);
offerSample(at("sample"), at("sample-error"));
// No element has this name: the browser would move the focus there again.
if (location.hash === "#sign-in" && !isSignedIn()) {
  at("why").hidden = !wasSentAway();
  at("why").textContent = "This tab has no valid token. Sign in to continue.";
  at("asking").scrollIntoView();
  field.focus({ preventScroll: true });
}

/** @param {SubmitEvent} event */
async function tryToken(event) {
  event.preventDefault();
  const given = field.value.trim();
  say("");
  if (!isToken(given)) {
    say("A token starts with svk_ and has 47 characters. Copy all of it.");
    return;
  }
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  button.disabled = true;
  signIn(given, new FormData(form).has("stay"));
  try {
    await ask("tokens", { stay: true });
    backToWhereOneWas();
  } catch (error) {
    signOut();
    const refused = /** @type {Problem} */ (error);
    const isUnknown = refused.reason === "bad_credential";
    say(isUnknown ? "The server does not know this token. It may have been revoked." : refused.message);
    button.disabled = false;
  }
}

/** @param {string} words */
function say(words) {
  said.textContent = words;
  field.setAttribute("aria-invalid", String(words !== ""));
  if (words) field.focus();
}
