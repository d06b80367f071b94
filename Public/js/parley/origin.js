// A page of another origin than the server's, which the operator permits with `--cors-origin`.

import { Problem } from './problem.js';

/**
 * Tells a server that does not permit the page's origin from one that cannot be reached: the browser hides the answers of its
 * API, which looks like no network. The library itself can be read by every page.
 * @param {import('./client.js').Client} client @param {Problem} error
 */
export async function explained(client, error) {
  if (error.code !== 'network' || !(error.cause instanceof TypeError)) return error;
  const timer = new AbortController();
  const timeout = setTimeout(() => timer.abort(), client.timeout);
  try {
    const options = /** @type {const} */ ({ cache: 'no-store', credentials: 'omit' });
    const { ok } = await client.fetch(`${client.origin}/js/parley/problem.js`, { ...options, signal: timer.signal });
    const detail = `the server needs --cors-origin ${globalThis.location.origin}`;
    return ok ? new Problem({ code: 'origin_not_allowed', detail }, { cause: error.cause }) : error;
  } finally {
    clearTimeout(timeout);
  }
}
