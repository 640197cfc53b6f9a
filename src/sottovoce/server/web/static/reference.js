// Shows the interface's description with Swagger UI, whose files this server carries.

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
  persistAuthorization: false, // a token stays in this page's memory, and goes with it
  validatorUrl: null, // would send the description's address to another site
});
