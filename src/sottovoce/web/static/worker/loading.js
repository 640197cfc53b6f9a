// Modules that not every visit needs: the page's head names them with their hashes.

/** Load a module; its file is checked like every other. @param {HTMLLinkElement} known its link in the page's head */
export function load(known) {
  const checked = document.createElement("link");
  Object.assign(checked, { rel: "modulepreload", href: known.href, integrity: known.integrity });
  document.head.append(checked);
  return import(known.href);
}
