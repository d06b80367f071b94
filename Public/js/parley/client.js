// Calls: one method for each endpoint, JSON both ways, and one kind of error.

import { endpoints } from './endpoints.js';
import { compareIds } from './ids.js';
import { Problem, networkProblem } from './problem.js';
import { backOff, isAbort, wait } from './time.js';

/** @typedef {string | number | boolean | null | undefined} QueryValue */
/**
 * Arguments of a call: the parameters of the path, `query` and `body`.
 * @typedef {{ [name: string]: unknown, query?: Record<string, QueryValue>, body?: unknown, signal?: AbortSignal,
 *   tries?: number }} CallOptions
 */
/** @typedef {import('./api.js').Calls} Calls */
/**
 * @typedef {object} ClientOptions
 * @property {string} [url] Address of the server; default: the page's origin.
 * @property {string | null} [token] Without a token the session cookie authenticates.
 * @property {typeof globalThis.fetch} [fetch]
 * @property {number} [timeout] Request timeout in milliseconds.
 * @property {number} [tries] Maximum number of attempts for idempotent calls.
 */

/** A longer `Retry-After` is not waited for: the call fails. In milliseconds. */
const maxWait = 10_000;

/**
 * `client.calls.getMessage({ id: '1042' })`; a PUT or POST takes `body`. `openapi.json` has the types of both. Idempotent calls (GET, PUT, DELETE, and POST
 * with a `client_id`) are retried after network errors and 503.
 */
export class Client {
  /** @param {ClientOptions} options */
  constructor({ url, token = null, fetch = globalThis.fetch, timeout = 30_000, tries = 3 } = {}) {
    this.origin = (url ?? globalThis.location?.origin ?? '').replace(/\/+$/, '');
    this.base = `${this.origin}/api/v1`;
    this.token = token;
    this.timeout = timeout;
    this.tries = tries;
    this.fetch = fetch.bind(globalThis);
    /** Number of calls in progress, for an activity indicator. */
    this.underWay = 0;
    /** @type {((underWay: number) => void) | null} */
    this.onActivity = null;
    /**
     * Called when the server rejects the credential.
     * @type {(() => void) | null}
     */
    this.onSignedOut = null;
    this.calls = callsOf(this);
  }

  /**
   * One call by method and path, which begins behind `/api/v1`. Answers with the body.
   * @param {string} method @param {string} path @param {CallOptions} [options]
   */
  async call(method, path, options = {}) {
    return (await this.request(method, path, options)).body;
  }

  /**
   * The same with the status and the headers.
   * @param {string} method @param {string} path
   * @param {CallOptions & { headers?: Record<string, string>, raw?: BodyInit }} [options]
   * @returns {Promise<{ status: number, headers: Headers, body: any }>}
   */
  async request(method, path, options = {}) {
    const isSafe = method !== 'PATCH' && (method !== 'POST' || /** @type {{ client_id?: string }} */ (options.body)?.client_id !== undefined);
    const maxTries = isSafe ? (options.tries ?? this.tries) : 1;
    this.#activity(1);
    try {
      for (let tries = 1; ; tries++) {
        try {
          return await this.#once(method, path, options);
        } catch (error) {
          if (!(error instanceof Problem) || !error.isTemporary) throw error;
          if (tries >= maxTries) throw this.#isForeign ? await this.#explained(error) : error;
          const pause = error.retryAfter ?? backOff(tries);
          if (pause > maxWait) throw error;
          await wait(pause, options.signal);
          options.signal?.throwIfAborted();
        }
      }
    } finally {
      this.#activity(-1);
    }
  }

