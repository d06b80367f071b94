// Several tabs, one connection. The tab with the lock is the leader: it has the socket and sends the outbox. The others use
// the same store and are notified of writes; one of them takes over when the leader closes. Without locks (pages without
// HTTPS, Node) every tab is a leader, which costs connections but is safe: repeated writes are identical.

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
   * Posts a message to the other tabs.
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
