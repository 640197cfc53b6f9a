// Shows the API reference with Swagger UI, served from this server.

const place = /** @type {HTMLElement} */ (document.querySelector("#reference"));
const { SwaggerUIBundle } =
  /** @type {{ SwaggerUIBundle: (options: object) => void }} */ (/** @type {unknown} */ (globalThis));

SwaggerUIBundle({
  domNode: place,
  url: place.dataset.description,
  deepLinking: true,
  docExpansion: "list",
  defaultModelsExpandDepth: 0,
  displayRequestDuration: true,
  persistAuthorization: false, // a token stays in this page's memory only
  validatorUrl: null, // would send the description's address to another site
});
