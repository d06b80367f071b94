// Who is here. It passes and is kept nowhere: what the server said since this device follows it, and nothing without a
// connection. And the other way round: whether somebody looks at one of the tabs of this device.

/**
 * How somebody is here. `last_seen_at` is since when they are no longer `online`, where that was told.
 * @typedef {{ user_id: string, presence: 'online' | 'away' | 'offline', last_seen_at: string | null }} Presence
 */

/** What the server said of others. */
export class Presences {
  /** @type {Map<string, Presence>} */
  #people = new Map();

  /** @param {Presence | null} said Null: nothing is known any longer. */
  note(said) {
    if (said === null) this.#people.clear();
    else this.#people.set(said.user_id, said);
  }

  /** @param {string} id Null for those of whom nothing was told: they are not here, or don't want it to be seen. */
  of(id) {
    return this.#people.get(id) ?? null;
  }

  get all() {
    return [...this.#people.values()];
  }
}

/** Whether somebody looks at this tab. A short look elsewhere is no leaving. */
export class Looking {
  isLooking = true;
  #after;
  #onChange;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {{ after: number, onChange: () => void }} options `after`: milliseconds until a look elsewhere counts. */
  constructor({ after, onChange }) {
    this.#after = after;
    this.#onChange = onChange;
  }

  /** Follows the page, where there is one. */
  start() {
    globalThis.document?.addEventListener('visibilitychange', this.#ask);
    this.#ask();
  }

  stop() {
    clearTimeout(this.#timer);
    globalThis.document?.removeEventListener('visibilitychange', this.#ask);
  }

  #ask = () => this.set(globalThis.document?.visibilityState !== 'hidden');

  /** @param {boolean} isLooking */
  set(isLooking) {
    clearTimeout(this.#timer);
    if (isLooking === this.isLooking) return;
    if (isLooking) this.#become(true);
    else this.#timer = setTimeout(() => this.#become(false), this.#after);
  }

  /** @param {boolean} isLooking */
  #become(isLooking) {
    this.isLooking = isLooking;
    this.#onChange();
  }
}
