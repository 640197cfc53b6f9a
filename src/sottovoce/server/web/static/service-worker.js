// Serves the worker page without a connection. It tries the network first and falls back on the files
// that the page has stored. It leaves API requests alone and stores nothing.

const FILES = "sottovoce-page";
/** Milliseconds until a network that does not respond counts as offline. */
const PATIENCE = 5000;

const worker = /** @type {ServiceWorkerGlobalScope} */ (/** @type {unknown} */ (self));
const folder = new URL("./", location.href).href;

worker.addEventListener("install", () => void worker.skipWaiting());
worker.addEventListener("activate", (event) => event.waitUntil(worker.clients.claim()));
worker.addEventListener("fetch", (event) => {
  const { method, mode, url } = event.request;
  const isPage = mode === "navigate";
  if (method === "GET" && (isPage || url.startsWith(folder))) event.respondWith(answer(event.request, isPage));
});

/** @param {Request} request @param {boolean} isPage */
async function answer(request, isPage) {
  try {
    return await Promise.race([fetch(request), tooLate()]);
  } catch {
    const files = await caches.open(FILES);
    return (await files.match(isPage ? worker.registration.scope : request.url)) ?? Response.error();
  }
}

/** @returns {Promise<never>} */
const tooLate = () => new Promise((_, reject) => setTimeout(reject, PATIENCE));
