// Message pages: fetched, cached, then shown. A page includes messages that a view may filter (machine-only, muted users),
// so that a cached range is complete.

import { newHistory, missing, rangeAt, rangesOf, withRange, withoutRange } from './history.js';
import { readCursor } from './ids.js';
import { Problem, loaded } from './problem.js';
import {
  Rows, changesUnread, dropFound, finishSend, historyOf, historySources, isAnother, isOutdated, keepLost, mergeMessage, position, sourcesOfSend, wantLater,
} from './reducer.js';
import { isAbort } from './time.js';

/** @typedef {import('./history.js').History} History @typedef {import('./history.js').SeqRange} SeqRange */
/**
 * @typedef {object} PagesOptions
 * @property {import('./client.js').Client} client
 * @property {import('./store.js').Store} store
 * @property {() => { generation: number, start: string | null, cursor: number, me: string | null,
 *   isOfThisStart: (cursor: string) => boolean }} now
 * @property {(changes: import('./store.js').Change[]) => void} publish
 * @property {(name: string) => void} want Has a thing asked for, or counted.
 * @property {(error: unknown) => void} [onFault] Receives failures of the cache that a view survives.
 */
/**
 * @typedef {object} Page
 * @property {import('./api.js').Message[]} messages In order.
 * @property {boolean} isFirst Whether the history begins here.
 * @property {boolean} isLast
 */

const everything = { include_machine: true, include_muted: true };
export const maxPage = 200;

export class Pages {
  /** @param {PagesOptions} options */
  constructor({ client, store, now, publish, want, onFault = () => {} }) {
    this.client = client;
    this.store = store;
    this.now = now;
    this.publish = publish;
    this.want = want;
    this.onFault = onFault;
  }

  /** @param {string} conversation @returns {Promise<History>} */
  async history(conversation) {
    return (await this.store.get('history', conversation)) ?? newHistory(conversation);
  }

  /**
   * Returns cached messages in order.
   * @param {string} conversation @param {number} from @param {number} to @returns {Promise<import('./api.js').Message[]>}
   */
  held(conversation, from, to) {
    if (from > to) return Promise.resolve([]);
    return this.store.list('messages', { from: [conversation, from], to: [conversation, to] });
  }

  /**
   * Fetches a page and keeps it.
   * @param {string} conversation
   * @param {{ before?: string, after?: string, around?: string, after_time?: string, order?: 'asc', limit?: number,
   *   isForced?: boolean, isForView?: boolean, signal?: AbortSignal }} query
   *   `isForView`: a page that cannot be stored is shown all the same.
   * @returns {Promise<Page>}
   */
  async fetch(conversation, { isForced = false, isForView = false, signal, ...query }) {
    const order = query.order ?? (query.after === undefined && query.after_time === undefined ? 'desc' : 'asc');
    for (;;) {
      const asked = this.now();
      const page = await this.client.calls.listMessages({
        id: conversation, query: { ...everything, limit: 50, ...query, order }, signal,
      });
      const messages = await this.keep(conversation, page, { isForced, asked }).catch((error) => {
        if (!isForView || isAbort(error)) throw error;
        this.onFault(error);
        return [...page.data].sort((a, b) => a.seq - b.seq);
      });
      if (!messages) continue;
      const [older, newer] = order === 'asc' ? [page.previous, page.next] : [page.next, page.previous];
      return { messages, isFirst: older === null, isLast: newer === null };
    }
  }

