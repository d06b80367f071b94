// The entry point of the library: a site, as one user sees it.
//
//     const parley = await Parley.open({ url: 'https://chat.example.org' });
//     parley.on('change', () => draw(parley.conversations));
//     await parley.send('12', { text: 'pizza party!' });

import { Client } from './client.js';
import { compareIds } from './ids.js';
import { Mirror } from './mirror.js';
import { Outbox } from './outbox.js';
import { Pages } from './pages.js';
import { Presences } from './presence.js';
import { Problem } from './problem.js';
import { DeliveryReceipts } from './receipts.js';
import { Rows, putMe, unknownAge } from './reducer.js';
import { eraseCopy, lock, lockedFor, unlock, unseal } from './sealing.js';
import { eraseOthers, openStore, patience, put } from './store.js';
import { Subscriptions } from './subscriptions.js';
import { Sync } from './sync.js';
import { Tabs } from './tabs.js';
import { backOff, isAbort, wait, within } from './time.js';
import { MessageWindow } from './window.js';

/** @typedef {import('./live.js').LiveState} LiveState */
/** @typedef {import('./store.js').Change} Change @typedef {import('./outbox.js').Operation} Operation */
/**
 * @typedef {object} ParleyOptions
 * @property {string} [url] Address of the server; default: the page's origin.
 * @property {string | null} [token] For programs. Without a token the session cookie authenticates.
 * @property {string} [account] Name of the cache, such as the user's id. A page with a session cookie has one user: when it
 *   is live, the caches of other users are erased.
 * @property {import('./store.js').Store} [store] The cache; default: IndexedDB, or memory without it.
 * @property {boolean} [notifications] Whether the cache holds notifications and their counts; default: true.
 * @property {typeof globalThis.fetch} [fetch]
 * @property {Partial<import('./live.js').LiveOptions>} [live]
 * @property {{ delay?: number, interval?: number }} [receipts] Times of delivery receipts, for tests.
 * @property {number} [draftBytes] The most bytes of files of all drafts together; default: 50 MB.
 * @property {number} [awayAfter] Milliseconds without a visible tab until the presence becomes `away`.
 * @property {LockManager | null} [locks]
 * @property {(new (name: string) => BroadcastChannel) | null} [BroadcastChannel]
 */
/** @typedef {{ connection: LiveState, reason: Problem | null, waiting: number, failed: number }} State */
/** @typedef {import('./api.js').Message} Message @typedef {import('./api.js').User} User @typedef {import('./api.js').Forum} Forum */
/** @typedef {import('./api.js').OwnConversation} OwnConversation @typedef {import('./mirror.js').CachedConversation} CachedConversation */
/** @typedef {import('./window.js').ShownMessage} ShownMessage @typedef {import('./problem.js').Said} Said */
/**
 * A new message. `descriptions`: of the attachments, then of the files.
 * @typedef {object} NewMessage
 * @property {string} [text]
 * @property {string} [reply_to]
 * @property {import('./api.js').Annotation[]} [annotations]
 * @property {string[]} [attachments]
 * @property {string[]} [descriptions]
 * @property {boolean} [machine_only]
 * @property {import('./api.js').PollDraft} [poll]
 * @property {import('./api.js').MessageButtonDraft[]} [buttons]
 */
/**
 * Values for the listeners of `on`. A problem from another tab has no methods.
 * @typedef {object} Happenings
 * @property {Change[]} change The cache has changed.
 * @property {State} state
 * @property {import('./api.js').Event} event
 * @property {{ id: string, kind: Operation['kind'], message?: Message, conversation?: OwnConversation }} sent
 * @property {{ operation: Operation, problem: Problem | Said }} failed
 * @property {{ id: string }} cancelled
 * @property {{ id: string, reason: Said }} waiting
 * @property {{ id: string, file: string, sent: number, size: number }} progress
 * @property {{ conversation_id: string, user_id: string, typing: boolean }} typing
 * @property {import('./presence.js').Presence | null} presence Null when all of it becomes unknown.
 * @property {{ forum_id: string, conversation_id: string, last_message_id: string }} forumActivity
 * @property {{ user_id: string, data: unknown }} app
 * @property {{ event: 'banned', until: string | null, reason: string | null }} banned
 * @property {number} activity Calls in progress.
 * @property {{ event: 'notice', code: 'lost', topic: string }} notice
 * @property {{ reason: string, repaired: number, lost: number, at: string }} reset
 * @property {Problem | null} signedOut
 * @property {{ id: string }} accountChanged
 * @property {null} closed
 * @property {unknown} fault
 */

/** The time that the answer of `GET /server` stays fresh, in milliseconds. */
const day = 24 * 60 * 60 * 1000;

