// The message list of a view: a window of bounded size in memory, at the newest end or somewhere above. Cached messages
// are shown at once and fetched ones after; a late cached answer is dropped. Unsent messages follow at the newest end.

import { missing, newHistory, rangeAt } from './history.js';
import { withOperations } from './operations.js';
import { put } from './store.js';

/** @typedef {import('./api.js').Message} Message @typedef {import('./outbox.js').Operation} Operation */
/**
 * A message with its pending operations. One that is not sent yet has neither `id` nor `seq`, its files are in `files`, and its poll
 * and buttons are drafts.
 * @typedef {Omit<Message, 'id' | 'seq' | 'author_id'> & { id: string | null, seq: number | null, author_id?: string,
 *   files?: import('./operations.js').PendingFile[] }} ShownMessage
 */
/**
 * One line of the list.
 * @typedef {object} Item
 * @property {string} key Stays the same when a pending message is sent.
 * @property {ShownMessage} message The message to show; an incomplete one while it is unsent.
 * @property {Message | Operation} source The cached message or the operation behind the item.
 * @property {'sent' | 'pending' | 'failed'} state
 * @property {import('./outbox.js').Operation[]} operations Pending and failed operations on the message.
 * @property {boolean} isMuted
 */
/** @typedef {{ kind: 'insert' | 'replace' | 'remove', index: number, item: Item }} Delta In the order of applying. */
/**
 * @typedef {object} WindowOptions
 * @property {import('./pages.js').Pages} pages
 * @property {import('./mirror.js').Mirror} mirror
 * @property {string} conversation
 * @property {() => boolean} isLive Whether events arrive live.
 * @property {(listener: (changes: import('./store.js').Change[]) => void) => () => void} listen
 * @property {(window: MessageWindow, deltas: Delta[]) => void} onChange
 * @property {number} [size] Maximum number of messages in memory.
 * @property {number} [page] Messages per page.
 * @property {(message: Message) => boolean} [isIncluded] A filter, applied before messages are counted. Unsent messages are not filtered.
 */

/** Limits of a filtered window: pages that one call examines, and sizes of messages in memory. */
const EXAMINED = 10;

export class MessageWindow {
  /** @type {Item[]} */
  items = [];
  /** Whether the window contains the newest message, so that new messages are appended. */
  isAtNewest = true;
  isAtOldest = false;
  /** Whether the view is scrolled to the end. While it is not, no messages are dropped from the top. */
  isSticking = true;
  /**
   * Why the last fetch failed.
   * @type {import('./problem.js').Problem | null}
   */
  problem = null;
  /**
   * The first message that was unread when the window opened.
   * @type {number | null}
   */
  firstUnread = null;
  /**
   * Neighbours, in order.
   * @type {any[]}
   */
  #messages = [];
  #turn = 0;
  #isFilling = false;
  #isNoted = false;
  /** Whether all messages were removed from under the window. */
  #isEmptied = false;
  /**
   * Opens again at the same place, after the first try has failed.
   * @type {(() => Promise<void>) | null}
   */
  #reopen = null;
  #stop = new AbortController();

  /** @param {WindowOptions} options */
  constructor({ pages, mirror, conversation, isLive, listen, onChange, size = 200, page = 50, isIncluded }) {
    this.pages = pages;
    this.mirror = mirror;
    this.conversation = conversation;
    this.isLive = isLive;
    this.onChange = onChange;
    this.size = size;
    this.page = page;
    this.isIncluded = isIncluded;
    this.#unlisten = listen((changes) => this.#heard(changes));
    this.#noteUnread();
  }

  /** Notes the first unread message as soon as the conversation is known. */
  #noteUnread() {
    if (this.#isNoted || !this.mirror.conversations.has(this.conversation)) return;
    this.#isNoted = true;
    const { read_up_to: read, last_seq: last } = this.#thing;
    if (read !== undefined && read < /** @type {number} */ (last)) this.firstUnread = read + 1;
  }

  /** @type {() => void} */
  #unlisten;

  close() {
    this.#stop.abort();
    this.#unlisten();
  }

