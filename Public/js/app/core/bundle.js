// The bundled app, as `Tests/tools/webapp` writes it. With `--dev` the modules are served as they lie.

/** The scripts that the page does not start with; null if the app is not bundled. @returns {string[] | null} */
export const laterScripts = () => document.querySelector('meta[name="rest"]')?.content.split(' ') ?? null;
