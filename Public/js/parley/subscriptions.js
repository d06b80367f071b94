// The topics that the tabs of this device watch, and the user's presence, which follows from the tabs. Each tab announces
// its own state; the leader subscribes to the topics of all.

import { TabVisibility, shown } from './presence.js';

/** @typedef {{ tab: string, topics: string[], isSeen: boolean, isInFront: boolean, isLeaving: boolean }} TabState */

/** The time without a visible tab until the user is away, in milliseconds. */
const aMinute = 60_000;

export class Subscriptions {
  /** Whether the page of this tab is being closed. */
  isLeaving = false;
  /**
   * The topics that this tab watches.
   * @type {string[]}
   */
  #topics = [];
  /**
   * The state of each tab, by the tab's name.
   * @type {Map<string, TabState>}
   */
  #states = new Map();
  /**
   * Runs out when a closed tab makes the user away.
   * @type {ReturnType<typeof setTimeout> | undefined}
   */
  #goesAway;
  #tabs;
  #mirror;
  #sync;
  #awayAfter;

  /**
   * @param {object} options
   * @param {import('./tabs.js').Tabs} options.tabs @param {import('./mirror.js').Mirror} options.mirror
   * @param {() => import('./sync.js').Sync | undefined} options.sync That of the leader; the other tabs have none.
   * @param {number} [options.awayAfter]
   */
  constructor({ tabs, mirror, sync, awayAfter = aMinute }) {
    this.#tabs = tabs;
    this.#mirror = mirror;
    this.#sync = sync;
    this.#awayAfter = awayAfter;
    this.visibility = new TabVisibility({ after: awayAfter, onChange: this.announce });
  }

  /** Whether a tab of this device has the focus. */
  get isInFront() {
    return this.#all.some((state) => state.isInFront);
  }

  get #all() {
    return [...this.#states.values()];
  }

  start() {
    this.visibility.start();
    this.announce();
    for (const name of ['pagehide', 'pageshow']) globalThis.addEventListener?.(name, this.#leaves);
    globalThis.document?.addEventListener('visibilitychange', this.announce);
  }

  stop() {
    for (const name of ['pagehide', 'pageshow']) globalThis.removeEventListener?.(name, this.#leaves);
    globalThis.document?.removeEventListener('visibilitychange', this.announce);
    this.visibility.stop();
    this.#staysHere();
  }

  /** @param {string} topic @returns {() => void} Ends the subscription. */
  add(topic) {
    this.#topics.push(topic);
    this.announce();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#topics.splice(this.#topics.indexOf(topic), 1);
      this.announce();
    };
  }

  #leaves = (/** @type {Event} */ { type }) => {
    this.isLeaving = type === 'pagehide';
    this.announce();
  };

  /** Announces this tab's state. Presence is subscribed only while a tab is visible. */
  announce = () => {
    const { isLeaving } = this;
    const isSeen = this.visibility.isVisible && !isLeaving;
    const topics = this.#topics.filter((topic) => isSeen || topic !== 'presence');
    const isInFront = globalThis.document?.visibilityState !== 'hidden';
    const state = { kind: 'tab', tab: this.#tabs.id, topics, isSeen, isInFront, isLeaving };
    this.note(state);
    this.#tabs.tell(state);
  };

  /**
   * Stores the state that this tab or another one announced.
   * @param {TabState} state
   */
  note(state) {
    if (state.isLeaving) this.forget(state.tab);
    else {
      this.#states.set(state.tab, state);
      this.renew();
    }
  }

  /**
   * Removes the state of a tab that was closed or has crashed.
   * @param {string} tab
   */
  forget(tab) {
    // A reloaded tab is back at once. A closed one makes the user away after the same time as a hidden one.
    if (tab !== this.#tabs.id && this.#states.get(tab)?.isSeen) {
      clearTimeout(this.#goesAway);
      this.#goesAway = setTimeout(() => {
        this.#goesAway = undefined;
        this.renew();
      }, this.#awayAfter);
    }
    this.#states.delete(tab);
    this.renew();
  }

  /** Removes the states of all tabs, which announce them again. */
  reset() {
    this.#states.clear();
    this.announce();
  }

  /** Subscribes to the topics of all tabs, except the user's own conversations, which are always subscribed. */
  renew() {
    const [all, sync] = [this.#all, this.#sync()];
    const isOwn = (/** @type {string} */ topic) => /^(conversation|user):/.test(topic) && this.#mirror.isOwn(topic);
    sync?.subscribe(new Set(all.flatMap(({ topics }) => topics).filter((topic) => !isOwn(topic))));
    const isSeen = all.some((state) => state.isSeen);
    if (isSeen) this.#staysHere();
    // After the last tab closes, the user is offline, or back at once after a reload: never `away`.
    if (isSeen || (!this.isLeaving && this.#goesAway === undefined))
      sync?.present(isSeen ? 'online' : 'away', shown(all.flatMap(({ isInFront, topics }) => (isInFront ? topics : []))));
  }

  #staysHere() {
    clearTimeout(this.#goesAway);
    this.#goesAway = undefined;
  }
}
