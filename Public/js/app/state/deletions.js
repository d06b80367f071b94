// Own messages that were just deleted and can be restored for a moment. The outbox holds the deletion: all tabs show it, and none
// sends it before the hold ends. A tab that crashes leaves it to the others, or to the next start.

import { wait } from '../../parley/time.js';

/** The longest hold, in milliseconds: a pointer keeps the button for that long. */
const MAX_HOLD = 60_000;
/** The last moments of a hold are too short for a press. */
const REST = 2_000;
/** The maximum wait of a sign-out for them, and the interval of its checks. */
const MAX_WAIT = 2_000;
const STEP = 50;

export class Deletions {
  #site;
  /** The held deletions of this tab: message and end, by operation. */
  #held = new Map();

  constructor(site) {
    this.#site = site;
    addEventListener('pagehide', () => this.#leave());
  }

  /** Deletes a message. `signal` aborts when it can't be restored any more. @returns {Promise<{ operation: object, signal: AbortSignal }>} */
  async add(message) {
    const operation = await this.#site.parley.delete(message, { heldFor: MAX_HOLD });
    const ended = new AbortController();
    setTimeout(() => ended.abort(), MAX_HOLD - REST);
    this.#held.set(operation, { message, ended });
    return { operation, signal: ended.signal };
  }

  /** Sends a deletion now, or restores its message. Returns whether that was still possible. */
  async end(operation, isTakenBack = false) {
    this.#held.get(operation)?.ended.abort();
    this.#held.delete(operation);
    return this.#site.parley?.endHold(operation, { isTakenBack }) ?? false;
  }

  /** Sends all of them now, and waits for that, but not for long. */
  async send() {
    const operations = [...this.#held.keys()];
    const ids = operations.map(({ id }) => id);
    await Promise.all(operations.map((it) => this.end(it)));
    const deadline = Date.now() + MAX_WAIT;
    while (this.#site.parley?.operations().some((it) => ids.includes(it.id)) && Date.now() < deadline) await wait(STEP);
  }

  /** A page that is left can't write to its outbox. The request outlives it; the outbox repeats it at the end of the hold. */
  #leave() {
    const { client } = this.#site;
    for (const { message } of this.#held.values()) {
      fetch(`${client.base}/messages/${message.id}`, { method: 'DELETE', keepalive: true }).catch(() => {});
    }
  }
}
