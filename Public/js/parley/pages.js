// Message pages: fetched, cached, then shown. A page includes messages that a view may filter (machine-only, muted users),
// so that a cached range is complete.

import { find } from './find.js';
import { newHistory, missing, stretchAt, stretchesOf, withStretch, withoutStretch } from './history.js';
import { readCursor } from './ids.js';
import { Rows, finishSend, isAnother, keepLost, mergeMessage, position, wantLater } from './reducer.js';

/** @typedef {import('./history.js').History} History @typedef {import('./history.js').Stretch} Stretch */
/**
 * @typedef {object} PagesOptions
 * @property {import('./client.js').Client} client
 * @property {import('./store.js').Store} store
 * @property {() => { generation: number, cursor: number, me: string | null }} now
 * @property {(changes: import('./store.js').Change[]) => void} publish
 * @property {(name: string) => void} want Has a thing asked for, or counted.
 */
/**
 * @typedef {object} Page
 * @property {any[]} messages In order.
 * @property {boolean} isFirst Whether the history begins here.
 * @property {boolean} isLast
 */

const everything = { include_machine: true, include_muted: true };
const most = 200;

export class Pages {
  /** @param {PagesOptions} options */
  constructor({ client, store, now, publish, want }) {
    this.client = client;
    this.store = store;
    this.now = now;
    this.publish = publish;
    this.want = want;
  }

  /** @param {string} conversation @returns {Promise<History>} */
  async history(conversation) {
    return (await this.store.get('history', conversation)) ?? newHistory(conversation);
  }

  /**
   * Returns cached messages in order.
   * @param {string} conversation @param {number} from @param {number} to @returns {Promise<any[]>}
   */
  held(conversation, from, to) {
    if (from > to) return Promise.resolve([]);
    return this.store.list('messages', { from: [conversation, from], to: [conversation, to] });
  }

  /**
   * Fetches a page and keeps it.
   * @param {string} conversation
   * @param {{ before?: string, after?: string, around?: string, after_time?: string, order?: 'asc', limit?: number,
   *   isForced?: boolean, signal?: AbortSignal }} query
   * @returns {Promise<Page>}
   */
  async fetch(conversation, { isForced = false, signal, ...query }) {
    const order = query.after === undefined && query.after_time === undefined ? 'desc' : 'asc';
    const page = await this.client.calls.listMessages({
      id: conversation, query: { ...everything, order, limit: 50, ...query }, signal,
    });
    const messages = await this.keep(conversation, page, { isForced });
    // Before and after the page there may be messages that the bounds left out, so `more` alone does not say.
    return { messages, isFirst: page.next_older === null, isLast: page.next_newer === null };
  }

