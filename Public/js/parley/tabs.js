// Several tabs, one connection. The tab that holds the lock leads: it has the socket and sends what waits. The others
// read and write the same store, hear of what was written, and one of them takes over when the leader closes. Where
// there are no locks (pages without HTTPS, Node) every tab leads, which costs connections and breaks nothing: what is
// written twice is the same.

/**
 * @typedef {object} TabsOptions
 * @property {string} name
 * @property {(message: any) => void} onMessage From another tab.
 * @property {(isFirst: boolean) => void} onLead This tab leads from now on; the first does where no other did.
 * @property {() => void} onFollow Another leads.
 * @property {LockManager | null} [locks]
 * @property {(new (name: string) => BroadcastChannel) | null} [BroadcastChannel]
 */

export class Tabs {
  isLeader = false;
  #stop = new AbortController();
  /** @type {BroadcastChannel | null} */
  #channel = null;
  /** @type {() => void} */
  #release = () => {};

  /** @param {TabsOptions} options */
  constructor({
    name, onMessage, onLead, onFollow, locks = globalThis.navigator?.locks ?? null,
    BroadcastChannel = globalThis.BroadcastChannel ?? null,
  }) {
    this.name = name;
    this.onLead = onLead;
    this.onFollow = onFollow;
    this.locks = locks;
    if (!BroadcastChannel) return;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => onMessage(data);
  }

  /** Leads when no other does. */
  start() {
    const lead = (/** @type {boolean} */ isFirst) => {
      if (this.#stop.signal.aborted) return Promise.resolve();
      this.isLeader = true;
      this.onLead(isFirst);
      return new Promise((resolve) => (this.#release = () => resolve(undefined)));
    };
    const { locks } = this;
    if (!locks) {
      lead(true);
      return;
    }
    const wait = () => {
      if (!this.#stop.signal.aborted) this.onFollow();
      return locks.request(this.name, { signal: this.#stop.signal }, () => lead(false));
    };
    locks.request(this.name, { ifAvailable: true }, (lock) => (lock ? lead(true) : wait())).catch(() => {});
  }

  /**
   * Tells the other tabs.
   * @param {any} message
   */
  tell(message) {
    this.#channel?.postMessage(message);
  }

  close() {
    this.isLeader = false;
    this.#stop.abort();
    this.#release();
    this.#channel?.close();
    this.#channel = null;
  }
}
