// Makes the page work without a connection: its own files are kept, and nothing else.

const FILES = "sottovoce-page";
const types = /** @type {any} */ (globalThis).trustedTypes;
const address = new URL("../service-worker.js", import.meta.url).href;

/** The one script that is started by its address. @type {any} */
const script = types ? types.createPolicy("sottovoce", { createScriptURL: () => address }).createScriptURL("") : address;

/** Keep what this page was made of, once all of it is there, and let the service worker serve it. */
export async function keepForOffline() {
  if (!("serviceWorker" in navigator) || !navigator.onLine) return;
  try {
    await navigator.serviceWorker.register(script, { scope: "./" });
    const replies = await Promise.all(ownFiles().map(fetched));
    const files = await caches.open(FILES);
    // The page itself comes last: it names the others.
    for (const [address, reply] of replies) await files.put(address, reply);
  } catch {
    // Without it the page works as long as there is a connection.
  }
}

/** What the page's head names, and the page itself under one address: its bytes are the same for every campaign. */
const ownFiles = () => [
  ...new Set(Array.from(document.querySelectorAll("link:not([rel=alternate]), script"),
    (each) => /** @type {string} */ (each.getAttribute("href") ?? each.getAttribute("src")))),
  "./",
];

/** @param {string} address @returns {Promise<[string, Response]>} */
async function fetched(address) {
  const reply = await fetch(address === "./" ? location.pathname : address, { cache: "force-cache" });
  if (!reply.ok) throw new TypeError("not our file");
  return [address, reply];
}
