// The sign-out button in the head of every requester page. It deletes the token.

import { at } from "./elements.js";
import { place, signOut } from "./requests.js";

at("sign-out").addEventListener("click", () => {
  signOut();
  location.assign(place(""));
});
