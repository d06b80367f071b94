// The bundled app, as `Tests/tools/webapp` writes it, and its service worker. With `--dev` the modules are served as they
// lie, without a worker.

/** The scripts that the page does not start with; null if the app is not bundled. @returns {string[] | null} */
export const laterScripts = () => document.querySelector('meta[name="rest"]')?.content.split(' ') ?? null;

/** Deletes the worker's pictures of users and forums. */
export function forgetPictures() {
  navigator.serviceWorker?.controller?.postMessage({ do: 'forget' });
}