  /**
   * Returns changes on disk, in and after the window, that no tab announced. The returned function skips rows that changed
   * in the meantime.
   * @returns {Promise<() => import('./store.js').Change[]>}
   */
  async unannounced() {
    const bySeq = () => new Map(this.#messages.map((message) => [message.seq, message]));
    const before = bySeq();
    const [first] = this.#messages;
    const last = this.#last?.seq ?? this.#thing.last_seq ?? 0;
    const from = first?.seq ?? Math.max(1, last - this.size + 1);
    const held = await this.pages.held(this.conversation, from, this.isAtNewest ? last + this.size : last);
    return () => {
      const now = bySeq();
      const isOther = (/** @type {any} */ row) =>
        now.get(row.seq) === before.get(row.seq) && JSON.stringify(row) !== JSON.stringify(now.get(row.seq));
      return held.filter(isOther).map((row) => put('messages', row));
    };
  }

  /** @returns {Partial<import('./mirror.js').CachedConversation>} */
  get #thing() {
    return this.mirror.conversations.get(this.conversation) ?? {};
  }

  /**
   * The newest `seq` that is known.
   * @param {import('./history.js').History} history
   */
  #end({ latest = 0 }) {
    return this.#thing.last_seq ?? latest;
  }

  /** @returns {any} */
  get #last() {
    return this.#messages[this.#messages.length - 1];
  }

  /** The number of new messages that the window does not reach. */
  get beyond() {
    const last = this.#last;
    return last ? Math.max(0, (this.#thing.last_seq ?? 0) - last.seq) : 0;
  }

  /** Opens at the newest end. Shows cached messages first and resolves after the fresh answer. */
  async latest() {
    const turn = this.#begin();
    const { held, from: start } = await this.pages.history(this.conversation).catch((error) => {
      this.pages.onFault(error);
      return newHistory(this.conversation);
    });
    const range = held[held.length - 1];
    if (this.#turn !== turn) return;
    const last = this.#thing.last_seq;
    // A message sent ahead of the events before it is a range of its own, which does not fill a page.
    const isWhole = range !== undefined && (range[0] <= start || range[1] - range[0] + 1 >= this.page);
    const isFresh = isWhole && range[1] === last && this.isLive();
    const from = range ? Math.max(range[0], range[1] - this.page + 1) : 1;
    const cached = range ? this.pages.held(this.conversation, from, range[1]) : Promise.resolve([]);
    const show = async () => {
      const messages = await cached.catch((error) => {
        this.pages.onFault(error);
        return [];
      });
      // The fresh answer may have been faster.
      if (this.#turn === turn && !isAnswered && messages.length > 0) this.#show(messages, { isAtNewest: true });
    };
    let isAnswered = false;
    if (isFresh) {
      await show();
      if (this.#turn === turn) await this.#catchUp();
      return this.#fillPage();
    }
    const shown = show();
    await this.#try(async () => {
      const page = await this.#fetch({ limit: this.page });
      isAnswered = true;
      if (this.#turn !== turn) return;
      const joined = this.#joinedWith(page.messages);
      this.#show(joined, { isAtNewest: true, isAtOldest: page.isFirst && joined[0]?.seq === page.messages[0]?.seq });
    });
    await shown;
    if (this.#turn === turn && this.problem) this.#reopen = () => this.latest();
    if (this.#turn === turn) await this.#catchUp();
    if (this.#turn === turn) await this.#fillPage();
  }

  /**
   * Opens with a message in the middle.
   * @param {{ id?: string, seq?: number }} position By id, or by `seq` where that is known.
   */
  async around({ id, seq }) {
    const turn = this.#begin();
    const held = id === undefined ? null : await this.pages.store.get('messages@id', id);
    const middle = seq ?? (held?.conversation_id === this.conversation ? held.seq : undefined);
    if (middle !== undefined && (await this.#showHeld(middle, turn))) return this.#turn === turn ? this.#catchUp() : undefined;
    if (id === undefined && middle === undefined) return this.latest();
    await this.#try(async () => {
      let around = id;
      if (around === undefined) {
        const last = this.#thing.last_seq ?? middle;
        const met = await this.pages.reach(this.conversation, middle, last, this.#stop.signal);
        if (this.#turn !== turn || (met && (await this.#showHeld(met.seq, turn)))) return;
        if (!met) return this.latest();
        around = met.id;
      }
      const page = await this.#fetch({ around, limit: this.page });
      if (this.#turn === turn) this.#show(page.messages, { isAtNewest: page.isLast, isAtOldest: page.isFirst });
    });
    if (this.#turn === turn && this.problem) this.#reopen = () => this.around({ id, seq });
    if (this.#turn === turn) await this.#catchUp();
    return undefined;
  }

  /** Fetches what could not be fetched without a network. A view that is not scrolled to the end keeps its messages. */
  async resume() {
    if (!this.problem?.isTemporary) return;
    const reopen = this.#reopen;
    if (reopen && (this.isSticking || this.#messages.length === 0)) return reopen();
    this.problem = null;
    return this.#catchUp();
  }

  /**
   * Shows the cached messages on either side of one. Returns true if they suffice and no request is needed.
   * @param {number} middle @param {number} turn
   */
  async #showHeld(middle, turn) {
    const history = await this.pages.history(this.conversation);
    const range = rangeAt(history.held, middle);
    if (!range) return false;
    const half = Math.floor(this.page / 2);
    const from = Math.max(range[0], middle - half);
    const to = Math.min(range[1], middle + half);
    // A message may arrive while these are read.
    const isAtNewest = to === this.#end(history);
    const messages = await this.pages.held(this.conversation, from, to);
    if (this.#turn !== turn) return true;
    this.#show(messages, { isAtNewest });
    const isWholeBefore = from > range[0] || range[0] <= history.from;
    const isWholeAfter = to < range[1] || (isAtNewest && this.isLive());
    return isWholeBefore && isWholeAfter;
  }

  /** Loads older messages. The window drops messages at the other end. */
  async older() {
    const first = this.#messages[0]?.seq;
    await this.#olderPage();
    await this.#fillPage(first);
  }

  /** Loads older messages until a filtered window shows a page before `end`, or has examined enough. */
  async #fillPage(end = Infinity) {
    if (!this.isIncluded) return;
    const turn = this.#turn;
    const isOlder = (/** @type {any} */ message) => message.seq < end && this.#isShown(message);
    for (let pages = 1; pages < EXAMINED && this.#messages.filter(isOlder).length < this.page; pages += 1) {
      const first = this.#messages[0];
      if (this.isAtOldest || this.problem) return;
      await this.#olderPage();
      if (this.#turn !== turn || this.#messages[0]?.seq === first?.seq) return;
    }
  }

  async #olderPage() {
    const first = this.#messages[0];
    if (!first || this.isAtOldest) return;
    const { history, turn } = await this.#edge();
    if (first.seq <= history.from) {
      this.#show(this.#messages, { isAtOldest: true });
      return;
    }
    const range = rangeAt(history.held, first.seq);
    const from = Math.max(range?.[0] ?? first.seq, first.seq - this.page);
    await this.#try(async () => {
      const isHeld = from < first.seq;
      const page = isHeld
        ? { messages: await this.pages.held(this.conversation, from, first.seq - 1), isFirst: from <= history.from }
        : await this.#fetch({ before: first.id, limit: this.page });
      // The message itself may have changed.
      if (this.#turn !== turn || this.#messages[0]?.seq !== first.seq) return;
      const all = [...page.messages.filter(({ seq }) => seq < first.seq), ...this.#messages];
      const kept = this.#oldest(all);
      const isAtNewest = this.isAtNewest && kept.length === all.length;
      this.#show(kept, { isAtNewest, isAtOldest: page.isFirst || page.messages.length === 0 });
    });
  }

  /** Loads newer messages. The window drops messages at the other end. */
  async newer() {
    const start = this.#last?.seq;
    const turn = this.#turn;
    const isNewer = (/** @type {any} */ message) => message.seq > start && this.#isShown(message);
    for (let pages = 1; pages <= EXAMINED; pages += 1) {
      const last = this.#last?.seq;
      await this.#newerPage();
      const isSame = this.#turn !== turn || this.#last?.seq === last;
      if (!this.isIncluded || this.problem || isSame || this.#messages.filter(isNewer).length >= this.page) return;
    }
  }

  async #newerPage() {
    const last = this.#last;
    if (!last || this.isAtNewest) return;
    const { history, turn } = await this.#edge();
    const range = rangeAt(history.held, last.seq);
    const to = Math.min(range?.[1] ?? last.seq, last.seq + this.page);
    const end = this.#end(history);
    await this.#try(async () => {
      const isHeld = to > last.seq;
      const page = isHeld
        ? { messages: await this.pages.held(this.conversation, last.seq + 1, to), isLast: false }
        : await this.#fetch({ after: last.id, limit: this.page });
      if (this.#turn !== turn || this.#last?.seq !== last.seq) return;
      const all = [...this.#messages, ...page.messages.filter(({ seq }) => seq > last.seq)];
      const kept = this.#newest(all);
      const isAtNewest = page.isLast || kept[kept.length - 1].seq >= end;
      this.#show(kept, { isAtNewest, isAtOldest: this.isAtOldest && kept.length === all.length });
    });
    if (this.#turn === turn) await this.#catchUp();
  }

  /** @param {{ limit: number, around?: string, before?: string, after?: string }} query */
  #fetch(query) {
    return this.pages.fetch(this.conversation, { ...query, isForView: true, signal: this.#stop.signal });
  }

  /** @param {any} message */
  #isShown(message) {
    return !message.machine_only && this.isIncluded?.(message) !== false;
  }

  /**
   * The newest messages that the window may have.
   * @param {any[]} all
   */
  #newest(all) {
    return this.#oldest([...all].reverse()).reverse();
  }

  /**
   * The oldest messages that the window may have: of a filtered one more, since it does not show all.
   * @param {any[]} all
   */
  #oldest(all) {
    if (!this.isIncluded) return all.slice(0, this.size);
    let shown = 0;
    const end = all.findIndex((it) => this.#isShown(it) && ++shown > this.size);
    return all.slice(0, Math.min(end < 0 ? all.length : end, EXAMINED * this.size));
  }

  async #edge() {
    const turn = this.#turn;
    return { turn, history: await this.pages.history(this.conversation) };
  }

  #begin() {
    this.problem = null;
    this.#isEmptied = false;
    return ++this.#turn;
  }

  /** @param {() => Promise<void>} fetch */
  async #try(fetch) {
    try {
      await fetch();
      this.problem = null;
      this.#reopen = null;
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      if (!(error instanceof Error) || error.name !== 'Problem') throw error;
      this.problem = /** @type {import('./problem.js').Problem} */ (error);
      this.#show(this.#messages, {});
    }
  }

  /**
   * Merges a fresh page into the window where the two overlap. Messages that arrived during the request stay.
   * @param {any[]} fresh
   */
  #joinedWith(fresh) {
    const first = fresh[0]?.seq ?? 0;
    const last = this.#last?.seq ?? -1;
    if (!this.isAtNewest || last < first - 1) return fresh;
    const end = fresh[fresh.length - 1]?.seq ?? 0;
    const later = this.#messages.filter(({ seq }) => seq > end);
    const isJoined = later.length === 0 || later[0].seq === end + 1;
    const all = [...this.#messages.filter(({ seq }) => seq < first), ...fresh, ...(isJoined ? later : [])];
    return this.#newest(all);
  }

  // Changes while the window is open.

  /** @param {import('./store.js').Change[]} changes */
  #heard(changes) {
    let messages = this.#messages;
    let isTouched = false;
    /** @type {number | null} */
    let hole = null;
    let [isRenewed, isStored] = [false, false];
    for (const change of changes) {
      if (change.table === 'conversations' && 'row' in change && change.key === this.conversation) isRenewed = true;
      if (change.table === 'outbox' || change.table === 'relations') isTouched = true;
      // The delivery status of own messages depends on receipts.
      if (change.table === 'receipts' && 'row' in change && change.row.conversation_id === this.conversation) isTouched = true;
      if (change.table !== 'messages') continue;
      if ('from' in change && Array.isArray(change.from) && change.from[0] === this.conversation) {
        messages = [];
        isTouched = true;
      }
      const key = 'key' in change && !('row' in change) ? change.key : null;
      if (Array.isArray(key) && key[0] === this.conversation) {
        // The window has no gaps.
        const kept = messages.filter(({ seq }) => seq < Number(key[1]));
        if (kept.length < messages.length) [messages, isTouched] = [kept, true];
      }
      if (!('row' in change) || change.row.conversation_id !== this.conversation) continue;
      const { row } = change;
      isStored = true;
      const first = messages[0]?.seq ?? 0;
      const last = messages[messages.length - 1]?.seq ?? 0;
      if (messages.length > 0 && row.seq >= first && row.seq <= last) {
        if (messages === this.#messages) messages = [...messages];
        messages[row.seq - first] = row;
        isTouched = true;
      } else if (row.seq === this.#following(messages) && this.isAtNewest && this.#mayGrow(messages)) {
        messages = [...messages, row];
        isTouched = true;
      } else if (row.seq > last + 1 && this.isAtNewest && messages.length > 0) {
        hole = Math.max(hole ?? 0, row.seq);
      } else if (row.seq > last) {
        isTouched = true;
      }
    }
    if (isRenewed) this.#noteUnread();
    // After a restore of the server, or when the user is in the conversation again, it opens with the messages of now.
    if (this.#isEmptied && (isRenewed || isStored)) {
      this.latest().catch(this.pages.onFault);
      return;
    }
    if (messages.length === 0 && this.#messages.length > 0) [this.#isEmptied, this.isAtOldest] = [true, false];
    if (isTouched) {
      const last = messages[messages.length - 1]?.seq ?? 0;
      const end = this.#thing.last_seq ?? 0;
      const isBehind = messages.length > 0 && last < end;
      // Missing messages are fetched. While those that follow have no room, the window ends before them.
      if (isBehind && this.isAtNewest && this.#mayGrow(messages)) hole ??= end;
      const kept = this.isSticking ? this.#newest(messages) : messages;
      this.#show(kept, {
        isAtNewest: this.isAtNewest && (hole !== null || !isBehind),
        isAtOldest: this.isAtOldest && kept.length === messages.length,
      });
    }
    // The end was not known before.
    if (isRenewed && !this.isAtNewest && this.#messages.length > 0 && this.beyond === 0) {
      this.#show(this.#messages, { isAtNewest: true, isAtOldest: this.isAtOldest });
    }
    // A message came between the answer of the page and the subscription.
    if (isRenewed && this.beyond > 0 && this.isAtNewest && this.#mayGrow(this.#messages)) hole ??= /** @type {number} */ (this.#thing.last_seq);
    if (hole !== null) this.#fill(hole).catch(this.pages.onFault);
  }

  /**
   * The message that may be put behind these. Where there are none, only the last of all.
   * @param {any[]} messages
   */
  #following(messages) {
    return messages.length > 0 ? messages[messages.length - 1].seq + 1 : this.#thing.last_seq;
  }

  /**
   * Appends new messages. While the view is scrolled up, the window grows to twice its size and then stops appending.
   * @param {any[]} messages
   */
  #mayGrow(messages) {
    return this.isSticking || messages.length < 2 * this.size;
  }

  /** Appends messages that arrived during a request for the newest ones. */
  async #catchUp() {
    const last = this.#last?.seq;
    const end = this.#thing.last_seq ?? 0;
    if (this.isAtNewest && last !== undefined && last < end && this.problem === null) await this.#fill(end);
  }

  /**
   * Fetches the gap before a new message that is not the next one, until the window has the newest message. Where it could not
   * keep so many, it opens anew.
   * @param {number} to
   */
  async #fill(to) {
    if (this.#isFilling) return;
    if (this.isSticking && this.beyond > this.size) return this.latest();
    this.#isFilling = true;
    const turn = this.#turn;
    await this.#try(async () => {
      for (;;) {
        const last = this.#last?.seq;
        const end = Math.max(to, this.#thing.last_seq ?? 0);
        if (last === undefined || last >= end) return;
        const { held } = await this.pages.history(this.conversation);
        if (missing(held, last + 1, end).length > 0) {
          await this.pages.complete(this.conversation, last + 1, end, { signal: this.#stop.signal });
        }
        const between = await this.pages.held(this.conversation, last + 1, end);
        if (this.#turn !== turn || this.#messages.length === 0) return;
        const all = [...this.#messages];
        for (const message of between) if (message.seq === all[all.length - 1].seq + 1) all.push(message);
        const isAtNewest = all[all.length - 1].seq >= (this.#thing.last_seq ?? 0);
        const isNearer = all.length > this.#messages.length;
        const kept = this.isSticking ? this.#newest(all) : all;
        const isAtOldest = this.isAtOldest && kept.length === all.length;
        this.#show(kept, { isAtNewest: isAtNewest || isNearer, isAtOldest });
        if (isAtNewest || !isNearer) return;
      }
    }).finally(() => {
      this.#isFilling = false;
    });
  }

  /** @param {any[]} messages @param {{ isAtNewest?: boolean, isAtOldest?: boolean }} ends */
  #show(messages, { isAtNewest = this.isAtNewest, isAtOldest = false }) {
    this.#messages = messages;
    this.isAtNewest = isAtNewest;
    this.isAtOldest = isAtOldest;
    const before = this.items;
    this.items = this.#itemsNow();
    this.onChange(this, difference(before, this.items));
  }

  #itemsNow() {
    const waiting = this.mirror.outbox.filter((op) => op.conversation_id === this.conversation);
    const about = byWhatTheyAreAbout(waiting);
    const me = this.mirror.me?.id;
    const isSentHere = new Set(this.#messages.map((message) => message.client_id));
    /** @type {Item[]} */
    const items = [];
    for (const message of this.#messages) {
      if (!this.#isShown(message)) continue;
      const isOwn = message.author_id === me && message.client_id;
      const operations = about(`m${message.id}`, ...(isOwn ? [`c${message.client_id}`] : []));
      items.push({
        key: isOwn ? `c${message.client_id}` : `m${message.id}`,
        message: withOperations(message, operations),
        source: message,
        state: 'sent',
        operations,
        isMuted: this.mirror.context.isMuted(message.author_id),
      });
    }
    if (!this.isAtNewest) return items;
    for (const op of waiting) {
      if (op.kind !== 'send' || op.body.machine_only || isSentHere.has(op.id)) continue;
      const operations = about(`c${op.id}`);
      // A cancelled message that the server may have: it is sent and deleted there.
      if (op.state === 'pending' && operations.some(({ kind, state }) => kind === 'delete' && state === 'pending')) continue;
      items.push({
        key: `c${op.id}`,
        message: withOperations(unsent(op, me), operations),
        source: op,
        state: op.state,
        operations: [op, ...operations],
        isMuted: false,
      });
    }
    return items;
  }
}

/**
 * Indexes operations by their message: `m` and the id, or `c` and the client id of an unsent one. Hundreds may be pending,
 * and each change looks them up.
 * @param {import('./outbox.js').Operation[]} waiting
 */
function byWhatTheyAreAbout(waiting) {
  /** @type {Map<string, import('./outbox.js').Operation[]>} */
  const all = new Map();
  for (const op of waiting) {
    for (const name of [op.message_id && `m${op.message_id}`, op.target && `c${op.target}`]) {
      if (!name) continue;
      const found = all.get(name);
      if (found) found.push(op);
      else all.set(name, [op]);
    }
  }
  return (/** @type {string[]} */ ...names) => {
    const found = names.flatMap((name) => all.get(name) ?? []);
    return found.length < 2 ? found : waiting.filter((op) => found.includes(op));
  };
}

/**
 * A message as it will be.
 * @param {import('./outbox.js').Operation} op @param {string | undefined} me @returns {ShownMessage}
 */
export const unsent = (op, me) => ({
  id: null, conversation_id: op.conversation_id, author_id: me, client_id: op.id, seq: null, previous_message: null,
  text: '', annotations: [], attachments: [], reply_to: null, machine_only: false, ...op.body,
  created_at: op.created_at, sent_at: op.created_at, edited_at: null, revision: 0, deleted: false, actions: {},
  files: op.files,
});

/**
 * Returns the deltas that turn one list into the other, applied in order.
 * @param {Item[]} before @param {Item[]} after @returns {Delta[]}
 */
export function difference(before, after) {
  const targets = new Map(after.map((item, index) => [item.key, index]));
  /** @type {Delta[]} */
  const deltas = [];
  /** @type {Item[]} */
  const kept = [];
  let furthest = -1;
  let index = 0;
  for (const item of before) {
    const target = targets.get(item.key) ?? -1;
    // Gone, or now before one that it followed.
    if (target <= furthest) {
      deltas.push({ kind: 'remove', index, item });
      continue;
    }
    furthest = target;
    kept.push(item);
    index++;
  }
  let next = 0;
  after.forEach((item, index) => {
    const held = kept[next];
    if (held?.key !== item.key) deltas.push({ kind: 'insert', index, item });
    else if (!isSame(kept[next++], item)) deltas.push({ kind: 'replace', index, item });
  });
  return deltas;
}

/** @param {Item} a @param {Item} b */
const isSame = (a, b) =>
  a.source === b.source && a.state === b.state && a.isMuted === b.isMuted &&
  a.operations.length === b.operations.length && a.operations.every((op, index) => op === b.operations[index]);
