// The page behind the one-time setup link. The secret follows the #, so it reaches no log. It is sent
// to the server in a header, once, and is removed from the address bar at once.

import { at, offerCopy } from "./elements.js";
import { place, signIn } from "./requests.js";

const SECRET = /^sva_[A-Za-z0-9_-]{43}$/;
const secret = location.hash.slice(1);
const link = location.href;
const form = /** @type {HTMLFormElement} */ (at("make"));

if (SECRET.test(secret)) {
  history.replaceState(null, "", location.pathname);
  at("login").textContent = `sottovoce campaign login '${link}'`;
  form.hidden = false;
  form.addEventListener("submit", make);
} else {
  at("missing").hidden = false;
}

/** @param {SubmitEvent} event */
async function make(event) {
  event.preventDefault();
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button"));
  button.disabled = true;
  at("problem").hidden = true;
  try {
    const response = await fetch(/** @type {string} */ (form.dataset.setup), {
      method: "POST",
      headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
      body: JSON.stringify({ name: new FormData(form).get("name") }),
      credentials: "omit",
    });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    show(answer.token);
  } catch (error) {
    const problem = at("problem");
    const refused = error instanceof Error && !(error instanceof TypeError);
    problem.textContent = refused ? error.message : "The server does not respond.";
    problem.hidden = false;
    button.disabled = false;
  }
}

/** @param {string} token */
function show(token) {
  const server = new URL(/** @type {string} */ (form.dataset.setup), location.href).href;
  at("token").textContent = token;
  at("use").textContent = `sottovoce campaign login --token ${server.replace(/\/api\/v1\/setup$/, "")}`;
  offerCopy(at("copy"), at("copied"), () => token);
  at("continue").addEventListener("click", () => {
    signIn(token);
    location.assign(place("campaigns"));
  });
  form.hidden = true;
  at("made").hidden = false;
  at("made-heading").focus();
}
