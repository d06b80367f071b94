// Presence of other users: in memory only, as received since the subscription, unknown without a connection. And the
// visibility of this device's tabs, from which its own presence follows.

/**
 * A user's presence. `last_seen_at` is the end of the last `online` period, if known.
 * @typedef {{ user_id: string, presence: 'online' | 'away' | 'offline', last_seen_at: string | null }} Presence
 */

/** Presence as received from the server. */
export class Presences {
  /** @type {Map<string, Presence>} */
  #users = new Map();

  /** @param {Presence | null} said Null: presence has become unknown. */
  note(said) {
    if (said === null) this.#users.clear();
    else this.#users.set(said.user_id, said);
  }

  /** @param {string} id Null if unknown: the user is offline or hides the presence. */
  of(id) {
    return this.#users.get(id) ?? null;
  }

  get all() {
    return [...this.#users.values()];
  }
}

/**
 * The conversations that visible tabs show, up to the server's limit.
 * @param {string[]} topics Those of the visible tabs.
 */
export function shown(topics) {
  return [...new Set(topics.flatMap((it) => it.split('conversation:')[1] ?? []))].sort().slice(0, 16);
}

/** Whether this tab is visible. A short absence does not count. */
export class TabVisibility {
  isVisible = true;
  #after;
  #onChange;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** @param {{ after: number, onChange: () => void }} options `after`: milliseconds until a hidden tab counts as hidden. */
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

  /** @param {boolean} isVisible */
  set(isVisible) {
    clearTimeout(this.#timer);
    if (isVisible === this.isVisible) return;
    if (isVisible) this.#become(true);
    else this.#timer = setTimeout(() => this.#become(false), this.#after);
  }

  /** @param {boolean} isVisible */
  #become(isVisible) {
    this.isVisible = isVisible;
    this.#onChange();
  }
}
