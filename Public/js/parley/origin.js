// A page of another origin than the server's, which the operator permits with `--cors-origin`.

import { Problem } from './problem.js';

/**
 * Tells a server that does not permit the page's origin from one that cannot be reached: the browser hides the answers of its
 * API, which looks like no network. The library itself can be read by every page. Only if it can be read while an answer of
 * the API cannot, the origin is not permitted: the network may have failed for a moment. `fetch` fails with a `TypeError`.
 * @param {import('./client.js').Client} client @param {Problem} error
 */
export async function explained(client, error) {
  if (error.code !== 'network' || !(error.cause instanceof TypeError)) return error;
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), client.timeout);
  try {
    const options = /** @type {const} */ ({ cache: 'no-store', credentials: 'omit' });
    const get = (/** @type {string} */ path) => client.fetch(client.origin + path, { ...options, signal: timer.signal });
    if (!(await get('/js/parley/problem.js')).ok) return error;
    const cause = await get('/api/v1/server').then(() => null, (failure) => failure);
    if (!(cause instanceof TypeError)) return error;
    const detail = `the server needs --cors-origin ${globalThis.location.origin}`;
    return new Problem({ code: 'origin_not_allowed', detail }, { cause });
  } finally {
    clearTimeout(timeout);
  }
}