  /**
   * Merges a page into the cache. Returns the cached messages in order; null if the server has restarted since the request,
   * perhaps with an older copy of its data.
   * @param {string} conversation @param {import('./api.js').MessagePage} page
   * @param {{ isForced?: boolean, asked: import('./reducer.js').Asked }} options
   * @returns {Promise<import('./api.js').Message[] | null>}
   */
  async keep(conversation, page, { isForced = false, asked }) {
    const now = this.now();
    // The events of another start of the server have other numbers.
    const event = now.isOfThisStart(page.cursor) ? readCursor(page.cursor).id : null;
    const known = position(now.generation, event ?? now.cursor);
    const { ranges } = rangesOf(page.data);
    const isOwn = (/** @type {import('./api.js').Message} */ message) => message.client_id && message.author_id === now.me;
    const own = page.data.filter(isOwn);
    /** @type {import('./store.js').Source[]} */
    const sources = [
      ['history', conversation],
      ['conversations', conversation],
      ...historySources,
      ['site', 'wanted'],
      ['site', 'lost'],
      ...page.data.map((message) => /** @type {import('./store.js').Source} */ (['messages', [conversation, message.seq]])),
      ...own.flatMap((message) => sourcesOfSend(/** @type {string} */ (message.client_id))),
    ];
    /** @type {any[]} */
    let kept = [];
    let isAhead = false;
    let isOld = false;
    const changes = await this.store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      isOld = isOutdated(rows, asked);
      if (isOld) return historyOf(rows);
      kept = page.data.map((/** @type {any} */ message) => {
        const before = rows.get('messages', [conversation, message.seq]);
        const merged = mergeMessage(before, message, known, { isForced });
        if (merged !== before && isAnother(before, message)) keepLost(rows, [before], now.me);
        dropFound(rows, merged);
        if (own.includes(message)) finishSend(rows, message);
        rows.put('messages', merged);
        if (changesUnread(rows, before, merged)) isAhead = true;
        return merged;
      });
      const history = rows.get('history', conversation) ?? newHistory(conversation);
      let { held, from } = history;
      for (const range of ranges) held = withRange(held, ...range);
      for (const skip of page.skipped) if (skip.reason === 'before_joining') from = Math.max(from, skip.to_seq + 1);
      const ahead = Math.max(history.ahead ?? 0, event ?? Number.MAX_SAFE_INTEGER);
      rows.put('history', { ...history, held, from, ahead, latest: page.latest_seq });
      if (keepLatest(rows, conversation, page, kept)) isAhead = true;
      if (isAhead) wantLater(rows, `unread:${conversation}`);
      return rows.changes;
    });
    this.publish(changes);
    if (isOld) return null;
    if (isAhead) this.want(`unread:${conversation}`);
    return kept.sort((a, b) => a.seq - b.seq);
  }

  /**
   * Returns the message with this `seq`, fetched with its neighbours if it is not cached; the next one if it is not readable.
   * @param {string} conversation @param {number} seq @param {number} last The newest `seq`.
   * @param {AbortSignal} [signal]
   * @returns {Promise<import('./find.js').Known | null | undefined>}
   */
  async reach(conversation, seq, last, signal) {
    const { held, from } = await this.history(conversation);
    const wanted = Math.max(seq, from);
    const at = (/** @type {number} */ seq) => this.store.get('messages', [conversation, seq]);
    if (rangeAt(held, wanted)) return at(wanted);
    const below = held.filter(([, to]) => to < wanted).pop();
    const above = held.find(([first]) => first > wanted);
    const [low, high] = [below && (await at(below[1])), above && (await at(above[0]))];
    const { find } = await loaded(import('./find.js'));
    return find(wanted, { low, high, last }, async (query) =>
      (await this.fetch(conversation, { ...query, signal })).messages);
  }

  /**
   * Fetches the uncached parts of a range.
   * @param {string} conversation @param {number} from @param {number} to
   * @param {{ isForced?: boolean, maxPages?: number, signal?: AbortSignal, onPage?: (done: number) => void }} options
   *   `isForced` fetches cached messages too. `maxPages`: the older parts stay uncached if they need more.
   */
  async complete(conversation, from, to, { isForced = false, maxPages = Infinity, signal, onPage } = {}) {
    if (isForced) await this.forget(conversation, from, to);
    for (let rounds = 0; rounds < maxPages; rounds++) {
      const history = await this.history(conversation);
      const gaps = missing(history.held, Math.max(from, history.from), to);
      const gap = gaps[gaps.length - 1];
      if (!gap) return;
      const at = (/** @type {number} */ seq) => this.store.get('messages', [conversation, seq]);
      // The rows outside the cached ranges may be of another history.
      const isHeld = (/** @type {number} */ seq) => rangeAt(history.held, seq) !== null;
      const anchor = isHeld(gap[1] + 1) ? await at(gap[1] + 1) : null;
      const below = !anchor && isHeld(gap[0] - 1) ? await at(gap[0] - 1) : null;
      // A range without neighbours is found by its own last row.
      const own = anchor ?? below ?? (await at(gap[1]));
      const where = anchor ? { before: anchor.id } : below ? { after: below.id } : own ? { around: own.id } : {};
      const { messages } = await this.fetch(conversation, { ...where, limit: maxPage, isForced, signal });
      onPage?.(messages.length);
      const after = await this.history(conversation);
      const isNearer = missing(after.held, Math.max(from, after.from), to).length === 0 || messages.length > 0;
      // An empty page must end the loop, or a faulty server would be asked forever.
      if (!isNearer || rounds > (to - from) / maxPage + 1000) throw new Problem({ status: 503, code: 'unavailable', detail: `${conversation} has a hole at ${gap[1]}` });
    }
  }

  /**
   * Whether a range is cached completely.
   * @param {string} conversation @param {number} from @param {number} to
   */
  async isHeld(conversation, from, to) {
    const { held, from: first } = await this.history(conversation);
    const range = rangeAt(held, to);
    return range !== null && range[0] <= Math.max(from, first);
  }

  /**
   * Marks a range as uncached. The rows stay until they are replaced.
   * @param {string} conversation @param {number} from @param {number} to
   */
  async forget(conversation, from, to) {
    const changes = await this.store.update([['history', conversation]], ([history]) =>
      history
        ? [{ table: 'history', key: conversation, row: { ...history, held: withoutRange(history.held, from, to) } }]
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
    const last = (await this.fetch(conversation, { limit: maxPage, signal })).messages;
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
