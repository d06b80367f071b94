// The WebSocket connection: sends hello with the cursor, passes frames on, detects a dead connection by a heartbeat, and
// reconnects with backoff. It does not interpret frames.

import { Problem } from './problem.js';
import { backOff } from './time.js';

/** @typedef {'offline' | 'connecting' | 'catchingUp' | 'live' | 'stopped'} LiveState */
/**
 * @typedef {object} LiveOptions
 * @property {string} url Address of the server.
 * @property {string | null} [token]
 * @property {typeof globalThis.WebSocket} [WebSocket]
 * @property {() => Promise<{ cursor: string | null, topics: string[] }>} hello The cursor and topics to resume from.
 * @property {(frame: any) => void} onFrame Receives events, signals and notices, and the answer to hello with `hello: true`.
 * @property {(state: LiveState, reason: Problem | null) => void} onState
 * @property {typeof backOff} [pause]
 * @property {number} [quiet] Milliseconds without a frame before a ping.
 * @property {number} [patience] Timeout of the ping in milliseconds.
 * @property {number} [doubt] Timeout of the ping while the browser reports no network.
 */

/** Close codes from 4500 on are final: the client does not reconnect. */
const giveUp = 4500;

export class Live {
  /** @type {LiveState} */
  state = 'offline';
  /** @type {Problem | null} */
  reason = null;
  /** @type {WebSocket | null} */
  #socket = null;
  #tries = 0;
  #lastId = 0;
  /** @type {Map<number, { resolve: (answer: any) => void, reject: (problem: Problem) => void }>} */
  #open = new Map();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #heart;
  #isWanted = false;
  /**
   * The end and the reason of the user's ban, which the server names before it closes the connection.
   * @type {Record<string, any>}
   */
  #ban = {};

  /** @param {LiveOptions} options */
  constructor(options) {
    this.options = {
      WebSocket: globalThis.WebSocket, token: null, pause: backOff, quiet: 25_000, patience: 10_000, doubt: 2_000, ...options,
    };
  }

