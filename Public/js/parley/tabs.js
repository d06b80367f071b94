// Several tabs, one connection. The tab with the lock is the leader: it has the socket and sends the outbox. The others use
// the same store and are notified of writes; one of them takes over when the leader closes. Without locks (pages without
// HTTPS, Node) every tab is a leader, which costs connections but is safe: repeated writes are identical.
//
// Each tab holds a lock of its own. A tab that gets the lock of another one knows that the other has closed or crashed, maybe
// after a write that it did not announce.

import { newClientId } from './ids.js';

/**
 * @typedef {object} TabsOptions
 * @property {string} name
 * @property {(message: any) => void} onMessage From another tab.
 * @property {(isFirst: boolean) => void} onLead This tab leads from now on; the first does where no other did.
 * @property {() => void} onStandby Another leads.
 * @property {(tab: string) => void} onGone Another tab has closed or crashed.
 * @property {LockManager | null} [locks]
 * @property {(new (name: string) => BroadcastChannel) | null} [BroadcastChannel]
 */

export class Tabs {
  isLeader = false;
  /** The name of this tab. */
  id = newClientId();
  #isPresent = false;
  /**
   * The tabs whose end is awaited.
   * @type {Set<string>}
   */
  #others = new Set();
  #stop = new AbortController();
  /** @type {BroadcastChannel | null} */
  #channel = null;
  /** @type {() => void} */
  #release = () => {};
  /** @type {() => void} */
  #leave = () => {};

  /** @param {TabsOptions} options */
  constructor({
    name, onMessage, onLead, onStandby, onGone, locks = globalThis.navigator?.locks ?? null,
    BroadcastChannel = globalThis.BroadcastChannel ?? null,
  }) {
    this.name = name;
    this.onLead = onLead;
    this.onStandby = onStandby;
    this.onGone = onGone;
    this.locks = locks;
    if (!BroadcastChannel) return;
    this.#channel = new BroadcastChannel(name);
    this.#channel.onmessage = ({ data }) => (data.kind === 'present' ? this.#meet(data.tab) : onMessage(data));
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
    const stay = () => {
      this.#isPresent = true;
      this.tell({ kind: 'present', tab: this.id });
      return new Promise((resolve) => (this.#leave = () => resolve(undefined)));
    };
    locks.request(this.#lockOf(this.id), { signal: this.#stop.signal }, stay).catch(() => {});
    const wait = () => {
      if (!this.#stop.signal.aborted) this.onStandby();
      return locks.request(this.name, { signal: this.#stop.signal }, () => lead(false));
    };
    locks.request(this.name, { ifAvailable: true }, (lock) => (lock ? lead(true) : wait())).catch(() => {});
  }

  /** @param {string} tab */
  #lockOf(tab) {
    return `${this.name} tab ${tab}`;
  }

  /**
   * Waits for the end of another tab.
   * @param {string} tab
   */
  #meet(tab) {
    if (this.#others.has(tab)) return;
    this.#others.add(tab);
    if (this.#isPresent) this.tell({ kind: 'present', tab: this.id });
    const end = () => {
      this.#others.delete(tab);
      if (!this.#stop.signal.aborted) this.onGone(tab);
    };
    this.locks?.request(this.#lockOf(tab), { signal: this.#stop.signal }, end).catch(() => {});
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
    this.#leave();
    this.#channel?.close();
    this.#channel = null;
  }
}
