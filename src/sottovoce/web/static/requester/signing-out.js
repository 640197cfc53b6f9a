// Forgets the token. It is in the head of every page of the requester.

import { isSignedIn, place, signOut } from "./asking.js";
import { at } from "./building.js";

const button = at("sign-out");
button.hidden = !isSignedIn();
button.addEventListener("click", () => {
  signOut();
  location.assign(place(""));
});
