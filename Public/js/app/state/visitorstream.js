// The messages of one conversation as a visitor sees them: a window over the server's pages, kept nowhere.

import { find } from '../../parley/find.js';
import { useEmoji } from '../core/emoji/custom.js';
import { useGroups } from '../core/groups.js';

let marks = null;

/** Fetches the site's emoji and groups once: no cache has them. Pages draw again, as after a change of the users. */
export async function loadMarks(site) {
  try {
    marks ??= site.call('GET', '/settings');
    const { emoji, groups } = await marks;
    // A user who has signed in meanwhile has a newer list.
    if (!site.parley && [useEmoji(emoji), useGroups(groups)].includes(true)) site.say('users', {});
  } catch {
    marks = null;
  }
}

const PAGE = 50;
/** The window's maximum number of messages. */
const MAX = 150;

export class VisitorStream extends EventTarget {
  constructor(site, conversation) {
    super();
    this.site = site;
    this.conversation = conversation;
    this.messages = [];
    this.hasOlder = false;
    this.hasNewer = false;
    this.isLoaded = false;
    this.latest = conversation.last_seq ?? 0;
  }

  get path() {
    return `/conversations/${this.conversation.id}/messages`;
  }

  changed() {
    this.dispatchEvent(new Event('change'));
  }

  /** The newest, or those around one. */
  async open(around) {
    const page = await this.site.call('GET', this.path, { query: { around, limit: PAGE } });
    this.messages = [];
    this.#take(page);
    this.hasOlder = page.next !== null;
    this.hasNewer = page.previous !== null;
    this.isLoaded = true;
    this.changed();
  }

  /** The one of this number and those around it. */
  async openAt(seq) {
    if (seq === 1) return this.#openFirst();
    const high = this.messages.find((it) => it.seq > seq);
    const low = this.messages.findLast((it) => it.seq < seq);
    const found = await find(seq, { low, high, last: this.latest }, async (query) => {
      const page = await this.site.call('GET', this.path, { query });
      return page.data.sort((a, b) => a.seq - b.seq);
    });
    await this.open(found?.id);
  }

  async #openFirst() {
    const page = await this.site.call('GET', this.path, { query: { order: 'asc', limit: PAGE } });
    this.messages = [];
    this.#take(page);
    [this.hasOlder, this.hasNewer, this.isLoaded] = [false, page.next !== null, true];
    this.changed();
  }

  async older() {
    if (!this.hasOlder || this.isBusy) return;
    await this.#busy(async () => {
      const page = await this.site.call('GET', this.path, { query: { before: this.messages[0]?.id, limit: PAGE } });
      this.#take(page);
      this.hasOlder = page.next !== null;
      if (this.messages.length > MAX) {
        this.messages.length = MAX;
        this.hasNewer = true;
      }
    });
  }

  async newer() {
    if (!this.hasNewer || this.isBusy) return;
    await this.#busy(async () => {
      const page = await this.site.call('GET', this.path, {
        query: { after: this.messages.at(-1)?.id, order: 'asc', limit: PAGE },
      });
      this.#take(page);
      this.hasNewer = page.next !== null;
      if (this.messages.length > MAX) {
        this.messages.splice(0, this.messages.length - MAX);
        this.hasOlder = true;
      }
    });
  }

  async #busy(work) {
    this.isBusy = true;
    try {
      await work();
    } finally {
      this.isBusy = false;
    }
    this.changed();
  }

  #take(page) {
    const all = new Map(this.messages.map((it) => [it.id, it]));
    for (const it of page.data) all.set(it.id, it);
    this.messages = [...all.values()].sort((a, b) => a.seq - b.seq);
    this.latest = Math.max(this.latest, page.latest_seq ?? 0);
  }

  /** All, as they are shown. */
  get shown() {
    return this.messages;
  }
}
