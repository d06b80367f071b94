// A post of a feed with its replies, oldest first. The cached ones are shown at once, the server's answer after.

import { loadPage } from './cache.js';
import { FeedMessages } from './messages.js';

const PAGE = 50;

/** The messages that threads have shown, by the library's object. */
const seen = new WeakMap();

const bySeq = (one, other) => one.seq - other.seq;

export class Thread extends FeedMessages {
  /** The position of the next page of replies; null at the end. */
  next = null;

  /** @param {object[]} chain the post, and the replies that lead to one that the page shows */
  constructor(site, conversation, chain) {
    super(site);
    [this.conversation, this.id] = [conversation, chain[0].id];
    this.keep(chain);
    this.listen(site.parley.subscribe(`conversation:${conversation.id}`));
  }

  get post() {
    return this.shown(this.rows.get(this.id));
  }

  get replies() {
    const sent = [...this.rows.values()].filter((it) => it.id !== this.id && !this.isHidden(it)).sort(bySeq);
    return [...sent.map((it) => this.shown(it)).filter((it) => !it.deleted), ...this.unsent];
  }

  takes(row) {
    return row.conversation_id === this.conversation.id && this.rows.has(row.reply_to);
  }

  isShown({ conversation_id: id, body }) {
    return id === this.conversation.id && this.rows.has(body.reply_to);
  }

  async open() {
    await this.#openCached();
    const loading = this.load();
    // Without a network the cached ones are shown.
    await loading.catch((error) => {
      if (!error.isTemporary) throw error;
    });
  }

  /** Fetches the first replies, or the next page of them. */
  async load(next) {
    const { site, id } = this;
    const query = { limit: PAGE, next, include: 'users' };
    const page = await loadPage(site, () => site.client.calls.listReplies({ id, query, tries: 1 }));
    this.keep(page.data);
    this.next = page.next;
    this.changed();
  }

  async #openCached() {
    const { parley } = this.site;
    const { seq } = this.rows.get(this.id);
    const held = await parley.pages.held(this.conversation.id, seq, Number.MAX_SAFE_INTEGER).catch(() => []);
    for (const it of held) if (this.rows.has(it.reply_to)) this.keep([it]);
  }

  /** The last message before the first unread one that no thread has shown, so that it stays unread. */
  async readUpTo() {
    const { parley, me } = this.site;
    const shown = seen.get(parley) ?? new Set();
    seen.set(parley, shown);
    for (const id of this.rows.keys()) shown.add(id);
    const { read_up_to: read } = parley.conversation(this.conversation.id) ?? {};
    if (read === undefined) return null;
    const held = (await parley.pages.held(this.conversation.id, read + 1, Number.MAX_SAFE_INTEGER)).sort(bySeq);
    const unseen = held.findIndex((it) => !shown.has(it.id) && it.author_id !== me.id && !it.deleted);
    return held[(unseen < 0 ? held.length : unseen) - 1] ?? null;
  }
}