  /**
   * Merges a page into the cache. Returns the cached messages in order.
   * @param {string} conversation @param {any} page @param {{ isForced?: boolean }} options
   */
  async keep(conversation, page, { isForced = false } = {}) {
    const known = position(this.now().generation, readCursor(page.cursor).id);
    const { stretches } = stretchesOf(page.data);
    /** @type {import('./store.js').Source[]} */
    const sources = [
      ['history', conversation],
      ['conversations', conversation],
      ['site', 'wanted'],
      ['site', 'lost'],
      ['outbox'],
      ...page.data.map((/** @type {any} */ message) => ['messages', [conversation, message.seq]]),
    ];
    /** @type {any[]} */
    let kept = [];
    let isAhead = false;
    const changes = await this.store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      kept = page.data.map((/** @type {any} */ message) => {
        const before = rows.get('messages', [conversation, message.seq]);
        const merged = mergeMessage(before, message, known, { isForced });
        if (merged !== before && isAnother(before, message)) keepLost(rows, [before], this.now().me);
        if (message.client_id && message.author_id === this.now().me) finishSend(rows, message);
        rows.put('messages', merged);
        // Its event will change nothing any more, so the unread count is corrected here.
        const isOther = before ? before.deleted !== merged.deleted : merged.deleted;
        if (isOther && merged.seq > (rows.get('conversations', conversation)?.read_up_to ?? Infinity)) isAhead = true;
        return merged;
      });
      const history = rows.get('history', conversation) ?? newHistory(conversation);
      let { held, from } = history;
      for (const stretch of stretches) held = withStretch(held, ...stretch);
      for (const skip of page.skipped) if (skip.reason === 'before_joining') from = Math.max(from, skip.to_seq + 1);
      rows.put('history', { ...history, held, from });
      if (keepLatest(rows, conversation, page, kept)) isAhead = true;
      if (isAhead) wantLater(rows, `unread:${conversation}`);
      return rows.changes;
    });
    this.publish(changes);
    if (isAhead) this.want(`unread:${conversation}`);
    return kept.sort((a, b) => a.seq - b.seq);
  }

  /**
   * Returns the message with this `seq`, fetched with its neighbours if it is not cached; the next one if it is not readable.
   * @param {string} conversation @param {number} seq @param {number} last The newest `seq`.
   * @param {AbortSignal} [signal]
   * @returns {Promise<any>}
   */
  async reach(conversation, seq, last, signal) {
    const { held, from } = await this.history(conversation);
    const wanted = Math.max(seq, from);
    const at = (/** @type {number} */ seq) => this.store.get('messages', [conversation, seq]);
    if (stretchAt(held, wanted)) return at(wanted);
    const below = held.filter(([, to]) => to < wanted).pop();
    const above = held.find(([first]) => first > wanted);
    const [low, high] = [below && (await at(below[1])), above && (await at(above[0]))];
    return find(wanted, { low, high, last }, async (query) =>
      (await this.fetch(conversation, { ...query, signal })).messages);
  }

  /**
   * Fetches the uncached parts of a range.
   * @param {string} conversation @param {number} from @param {number} to
   * @param {{ isForced?: boolean, signal?: AbortSignal, onPage?: (done: number) => void }} options
   *   `isForced` fetches cached messages too.
   */
  async complete(conversation, from, to, { isForced = false, signal, onPage } = {}) {
    if (isForced) await this.forget(conversation, from, to);
    for (let rounds = 0; ; rounds++) {
      const history = await this.history(conversation);
      const gaps = missing(history.held, Math.max(from, history.from), to);
      const gap = gaps[gaps.length - 1];
      if (!gap) return;
      const anchor = await this.store.get('messages', [conversation, gap[1] + 1]);
      const below = anchor ? null : await this.store.get('messages', [conversation, gap[0] - 1]);
      // A range without neighbours is found by its own last row.
      const own = anchor ?? below ?? (await this.store.get('messages', [conversation, gap[1]]));
      const where = anchor ? { before: anchor.id } : below ? { after: below.id } : own ? { around: own.id } : {};
      const { messages } = await this.fetch(conversation, { ...where, limit: most, isForced, signal });
      onPage?.(messages.length);
      const after = await this.history(conversation);
      const isNearer = missing(after.held, Math.max(from, after.from), to).length === 0 || messages.length > 0;
      // An empty page must end the loop, or a faulty server would be asked forever.
      if (!isNearer || rounds > (to - from) / most + 1000) throw new Error(`${conversation} has a hole at ${gap[1]}`);
    }
  }

  /**
   * Whether a range is cached completely.
   * @param {string} conversation @param {number} from @param {number} to
   */
  async isHeld(conversation, from, to) {
    const { held, from: first } = await this.history(conversation);
    const stretch = stretchAt(held, to);
    return stretch !== null && stretch[0] <= Math.max(from, first);
  }

  /**
   * Marks a range as uncached. The rows stay until they are replaced.
   * @param {string} conversation @param {number} from @param {number} to
   */
  async forget(conversation, from, to) {
    const changes = await this.store.update([['history', conversation]], ([history]) =>
      history
        ? [{ table: 'history', key: conversation, row: { ...history, held: withoutStretch(history.held, from, to) } }]
        : [],
    );
    this.publish(changes);
  }

  /**
   * Fetches a whole conversation. Resumes an earlier attempt.
   * @param {string} conversation
   * @param {{ signal?: AbortSignal, onProgress?: (held: number, all: number) => void }} options
   */
  async all(conversation, { signal, onProgress } = {}) {
    const mark = async (/** @type {History['state']} */ state) => {
      const changes = await this.store.update([['history', conversation]], ([history]) => [
        { table: 'history', key: conversation, row: { ...(history ?? newHistory(conversation)), state } },
      ]);
      this.publish(changes);
    };
    if ((await this.history(conversation)).state !== 'complete') await mark('started');
    const last = (await this.fetch(conversation, { limit: most, signal })).messages;
    const to = last[last.length - 1]?.seq ?? 0;
    await this.complete(conversation, 1, to, {
      signal,
      onPage: async () => {
        const { held } = await this.history(conversation);
        onProgress?.(held.reduce((sum, [from, to]) => sum + to - from + 1, 0), to);
      },
    });
    await mark('complete');
  }
}

/**
 * Handles a page that ends at the conversation's end: skipped messages change the unread count.
 * @param {Rows} rows @param {string} id @param {any} page @param {any[]} kept
 * @returns {boolean} Whether to recount.
 */
function keepLatest(rows, id, page, kept) {
  const conversation = rows.get('conversations', id);
  const last = kept.find((message) => message.seq === page.latest_seq);
  if (!conversation || !last || last.seq < (conversation.last_seq ?? 0)) return false;
  rows.put('conversations', { ...conversation, last_seq: last.seq, last_message_id: last.id, last_message: last });
  return last.seq > (conversation.last_seq ?? 0) && conversation.unread_count !== undefined;
}