  /** Whether the page is of another origin than the server. */
  get #isForeign() {
    const page = globalThis.location?.origin;
    return page !== undefined && page !== this.origin;
  }

  /** @param {Problem} error */
  async #explained(error) {
    try {
      return await (await import('./origin.js')).explained(this, error);
    } catch {
      return error;
    }
  }

  /** @param {number} change */
  #activity(change) {
    this.underWay += change;
    this.onActivity?.(this.underWay);
  }

  /**
   * @param {string} method @param {string} path
   * @param {CallOptions & { headers?: Record<string, string>, raw?: BodyInit }} options
   */
  async #once(method, path, { query, body, raw, signal, headers = {} }) {
    const timer = new AbortController();
    const stop = () => timer.abort();
    signal?.throwIfAborted();
    signal?.addEventListener('abort', stop);
    const timeout = setTimeout(stop, this.timeout);
    /** @type {Response | undefined} */
    let answer;
    try {
      answer = await this.fetch(`${this.base}${path}${queryText(query)}`, {
        method,
        headers: {
          ...(this.token ? { Authorization: `Bearer ${this.token}` } : {}),
          ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
          ...headers,
        },
        body: body === undefined ? raw : JSON.stringify(body),
        credentials: this.token ? 'omit' : 'same-origin',
        signal: timer.signal,
      });
      const text = await answer.text();
      const said = readJSON(text);
      // A cut answer, or a page of a captive portal, is no answer.
      if (answer.ok && text !== '' && said === undefined) throw networkProblem(new Error('no JSON'));
      if (answer.ok || answer.status === 304) return { status: answer.status, headers: answer.headers, body: said };
      throw this.#problem(answer, said);
    } catch (error) {
      if (error instanceof Problem) throw error;
      if (signal?.aborted && isAbort(error)) throw error;
      // A cut answer: the browser let the page read it, so its origin is permitted.
      throw networkProblem(answer ? new Error('cut off', { cause: error }) : error);
    } finally {
      clearTimeout(timeout);
      signal?.removeEventListener('abort', stop);
    }
  }

  /** @param {Response} answer @param {any} said */
  #problem(answer, said) {
    if (answer.status === 401 && said?.code !== 'wrong_credentials') this.onSignedOut?.();
    // The server never answers with a page: this is a proxy or a captive portal.
    if (said === undefined && answer.headers.get('content-type')?.startsWith('text/html')) {
      return networkProblem(new Error(`a page with status ${answer.status}`));
    }
    const seconds = Number(answer.headers.get('retry-after') ?? NaN);
    const retryAfter = Number.isFinite(seconds) ? seconds * 1000 : null;
    // A proxy before the server answers with pages of its own.
    const code = typeof said?.code === 'string' ? said.code : answer.status >= 500 ? 'unavailable' : 'unexpected';
    return new Problem({ ...said, status: answer.status, code }, { retryAfter });
  }
}

/** @param {Client} client @returns {Calls} */
function callsOf(client) {
  /** @type {Record<string, (options?: CallOptions) => Promise<any>>} */
  const calls = {};
  for (const [name, endpoint] of Object.entries(endpoints)) {
    const [method, pattern] = endpoint.split(' ');
    calls[name] = (options = {}) => client.call(method, fill(pattern, options), options);
  }
  return /** @type {Calls} */ (/** @type {unknown} */ (calls));
}

/** @param {string} pattern @param {CallOptions} options */
const fill = (pattern, options) =>
  pattern.replace(/\{(\w+)\}/g, (_, name) => {
    if (options[name] === undefined) throw new TypeError(`${pattern} needs ${name}`);
    return encodeURIComponent(/** @type {string} */ (options[name])).replaceAll('%40', '@').replaceAll('%3A', ':');
  });

/**
 * Two bounds in the wrong order are swapped: nothing would lie between them.
 * @param {Record<string, QueryValue>} query @returns {Record<string, QueryValue>}
 */
function ordered(query) {
  const { after, before, after_time, before_time } = query;
  let result = query;
  if (after && before && compareIds(String(after), String(before)) > 0) result = { ...result, after: before, before: after };
  if (after_time && before_time && Date.parse(String(after_time)) > Date.parse(String(before_time)))
    result = { ...result, after_time: before_time, before_time: after_time };
  return result;
}

/** @param {Record<string, QueryValue>} [query] */
function queryText(query = {}) {
  const text = new URLSearchParams();
  for (const [name, value] of Object.entries(ordered(query))) {
    if (value !== undefined && value !== null) text.set(name, String(value));
  }
  return `${text}` && `?${text}`;
}

/** @param {string} text */
function readJSON(text) {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