  start() {
    if (this.#isWanted) return;
    this.#isWanted = true;
    this.#tries = 0;
    this.#listen('addEventListener');
    this.#connect();
  }

  stop() {
    this.#isWanted = false;
    this.#listen('removeEventListener');
    clearTimeout(this.#timer);
    this.#drop();
    if (this.state !== 'stopped') this.#become('offline', null);
  }

  /** Comes back at once instead of when the pause is over; an open connection is asked whether it still is one. */
  hurry = () => {
    if (!this.#isWanted || globalThis.document?.visibilityState === 'hidden') return;
    if (this.#socket) this.#ask();
    else this.#connect();
  };

  /** @param {'addEventListener' | 'removeEventListener'} change */
  #listen(change) {
    globalThis[change]?.('online', this.hurry);
    globalThis[change]?.('offline', this.#isDoubted);
    globalThis.document?.[change]('visibilitychange', this.hurry);
  }

  /**
   * One command; its answer, or the problem that it met.
   * @param {string} name @param {Record<string, any>} fields @returns {Promise<any>}
   */
  command(name, fields = {}) {
    const socket = this.#socket;
    if (!socket || socket.readyState !== 1) return Promise.reject(new Problem({ code: 'network', detail: 'offline' }));
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#open.set(id, { resolve, reject });
      socket.send(JSON.stringify({ id, do: name, ...fields }));
    });
  }

  async #connect() {
    clearTimeout(this.#timer);
    if (!this.#isWanted || this.#socket) return;
    const { url, token, WebSocket, hello } = this.options;
    this.#become('connecting', null);
    /** @type {WebSocket} */
    let socket;
    try {
      socket = new WebSocket(`${url.replace(/^http/, 'ws')}/api/v1/realtime`, ['parley.v1']);
    } catch {
      return this.#comeBack();
    }
    this.#socket = socket;
    const isCurrent = () => this.#socket === socket;
    // One that never opens would be waited for by some browsers for minutes.
    this.#beat(this.options.quiet);
    socket.onopen = async () => {
      const { cursor, topics } = await hello();
      if (!isCurrent()) return;
      this.#become('catchingUp', null);
      this.#beat();
      try {
        const answer = await this.command('hello', {
          ...(token ? { token } : {}), ...(cursor === null ? {} : { cursor }), topics,
        });
        if (isCurrent()) this.options.onFrame({ ...answer, hello: true });
      } catch (error) {
        if (!isCurrent() || !(error instanceof Problem) || error.code === 'network') return;
        if (error.isTemporary) this.restart();
        else this.#end(error);
      }
    };
    socket.onmessage = ({ data }) => {
      if (isCurrent()) this.#receive(data);
    };
    socket.onclose = ({ code, reason }) => {
      if (!isCurrent()) return;
      this.#drop();
      if (code >= giveUp && code < 5000) this.#end(new Problem({ code: reason || 'closed', status: code, params: this.#ban }));
      else this.#comeBack(retryIn(reason));
    };
    socket.onerror = () => {};
  }

  /** @param {unknown} data */
  #receive(data) {
    this.#beat();
    let frame;
    try {
      frame = JSON.parse(String(data));
    } catch {
      return;
    }
    if (frame.event === 'banned') {
      this.#ban = { banned: true, ...(frame.until && { until: frame.until }), ...(frame.reason && { reason: frame.reason }) };
      return;
    }
    if (frame.re === undefined) {
      this.options.onFrame(frame);
      return;
    }
    const waiting = this.#open.get(frame.re);
    this.#open.delete(frame.re);
    if (frame.problem) waiting?.reject(new Problem(frame.problem));
    else waiting?.resolve(frame);
  }

  /** All that was missed has come, and been kept. */
  caughtUp() {
    this.#tries = 0;
    if (this.#socket) this.#become('live', null);
  }

  /** Closes the connection after an invalid frame and reconnects. */
  restart() {
    if (!this.#isWanted) return;
    this.#drop();
    this.#comeBack();
  }

  /** Browsers don't show the protocol's own pings, so silence is ended by one of ours. */
  #beat(quiet = this.options.quiet) {
    clearTimeout(this.#heart);
    this.#heart = setTimeout(() => this.#ask(), quiet);
  }

  /** A server on this machine answers all the same. */
  #isDoubted = () => {
    if (this.#socket) this.#ask(this.options.doubt);
  };

  #ask(patience = this.options.patience) {
    clearTimeout(this.#heart);
    this.#heart = setTimeout(() => this.restart(), patience);
    this.command('ping').catch(() => {});
  }

  /** @param {number | null} [delay] The delay that the server names. */
  #comeBack(delay = null) {
    if (!this.#isWanted) return;
    this.#become('offline', null);
    clearTimeout(this.#timer);
    const pause = this.options.pause(++this.#tries);
    this.#timer = setTimeout(() => this.#connect(), delay ?? pause);
  }

  /** @param {Problem} reason */
  #end(reason) {
    this.#isWanted = false;
    this.#listen('removeEventListener');
    this.#drop();
    this.#become('stopped', reason);
  }

  #drop() {
    clearTimeout(this.#heart);
    const socket = this.#socket;
    this.#socket = null;
    for (const { reject } of this.#open.values()) reject(new Problem({ code: 'network', detail: 'cut off' }));
    this.#open.clear();
    socket?.close();
  }

  /** @param {LiveState} state @param {Problem | null} reason */
  #become(state, reason) {
    if (this.state === state && this.reason === reason) return;
    this.state = state;
    this.reason = reason;
    this.options.onState(state, reason);
  }
}

/**
 * Returns the delay in the reason of a close frame, in milliseconds.
 * @param {string} reason
 */
const retryIn = (reason) => {
  const found = /retry in (\d{1,8}) ms/.exec(reason);
  return found ? Number(found[1]) : null;
};
