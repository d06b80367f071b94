// The users that type, by conversation.

const TYPING_LASTS = 6_000;

export class Typing {
  constructor(site) {
    this.site = site;
    /** The timers by user, by conversation. */
    this.users = new Map();
  }

  /** A user types, or has sent what was typed. */
  typed(id, who, { ended = false } = {}) {
    if (who === this.site.me?.id) return;
    const users = this.users.get(id) ?? new Map();
    if (ended && !users.has(who)) return;
    this.users.set(id, users);
    clearTimeout(users.get(who));
    const names = () => [...users.keys()].map((it) => this.site.displayName(it)).filter(Boolean);
    const tell = () => this.site.say('typing', { conversation: id, names: names() });
    const end = () => {
      users.delete(who);
      tell();
    };
    if (ended) return void end();
    users.set(who, setTimeout(end, TYPING_LASTS));
    tell();
  }
}
