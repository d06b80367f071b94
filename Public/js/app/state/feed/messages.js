// Messages of feeds for a view: rows of the cache with the user's unsent operations, renewed at each change of the cache.

import { withOperations } from '../../../parley/outbox.js';
import { unsentRow } from '../unsent.js';
import { isIgnored, noteEvents } from './cache.js';

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

  /** Whether a message is left out: deleted, or by an ignored user. */
  isHidden(message) {
    return !message || message.deleted || message.kind === 'system' || isIgnored(this.site, message.author_id);
  }

  /** A row with the user's unsent changes. */
  shown(row) {
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
