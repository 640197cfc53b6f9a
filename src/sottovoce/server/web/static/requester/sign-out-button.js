// Shows the sign-out button to a requester who is signed in. A classic script, not a module: it runs
// before first paint, so nothing in the head moves.

{
  const key = `sottovoce:token:${document.documentElement.dataset.base ?? ""}`;
  const isSignedIn = (sessionStorage.getItem(key) ?? localStorage.getItem(key)) !== null;
  /** @type {HTMLElement} */ (document.getElementById("sign-out")).hidden = !isSignedIn;
}
