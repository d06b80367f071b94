// The events of the site's state, for pages.

const PRESENCE_GATHERS = 250;

/** Calls a function after a lost connection, which may have missed signals. Returns a function that ends that. */
export function onReconnect(site, work) {
  let wasOffline = site.state === 'offline';
  return site.listen(['state'], () => {
    const isBack = wasOffline && site.state === 'online';
    wasOffline = !isBack && (wasOffline || site.state === 'offline');
    if (isBack) work();
  });
}

export class SiteEvents extends EventTarget {
  constructor() {
    super();
    this.said = new Set();
    this.presenceTimer = null;
  }

  say(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Calls a function at each of these events. Returns a function that ends that. */
  listen(names, listener) {
    for (const name of names) this.addEventListener(name, listener);
    return () => {
      for (const name of names) this.removeEventListener(name, listener);
    };
  }

  /** Dispatches one event for many changes at once. */
  sayOnce(name) {
    if (this.said.has(name)) return;
    this.said.add(name);
    queueMicrotask(() => {
      this.said.delete(name);
      this.say(name, {});
    });
  }

  /** Gathers changes of presence: after a restart of the server they come for many users. */
  sayPresence() {
    this.presenceTimer ??= setTimeout(() => {
      this.presenceTimer = null;
      this.say('presence', {});
    }, PRESENCE_GATHERS);
  }
}