export class Parley {
  /** @type {Map<string, Set<(detail: any) => void>>} */
  #listeners = new Map();
  /** @type {Set<(changes: Change[]) => void>} */
  #changeListeners = new Set();
  /** @type {Set<MessageWindow>} */
  #windows = new Set();
  /**
   * The names of things that were wanted before it was known which tab leads.
   * @type {Set<string>}
   */
  #early = new Set();
  #isStandby = false;
  #presences = new Presences();
  /** @type {Subscriptions} */
  #subscriptions;
  /** @type {import('./live.js').LiveState} */
  #connection = 'offline';
  /** @type {Problem | null} */
  #reason = null;
  #isClosed = false;
  /** Whether the cache outlives the page. Otherwise unsent messages are lost with it. */
  isDurable = true;
  /** The copy is being erased: answers that still arrive are not written. */
  #isErased = false;
  /** The store, also for a copy that is locked. @type {import('./store.js').Store} */
  #opened;
  /**
   * The user whose copy is locked.
   * @type {string | null}
   */
  #locked = null;

  /**
   * Opens the cache, which needs no network, and then subscribes to the server.
   * @param {ParleyOptions} options
   */
  static async open(options = {}) {
    const client = new Client({ url: options.url, token: options.token, fetch: options.fetch });
    const name = `parley ${client.origin} ${options.account ?? ''}`;
    const load = async (/** @type {import('./store.js').Store} */ store) => {
      const mirror = new Mirror({ hasNotifications: options.notifications });
      const locked = await lockedFor(store);
      if (locked === null) await mirror.load(store);
      return { mirror, locked };
    };
    const { store, loaded: { mirror, locked }, isDurable } = options.store
      ? { store: options.store, loaded: await load(options.store), isDurable: true }
      : await openStore(name, load);
    // A copy in memory is not shared with other tabs.
    const alone = isDurable ? {} : { locks: null, BroadcastChannel: null };
    const parley = new Parley(client, store, mirror, name, { ...options, ...alone, locked });
    parley.isDurable = isDurable;
    parley.#begin();
    return parley;
  }

