// Shows the way out to who is signed in. No module: it runs before the page is drawn, so that
// nothing in its head moves under somebody's finger.
{
  const key = `sottovoce:token:${document.documentElement.dataset.base ?? ""}`;
  const isSignedIn = (sessionStorage.getItem(key) ?? localStorage.getItem(key)) !== null;
  /** @type {HTMLElement} */ (document.getElementById("sign-out")).hidden = !isSignedIn;
}
