// Messages of feeds for a view: rows of the cache with the user's unsent operations, renewed at each change of the cache.

import { withOperations } from '../../../parley/outbox.js';
import { unsentRow } from '../unsent.js';
import { cachedMessages, isIgnored, loadPage, noteEvents } from './cache.js';

export class FeedMessages extends EventTarget {
  rows = new Map();
  #ends = [];

  /** @param {object} site the state of the site, of a signed-in user */
  constructor(site) {
    super();
    this.site = site;
    noteEvents(site);
    this.listen(site.parley.on('change', (changes) => this.#changed(changes)));
  }

  /** Calls `end` when the view closes. */
  listen(end) {
    this.#ends.push(end);
  }

  close() {
    for (const end of this.#ends) end();
  }

  /** Announces a change to the view. */
  changed() {
    this.dispatchEvent(new Event('change'));
  }

  keep(rows) {
    for (const it of rows) this.rows.set(it.id, it);
  }

  /** Whether a new row belongs to the view. @param {object} row */
  takes(_row) {
    return false;
  }

  /** Whether an unsent message belongs to the view. @param {import('../../../parley/outbox.js').Operation} operation */
  isShown(_operation) {
    return false;
  }

  #changed(changes) {
    let isTouched = false;
    for (const { table, row } of changes) {
      if (table === 'outbox' || table === 'relations' || table === 'conversations') isTouched = true;
      if (table !== 'messages' || !row || !(this.rows.has(row.id) || this.takes(row))) continue;
      this.rows.set(row.id, row);
      isTouched = true;
    }
    if (isTouched) this.changed();
  }

  /** Adds the posts of reposts that the view does not hold: the cached ones, and those of the server. */
  async addPosts(rows) {
    const missing = () => [...new Set(rows.map((it) => it.repost_of))].filter((id) => id && !this.rows.has(id));
    this.keep(await cachedMessages(this.site, missing()));
    const ids = missing().join(',');
    if (!ids) return;
    const load = () => this.site.client.calls.getMessages({ query: { ids, include: 'users' }, tries: 1 });
    const { data } = await loadPage(this.site, load).catch(() => ({ data: [] }));
    this.keep(data);
  }

  /** Whether a message is left out: deleted, or by an ignored user. A repost is, with its post, or once the user removes it. */
  isHidden(message) {
    if (!message || message.deleted || message.kind === 'system' || isIgnored(this.site, message.author_id)) return true;
    if (!message.repost_of) return false;
    const { site, rows } = this;
    const ends = (it) => it.kind === 'remove_action' && it.body.type === 'repost' && it.message_id === message.repost_of;
    const isRemoved = message.author_id === site.me.id && site.parley.operations().some(ends);
    return isRemoved || FeedMessages.prototype.isHidden.call(this, rows.get(message.repost_of));
  }

  /** A row with the user's unsent changes; of a repost its post, with the user behind the repost. */
  shown(row) {
    if (row.repost_of) return { ...this.shown(this.rows.get(row.repost_of)), reposted_by: row.author_id };
    const { parley, me } = this.site;
    const operations = parley.operations().filter((it) => it.message_id === row.id);
    const message = withOperations(row, operations);
    return message.author_id === me.id ? { ...message, status: parley.statusOf(message) } : message;
  }

  /** The user's unsent messages of the view, oldest first. */
  get unsent() {
    const { parley, me } = this.site;
    const waiting = parley.operations({ kind: 'send' }).filter((it) => this.isShown(it));
    return waiting.map((it) =>
      unsentRow({ ...it.body, client_id: it.id, conversation_id: it.conversation_id, author_id: me.id, sent_at: it.created_at }, [it]));
  }
}
