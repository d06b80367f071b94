// The bundled app, as `Tests/tools/webapp` writes it, and its service worker. With `--dev` the modules are served as they
// lie, without a worker.

/** The address of the list of the scripts and sheets that the page does not start with; undefined if the app is not bundled. */
export const restAddress = () => document.querySelector('meta[name="rest"]')?.content;

/** Deletes the worker's pictures of users and forums. */
export function forgetPictures() {
  navigator.serviceWorker?.controller?.postMessage({ do: 'forget' });
}
