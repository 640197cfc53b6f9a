// Forgets the token. It is in the head of every page of the requester.

import { place, signOut } from "./asking.js";
import { at } from "./building.js";

at("sign-out").addEventListener("click", () => {
  signOut();
  location.assign(place(""));
});