  /**
   * @param {Client} client @param {import('./store.js').Store} opened @param {Mirror} mirror @param {string} name
   * @param {ParleyOptions & { locked?: string | null }} options
   */
  constructor(client, opened, mirror, name, options) {
    this.client = client;
    this.name = name;
    this.#opened = opened;
    this.#locked = options.locked ?? null;
    // Operations in progress write nothing after `close`: the next owner of the cache would not be notified.
    /** @type {import('./store.js').Store} */
    const store = {
      ...opened,
      update: (...transition) => {
        const isOver = this.#isClosed || this.#subscriptions.isLeaving || this.#isErased || this.#locked !== null;
        return isOver ? Promise.reject(new DOMException('closed', 'AbortError')) : opened.update(...transition);
      },
    };
    this.store = store;
    this.mirror = mirror;
    this.options = options;
    const publish = (/** @type {Change[]} */ changes) => this.#publish(changes);
    const emit = (/** @type {string} */ kind, /** @type {any} */ detail) => this.#tell(kind, detail);
    const now = () => ({
      generation: mirror.generation,
      start: mirror.start,
      cursor: mirror.lastEvent,
      me: mirror.me?.id ?? null,
      isOfThisStart: (/** @type {string} */ position) => mirror.isOfThisStart(position),
    });
    const want = (/** @type {string} */ name) => this.#want(name);
    this.pages = new Pages({ client, store, now, publish, want, onFault: (error) => emit('fault', error) });
    this.outbox = new Outbox({ client, store, mirror, now, publish, emit, want });
    this.tabs = new Tabs({
      name,
      locks: options.locks,
      BroadcastChannel: options.BroadcastChannel,
      onMessage: (message) => this.#heard(message),
      onLead: (isFirst) => this.#lead(isFirst),
      onStandby: () => {
        this.#isStandby = true;
        this.#early.clear();
        this.tabs.tell({ kind: 'standby' });
        this.#readUnannounced();
      },
      onGone: (tab) => {
        this.#subscriptions.forget(tab);
        // A closed tab may have stored changes that it did not announce.
        this.#readUnannounced();
      },
    });
    this.#subscriptions = new Subscriptions({ tabs: this.tabs, mirror, sync: () => this.sync, awayAfter: options.awayAfter });
    this.visibility = this.#subscriptions.visibility;
    client.onActivity = (underWay) => this.#emit('activity', underWay);
    this.on('presence', (said) => this.#presences.note(said));
  }

  #begin() {
    this.tabs.start();
    this.#subscriptions.start();
    globalThis.addEventListener?.('online', this.#isBack);
  }

  /** Whether a tab of this device has the focus, so that the user needs no notification. */
  get isInFront() {
    return this.#subscriptions.isInFront;
  }

  #isBack = () => this.outbox.kick({ isBack: true });

  // The cache.

  /** The signed-in user, once known. */
  get me() {
    return this.mirror.me;
  }

  /** @returns {import('./api.js').Settings | null} */
  get settings() {
    return this.mirror.value('settings');
  }

  /**
   * The user's conversations, most recent activity first.
   * @returns {OwnConversation[]}
   */
  get conversations() {
    const active = (/** @type {CachedConversation} */ one) => one.last_message_id ?? one.id;
    return /** @type {OwnConversation[]} */ ([...this.mirror.conversations.values()])
      .filter((one) => one.role !== undefined || one.unread_count !== undefined)
      .sort((a, b) => compareIds(active(b), active(a)));
  }

  /** @returns {Forum[]} */
  get forums() {
    const inOrder = (/** @type {Forum} */ a, /** @type {Forum} */ b) => a.position - b.position || compareIds(a.id, b.id);
    return [...this.mirror.forums.values()].sort(inOrder);
  }

  /** @param {string} id */
  conversation(id) {
    return this.mirror.conversations.get(id) ?? null;
  }

  /** @param {string} id */
  forum(id) {
    return this.mirror.forums.get(id) ?? null;
  }

  /**
   * Returns a user, fetched if not cached.
   * @param {string} id
   */
  user(id) {
    const held = this.mirror.users.get(id) ?? null;
    if (!held) this.#want(`user:${id}`, true);
    return held;
  }

  /**
   * Changes the signed-in user. The answer is cached before its event arrives.
   * @param {import('./api.js').UserChange} body The changed members, as in `PATCH /users/me`.
   */
  async updateMe(body) {
    const known = this.mirror.position;
    const me = await this.client.calls.updateUser({ id: 'me', body });
    /** @type {import('./store.js').Source[]} */
    const sources = [['site', 'me']];
    try {
      this.#publish(await this.store.update(sources, (found) => {
        const rows = new Rows(sources, found);
        putMe(rows, me, known);
        return rows.changes;
      }));
    } catch (error) {
      if (!isAbort(error)) this.#tell('fault', error);
    }
    return me;
  }

  /**
   * Stores users of an answer that came with something else, unless they are cached. They are readable at once.
   * @param {User[]} users
   */
  async keepUsers(users) {
    const isNew = (/** @type {User} */ { id }, /** @type {number} */ index) =>
      !this.mirror.users.has(id) && users.findIndex((one) => one.id === id) === index;
    const changes = users.filter(isNew).map((user) => put('users', { ...user, known: unknownAge }));
    if (changes.length === 0) return;
    this.#apply(changes);
    try {
      const sources = changes.map(({ key }) => /** @type {import('./store.js').Source} */ (['users', key]));
      const stored = await this.store.update(sources, (held) => changes.filter((_, index) => held[index] === undefined));
      this.tabs.tell({ kind: 'changes', changes: stored });
    } catch (error) {
      if (!isAbort(error)) this.#tell('fault', error);
    }
  }

  /**
   * Returns a user's presence while `presence` is subscribed; null if unknown, as for users that hide it.
   * @param {string} id
   */
  presenceOf(id) {
    return this.#presences.of(id);
  }

  /**
   * Fetches a thing again by its name: `forum:3`, `user:7`, `message:1042`.
   * @param {string} name
   */
  renew(name) {
    this.#want(name);
  }

  /**
   * Resolves when the cache has the user's data: at once on a device that has been here before, else after the server's
   * first answer. Rejects with the problem if there is no session, or if the server does not permit pages of this origin.
   * @returns {Promise<void>}
   */
  get ready() {
    if (this.mirror.me) return Promise.resolve();
    if (this.#reason?.code === 'origin_not_allowed') return Promise.reject(this.#reason);
    return new Promise((resolve, reject) => {
      const ends = [
        this.on('change', () => this.mirror.me && end(resolve)),
        this.on('signedOut', (/** @type {Problem | null} */ problem) => end(() => reject(problem))),
        this.on('state', (/** @type {State} */ { reason }) => reason?.code === 'origin_not_allowed' && end(() => reject(reason))),
      ];
      const end = (/** @type {() => void} */ settle) => {
        for (const off of ends) off();
        settle();
      };
    });
  }

  /** @returns {State} */
  get state() {
    const waiting = this.mirror.outbox.filter(({ state, kind }) => state === 'pending' && kind !== 'read').length;
    const failed = this.mirror.outbox.filter(({ state }) => state === 'failed').length;
    return { connection: this.#connection, reason: this.#reason, waiting, failed };
  }

  /**
   * Operations that wait or have failed.
   * @param {{ conversation?: string, kind?: Operation['kind'] }} which
   */
  operations({ conversation, kind } = {}) {
    return this.mirror.outbox.filter(
      (op) => (!conversation || op.conversation_id === conversation) && (!kind || op.kind === kind),
    );
  }

  /**
   * Returns the delivery status of an own message: `delivering` (in the outbox), `delivered` (on the server), `some_read`,
   * `all_read`.
   * @param {ShownMessage} message
   */
  statusOf(message) {
    if (message.id === null) return 'delivering';
    const { participants } = this.mirror.conversations.get(message.conversation_id) ?? {};
    const others = (participants ?? []).filter((one) => one.user_id !== message.author_id);
    const hasRead = (/** @type {{ user_id: string }} */ one) =>
      (this.mirror.receipts.get(String([message.conversation_id, one.user_id]))?.read_up_to ?? 0) >= /** @type {number} */ (message.seq);
    const read = others.filter(hasRead).length;
    if (read === 0) return message.status ?? 'delivered';
    return read === others.length ? 'all_read' : message.status === 'all_read' ? 'all_read' : 'some_read';
  }

  /**
   * Own messages that a restore removed from the server. They exist only in this cache.
   * @returns {Message[]}
   */
  get lost() {
    return this.mirror.value('lost') ?? [];
  }

  /** Sends all lost messages again, under the same `client_id`. */
  sendLost() {
    return this.outbox.sendLost();
  }

  async discardLost() {
    this.#publish(await this.store.update([], () => [{ table: 'site', key: 'lost' }]));
  }

  /**
   * Fetches what is new now, as when a user pulls down a list. While the connection is up, it arrives by itself. In a tab without
   * the connection it asks the tab that has it, and does not wait.
   */
  async catchUp() {
    if (this.sync) await this.sync.catchUp();
    else this.tabs.tell({ kind: 'catchUp' });
  }

  // Actions of the user. Each is stored in the outbox before it returns, and sent when there is a network.

  /**
   * @param {string} conversation @param {NewMessage} message
   * @param {Blob[]} files
   * @param {{ joins?: string }} [options] `joins`: the forum that the user joins before the message is posted.
   */
  send(conversation, message, files = [], options = {}) {
    const { joins } = options;
    return this.outbox.add({ kind: 'send', conversation_id: conversation, body: message, ...(joins ? { joins } : {}) }, files);
  }

  /** @param {ShownMessage} message As a window gives it. @param {{ text?: string, attachments?: string[], descriptions?: string[] }} change */
  edit(message, change) {
    return this.outbox.add({ kind: 'edit', body: change, ...about(message) });
  }

  /**
   * @param {ShownMessage} message
   * @param {{ heldFor?: number }} options `heldFor`: milliseconds until it is sent, at most a minute. The message is shown as
   *   deleted meanwhile, in all tabs; `endHold` sends the deletion earlier, or takes it back.
   */
  delete(message, { heldFor } = {}) {
    const held = heldFor ? { held_until: new Date(Date.now() + heldFor).toISOString() } : {};
    return this.outbox.add({ kind: 'delete', ...about(message), ...held });
  }

  /**
   * Sends a held deletion now, or takes it back. Resolves to whether it was held until now.
   * @param {Operation} operation As `delete` returned it. @param {{ isTakenBack?: boolean }} [options]
   */
  endHold(operation, options) {
    return this.outbox.endHold(operation, options);
  }

  /**
   * Sets an action: `like`, `star`, `reaction:👍`; on a repost, that of its post. Cancels its removal if that is not on its way.
   * @param {ShownMessage} message @param {string} type
   */
  async setAction(message, type) {
    const isDone = message.actions?.[type]?.mine === true;
    return this.outbox.add({ kind: 'set_action', body: { type }, ...about(message, message.repost_of) }, [], { isDone });
  }

  /**
   * Removes an action. Cancels the setting of it if that is not on its way.
   * @param {ShownMessage} message @param {string} type
   */
  async removeAction(message, type) {
    const isDone = !message.repost_of && message.actions?.[type]?.mine !== true;
    return this.outbox.add({ kind: 'remove_action', body: { type }, ...about(message, message.repost_of) }, [], { isDone });
  }

  /**
   * Votes in the poll of a message. The message shows the vote at once; an empty list withdraws it.
   * @param {ShownMessage} message @param {number[]} options
   */
  setVote(message, options) {
    return this.outbox.add({ kind: 'vote', body: { options }, ...about(message) });
  }

  /**
   * Moves the read position. The cache changes at once; the server is updated through the outbox.
   * @param {ShownMessage} message
   */
  async markRead(message) {
    const { conversation_id: id, seq } = message;
    const held = this.mirror.conversations.get(id);
    if (seq === null || !held || (held.read_up_to ?? Infinity) >= seq) return;
    await this.outbox.markRead(/** @type {Message} */ (message));
  }

  /** @param {string} operation */
  retry(operation) {
    return this.outbox.retry(operation);
  }

  /** @param {string} operation */
  cancel(operation) {
    return this.outbox.cancel(operation);
  }

  /**
   * Sends a typing signal, at most every four seconds.
   * @param {string} conversation
   */
  typing(conversation) {
    const now = Date.now();
    if (now - (this.#typed.get(conversation) ?? 0) < 4000) return;
    this.#typed.set(conversation, now);
    this.client.calls.sendTyping({ id: conversation }).catch(() => {});
  }

  /** @type {Map<string, number>} */
  #typed = new Map();

  /**
   * The draft of a conversation, as it was stored; null if there is none. An app knows its own kind of draft.
   * @template [Draft=unknown] @param {string} conversation @returns {Draft | null}
   */
  draft(conversation) {
    return /** @type {any} */ (this.mirror.drafts.get(conversation)?.value ?? null);
  }

  /**
   * Stores a draft. Its files are bounded by `draftBytes`, together with those of all drafts.
   * @param {string} conversation @param {unknown} value Any value that IndexedDB stores. Null deletes the draft with its files.
   * @param {File[]} [files] Without them, the files of the draft stay.
   * @returns {Promise<boolean>} Whether all files are stored.
   */
  async setDraft(conversation, value, files) {
    // A draft is readable before it is on disk.
    const held = this.mirror.drafts.get(conversation)?.files;
    const row = { conversation_id: conversation, value, ...(held ? { files: held } : {}) };
    const change = value === null ? { table: 'drafts', key: conversation } : put('drafts', row);
    this.#publish([change]);
    // The code for files may be missing offline: a draft without them is stored anyway.
    const drafts = held || files?.length || this.#drafts ? await this.#loadDrafts().catch(() => null) : null;
    if (!drafts) {
      await this.#keepText(conversation, change);
    } else {
      await this.#keeping;
      await drafts.keep(conversation, value, files);
    }
    const stored = this.mirror.drafts.get(conversation)?.files ?? [];
    return value === null || stored.length >= (files?.length ?? 0);
  }

  /** @type {Map<string, Change>} Changes of drafts without files that are not on disk yet, the latest of each. */
  #texts = new Map();
  /** @type {Promise<void> | null} */
  #keeping = null;

  /** @param {string} conversation @param {Change} change */
  #keepText(conversation, change) {
    this.#texts.set(conversation, change);
    this.#keeping ??= this.#keepTexts().finally(() => {
      this.#keeping = null;
    });
    return this.#keeping;
  }

  async #keepTexts() {
    while (this.#texts.size > 0) {
      const changes = [...this.#texts.values()];
      this.#texts.clear();
      await this.store.update([], () => changes);
    }
  }

  /**
   * Gives drafts with their files other keys, in one transaction.
   * @param {[from: string, to: string][]} moves
   */
  async moveDrafts(moves) {
    const drafts = await this.#loadDrafts();
    await this.#keeping;
    await drafts.move(moves);
  }

  /**
   * Returns the files of a draft.
   * @param {string} conversation @returns {Promise<File[]>}
   */
  async draftFiles(conversation) {
    return (await this.#loadDrafts()).filesOf(conversation);
  }

  /** @type {Promise<import('./drafts.js').Drafts> | null} */
  #drafts = null;

  /** Loads the code that writes drafts with files. */
  #loadDrafts() {
    this.#drafts ??= import('./drafts.js').then(
      ({ Drafts }) => new Drafts({ store: this.store, publish: (changes) => this.#publish(changes), maxBytes: this.options.draftBytes }),
    );
    this.#drafts.catch(() => {
      this.#drafts = null;
    });
    return this.#drafts;
  }

  // Views.

  /**
   * Returns a window over a conversation. It is empty until `latest` or `around` is called.
   * @param {string} conversation
   * @param {(window: MessageWindow, deltas: import('./window.js').Delta[]) => void} onChange
   * @param {{ size?: number, page?: number, isIncluded?: (message: Message) => boolean }} options
   */
  window(conversation, onChange, options = {}) {
    const close = this.subscribe(`conversation:${conversation}`);
    /** @type {MessageWindow} */
    const window = new MessageWindow({
      ...options,
      pages: this.pages,
      mirror: this.mirror,
      conversation,
      isLive: () => this.#connection === 'live',
      listen: (listener) => {
        this.#changeListeners.add(listener);
        return () => {
          this.#changeListeners.delete(listener);
          this.#windows.delete(window);
          close();
        };
      },
      onChange,
    });
    this.#windows.add(window);
    if (!this.mirror.conversations.has(conversation)) this.#want(`conversation:${conversation}`);
    return window;
  }

  /**
   * Subscribes to a conversation or forum while a view shows it. The user's own conversations are always subscribed.
   * @param {string} topic `conversation:12`, `forum:3`, or `presence`. @returns {() => void} Ends it.
   */
  subscribe(topic) {
    return this.#subscriptions.add(topic);
  }

  /**
   * Answers from the cache first and from the server next. Drops a cached answer that arrives after the fresh one. A cache
   * that fails is a `fault`, and delays or hides no fresh answer.
   * @template T
   * @param {{ cached: () => Promise<T | null>, fresh: () => Promise<T> }} answers
   * @param {(answer: T, isCached: boolean) => void} onAnswer
   * @returns {Promise<T>}
   */
  async both({ cached, fresh }, onAnswer) {
    let isFresh = false;
    const early = async () => {
      try {
        const answer = await cached();
        if (answer !== null && !isFresh) onAnswer(answer, true);
      } catch (error) {
        this.#tell('fault', error);
      }
    };
    early();
    const answer = await fresh();
    isFresh = true;
    onAnswer(answer, false);
    return answer;
  }

  /**
   * A client's configuration, asked for once a day.
   * @returns {Promise<import('./api.js').Server>}
   */
  async server() {
    const held = this.mirror.value('server');
    if (held && Date.now() - held.at < day) return held.server;
    const server = await this.client.calls.getServer();
    const row = { name: 'server', value: { at: Date.now(), server } };
    this.#publish(await this.store.update([], () => [put('site', row)]));
    return server;
  }

  /**
   * Searches cached messages, newest first.
   * @param {import('./search.js').Search} search @param {AbortSignal} [signal]
   */
  async searchCache(search, signal) {
    const { searchCache } = await import('./search.js');
    return searchCache(this.store, this.conversations.map(({ id }) => id), search, signal);
  }

  /**
   * Fetches a whole conversation. Resumes an earlier attempt.
   * @param {string} conversation
   * @param {{ signal?: AbortSignal, onProgress?: (held: number, all: number) => void }} options
   */
  fetchAll(conversation, options = {}) {
    return this.pages.all(conversation, options);
  }

  /**
   * Compares the cache with the server's digest and repairs differences.
   * @param {string} conversation
   */
  async verify(conversation) {
    const { verify } = await import('./verify.js');
    return verify(this.pages, conversation);
  }

  /**
   * Returns whether a conversation is proven to be cached as the server has it, and through which `seq`, or why not. Makes
   * no request for the user's own conversations, which events keep as they are: `fetchAll` and `verify` lead to a proof. Any
   * other conversation is compared now.
   * @param {string} conversation
   */
  async proof(conversation) {
    const { proof } = await import('./verify.js');
    return proof(this.pages, conversation, this.mirror.isOwn(`conversation:${conversation}`));
  }

  // Events.

  /**
   * `change` (the cache), `state`, `event`, `sent`, `failed`, `cancelled`, `waiting`, `progress`, `typing`,
   * `presence` (null when all of it becomes unknown), `forumActivity`, `activity` (calls in progress), `notice`, `reset`,
   * `signedOut`, `accountChanged`, `closed`, `fault`.
   * @template {keyof Happenings} Kind @param {Kind} kind @param {(detail: Happenings[Kind]) => void} listener @returns {() => void} Ends it.
   */
  on(kind, listener) {
    if (!this.#listeners.has(kind)) this.#listeners.set(kind, new Set());
    this.#listeners.get(kind)?.add(listener);
    return () => this.#listeners.get(kind)?.delete(listener);
  }

  /** @param {string} kind @param {any} detail */
  #emit(kind, detail) {
    for (const listener of this.#listeners.get(kind) ?? []) listener(detail);
  }

  /**
   * Here and in the other tabs.
   * @param {string} kind @param {any} detail
   */
  #tell(kind, detail) {
    if (this.#isClosed || (this.#isErased && isAbort(detail))) return;
    if (kind === 'state') {
      this.#become(detail.connection, detail.reason);
      this.#tellState();
      return;
    }
    this.#emit(kind, detail);
    if (kind !== 'fault') this.tabs.tell({ kind: 'emit', name: kind, detail: plain(detail) });
  }

  #tellState() {
    this.tabs.tell({ kind: 'state', connection: this.#connection, reason: this.#reason?.toJSON() ?? null });
  }

  /** @param {import('./live.js').LiveState} connection @param {Problem | null} reason */
  #become(connection, reason) {
    this.#connection = connection;
    this.#reason = reason;
    if (connection === 'live') {
      this.#unseal();
      this.outbox.kick({ isBack: true });
      this.receipts?.schedule();
      for (const window of this.#windows) window.resume().catch(this.pages.onFault);
    } else if (this.#presences.all.length > 0) this.#emit('presence', null);
    this.#emit('state', this.state);
    const isRevoked = reason?.code === 'session_ended';
    if (!isRevoked && !reason?.isSignedOut && reason?.code !== 'unauthenticated') return;
    this.#emit('signedOut', reason);
    // A session that expired, or ended with a restore, can be continued by its user. A revoked one can't.
    if (this.tabs.isLeader) this.#endSession({ isLocked: !isRevoked });
  }

  /**
   * Erases or locks the copy, in every tab.
   * @param {{ isLocked: boolean }} how
   */
  async #endSession({ isLocked }) {
    const user = this.mirror.me?.id ?? null;
    this.sync?.stop();
    this.outbox.stop();
    try {
      if (!isLocked) await this.#eraseCopy(user);
      else if (user !== null) await within(patience, lock(this.#opened, user));
      this.#leave();
    } catch (error) {
      this.#tell('fault', error);
    }
  }

  /**
   * Erases the copy. If the browser does not answer, the next sign-in of another user does it.
   * @param {string | null} user Whose unsent work is sealed. @param {{ hasOperations?: boolean }} [options]
   */
  async #eraseCopy(user, options) {
    this.#isErased = true;
    const erase = async () => {
      if (!(await eraseCopy(this.#opened, user, options))) await this.#opened.erase();
      return true;
    };
    const isErased = await within(patience, erase());
    if (!isErased) this.#tell('fault', new DOMException('copy not erased', 'TimeoutError'));
  }

  /** Closes this Parley and those of the other tabs: their session has ended. */
  #leave() {
    this.tabs.tell({ kind: 'ended' });
    this.close();
    this.mirror.clear();
  }

  /** Gives the user what was sealed at the end of an earlier session. */
  async #unseal() {
    if (!this.tabs.isLeader || !this.mirror.me) return;
    this.#eraseOthers();
    try {
      this.#publish(await unseal(this.store, this.mirror.me.id));
      this.outbox.kick();
    } catch (error) {
      if (!this.#isClosed) this.#tell('fault', error);
    }
  }

  /**
   * Asks who has signed in, and opens the copy for its user. Another user's sign-in erases it.
   * @param {string} user The owner of the copy. @returns {Promise<boolean>}
   */
  async #unlock(user) {
    for (let tries = 1; !this.#isClosed; tries++) {
      try {
        const me = await this.client.calls.getUser({ id: 'me', tries: 1 });
        if (me.id !== user) return this.#changeUser(me, user);
        await unlock(this.#opened);
        await this.#openCopy();
        this.tabs.tell({ kind: 'unlocked' });
        return true;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        const isOver = !error.isTemporary;
        this.#tell('state', { connection: isOver ? 'stopped' : 'offline', reason: error });
        if (isOver) return false;
        await wait(error.retryAfter ?? backOff(tries));
      }
    }
    return false;
  }

  async #openCopy() {
    this.#locked = null;
    await this.mirror.load(this.#opened);
    this.#apply([]);
  }

  /**
   * Erases the copy of the user who was signed in before.
   * @param {any} me @param {string | null} before @returns {Promise<false>}
   */
  async #changeUser(me, before) {
    this.#connection = 'stopped';
    this.sync?.stop();
    this.outbox.stop();
    await this.#eraseCopy(before);
    this.#tell('accountChanged', me);
    this.close();
    this.mirror.clear();
    return false;
  }

  /**
   * Publishes changes of the cache to this tab and the others.
   * @param {Change[]} changes
   */
  #publish(changes) {
    if (changes.length === 0) return;
    this.#apply(changes);
    this.tabs.tell({ kind: 'changes', changes: changes.filter(({ table }) => table !== 'files') });
  }

  /** @param {Change[]} changes */
  #apply(changes) {
    const isShown = this.me?.show_presence;
    const isGone = (/** @type {Change} */ change) => change.table === 'conversations' && !('row' in change);
    this.mirror.apply(changes);
    // The views of a conversation that the user has left follow it by themselves, if it is still readable.
    if (changes.some(isGone)) this.#subscriptions.renew();
    // From the next hello on the server says it by itself.
    if (isShown === false && this.me?.show_presence) this.sync?.presentAnew();
    for (const listener of this.#changeListeners) listener(changes);
    this.#emit('change', changes);
    if (changes.some(({ table }) => table === 'outbox')) this.#emit('state', this.state);
    if (this.#connection === 'live' && changes.some(({ table }) => table === 'messages')) this.receipts?.schedule();
  }

  /** @param {any} message */
  #heard(message) {
    if (this.#isClosed) return;
    switch (message.kind) {
      case 'changes':
        this.#apply(message.changes);
        if (message.changes.some((/** @type {Change} */ { table }) => table === 'outbox')) this.outbox.kick();
        break;
      case 'emit':
        // Without locks each tab has its own connection.
        if (message.name !== 'event' || !this.tabs.isLeader) this.#emit(message.name, message.detail);
        if (message.name === 'accountChanged') this.close();
        break;
      case 'state':
        if (!this.tabs.isLeader) this.#become(message.connection, message.reason && new Problem(message.reason));
        break;
      case 'standby':
        if (this.tabs.isLeader) this.#tellState();
        break;
      case 'tab':
        this.#subscriptions.note(message);
        if (this.tabs.isLeader && message.topics.includes('presence'))
          for (const one of this.#presences.all) this.tabs.tell({ kind: 'emit', name: 'presence', detail: one });
        break;
      case 'catchUp':
        this.sync?.catchUp().catch(() => {});
        break;
      case 'want':
        this.sync?.fetches.want(message.name, message.isShown);
        break;
      case 'leader':
        // A new tab requests the topics of the others and announces its own.
        this.#subscriptions.announce();
        if (!this.tabs.isLeader) this.#readUnannounced();
        break;
      case 'erased':
      case 'ended':
        this.close();
        this.mirror.clear();
        if (message.kind === 'erased') this.#emit('signedOut', null);
        break;
      case 'unlocked':
        this.#openCopy().catch((error) => this.#tell('fault', error));
        break;
    }
  }

  /** @param {string} name @param {boolean} [isShown] */
  #want(name, isShown) {
    if (this.sync) return this.sync.fetches.want(name, isShown);
    if (!this.#isStandby) this.#early.add(name);
    return this.tabs.tell({ kind: 'want', name, isShown });
  }

  /** Reads changes on disk that no tab announced: the writing tab was closed, or this tab was not listening yet. */
  async #readUnannounced() {
    try {
      const windows = [...this.#windows].map((window) => window.unannounced());
      const [held, ...shown] = await Promise.all([this.mirror.unannounced(this.store), ...windows]);
      if (this.#isClosed) return;
      for (const changes of [held, ...shown]) this.#apply(changes());
      this.outbox.kick();
    } catch (error) {
      if (!this.#isClosed) this.#tell('fault', error);
    }
  }

  /**
   * Makes this tab the leader: it connects and sends the outbox. The last writes of the previous leader may be unannounced.
   * @param {boolean} isFirst
   */
  async #lead(isFirst) {
    // The sync exists before the disk is read, so that requests in the meantime are fetched.
    this.sync = new Sync({
      client: this.client,
      store: this.store,
      mirror: this.mirror,
      pages: this.pages,
      publish: (changes) => this.#publish(changes),
      emit: (kind, detail) => {
        if (kind !== 'accountChanged') this.#tell(kind, detail);
        else this.#changeUser(detail, this.mirror.me?.id ?? null).catch((error) => this.#tell('fault', error));
      },
      live: this.options.live,
    });
    for (const name of this.#early) this.#want(name);
    this.#early.clear();
    this.receipts = new DeliveryReceipts({
      client: this.client, mirror: this.mirror, pages: this.pages, ...this.options.receipts,
    });
    if (!isFirst) {
      // The previous leader may have closed without a message; the other tabs announce their topics again.
      this.#subscriptions.reset();
      await this.#readUnannounced();
      if (this.#isClosed) return;
    }
    this.tabs.tell({ kind: 'leader' });
    this.#subscriptions.renew();
    try {
      if (this.#locked !== null && !(await this.#unlock(this.#locked))) return;
      // Before the outbox: it must not send the messages of one user as another.
      if (this.mirror.cursor !== null && !(await this.#isSameUser())) return;
      if (this.#isClosed) return;
      this.outbox.start();
      await this.sync.start();
    } catch (error) {
      this.#tell('fault', error);
    }
  }

  /** Detects the sign-in of another user. Without a network the user is assumed unchanged. */
  async #isSameUser() {
    try {
      const me = await this.client.calls.getUser({ id: 'me', tries: 1 });
      if (me.id === this.mirror.me?.id) return true;
      return this.#changeUser(me, this.mirror.me?.id ?? null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (error.code === 'origin_not_allowed') this.#tell('fault', error);
      if (!error.isSignedOut) return true;
      this.#tell('state', { connection: 'stopped', reason: error });
      return false;
    }
  }

  /** Erases the copies of users who were signed in before, since a page has one session cookie. */
  #eraseOthers() {
    if (this.client.token !== null || this.options.store) return;
    const erase = async (/** @type {import('./store.js').Store} */ store) => {
      const me = (await store.get('site', 'me'))?.value;
      return me && me.id !== this.me?.id ? eraseCopy(store, me.id) : true;
    };
    eraseOthers(`parley ${this.client.origin} `, this.name, erase).catch((error) => this.#tell('fault', error));
  }

  /** The number of unsent operations that a user would miss. */
  get unsent() {
    return this.mirror.outbox.filter(({ kind }) => kind !== 'read').length;
  }

  /**
   * Signs out and erases the cache, in every tab. Refused while operations are unsent, unless forced; then they are lost.
   * Drafts are sealed: the user has them again after the next sign-in.
   * @param {{ isForced?: boolean, isForGood?: boolean }} options `isForGood`: drafts are erased, too, as of a deleted account.
   */
  async signOut({ isForced = false, isForGood = false } = {}) {
    const count = this.unsent;
    if (count > 0 && !isForced) {
      throw new Problem({ code: 'unsent', params: { count }, detail: 'something was not sent yet' });
    }
    this.sync?.stop();
    this.outbox.stop();
    try {
      await this.client.calls.revokeSession({ id: 'current', tries: 1 });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
    // The cache is erased even if a draft can't be stored.
    const stored = async () => {
      await Promise.resolve(this.#keeping).catch(() => {});
      await (await this.#drafts)?.kept;
    };
    await within(patience, stored().catch(() => {}));
    await this.#eraseAll(isForGood ? null : (this.mirror.me?.id ?? null));
  }

  /** Erases the cache in every tab and closes it. */
  async erase() {
    await this.#eraseAll(null);
  }

  /** @param {string | null} user Whose drafts are sealed. */
  async #eraseAll(user) {
    this.tabs.tell({ kind: 'erased' });
    this.sync?.stop();
    this.outbox.stop();
    await this.#eraseCopy(user, { hasOperations: false });
    this.close();
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    globalThis.removeEventListener?.('online', this.#isBack);
    this.#subscriptions.stop();
    this.sync?.stop();
    this.receipts?.stop();
    this.outbox.stop();
    this.tabs.close();
    this.store.close();
    this.#emit('closed', null);
  }
}

/**
 * The identity of a message, sent or not.
 * @param {ShownMessage} message @param {string} [post] @returns {{ conversation_id: string, target?: string, message_id?: string }}
 */
const about = ({ id, client_id, conversation_id }, post = undefined) =>
  id === null ? { conversation_id, target: /** @type {string} */ (client_id) } : { conversation_id, message_id: post ?? id };

/**
 * Returns the form of an event that can be sent to other tabs.
 * @param {any} detail
 */
const plain = (detail) =>
  detail?.problem instanceof Problem ? { ...detail, problem: detail.problem.toJSON() } : detail;

export { Client, MessageWindow, Problem };
export {
  deleteAndWait, editAndWait, removeActionAndWait, retryAndWait, sendAndWait, setActionAndWait, setVoteAndWait,
} from './awaited.js';
export {
  createConversation, createConversationAndWait, deleteConversation, deleteConversationAndWait, leaveConversation,
  leaveConversationAndWait, updateConversation, updateConversationAndWait,
} from './conversations.js';
export { copyOf, forward, mention, messageOfPayload, privateChannel, replyTo, replyToAll } from './compose.js';
export { CachedThenFresh, conversation, conversations, forum, forums, message, messages, user, users } from './reads.js';
export { browserStore, memoryStore } from './store.js';
export { buildNodes, parseMarkup, plainText } from './markup.js';
export { newClientId, compareIds } from './ids.js';
