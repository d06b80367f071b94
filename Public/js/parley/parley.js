// The one import: a place, as one person has it.
//
//     const parley = await Parley.open({ url: 'https://chat.example.org' });
//     parley.on('change', () => draw(parley.conversations));
//     await parley.send('12', { text: 'pizza party!' });

import { Client } from './client.js';
import { compareIds, readCursor } from './ids.js';
import { Mirror } from './mirror.js';
import { Outbox } from './outbox.js';
import { Pages } from './pages.js';
import { Looking, Presences } from './presence.js';
import { Problem } from './problem.js';
import { searchHeld } from './search.js';
import { browserStore, memoryStore, put } from './store.js';
import { Sync } from './sync.js';
import { Tabs } from './tabs.js';
import { verify } from './verify.js';
import { MessageWindow } from './window.js';

/** @typedef {import('./live.js').LiveState} LiveState */
/** @typedef {import('./store.js').Change} Change @typedef {import('./outbox.js').Operation} Operation */
/**
 * @typedef {object} ParleyOptions
 * @property {string} [url] Where the place is; the page's own origin otherwise.
 * @property {string | null} [token] For programs. Without one the session's cookie says who asks.
 * @property {string} [account] Names what is held, for a page in which several people are signed in.
 * @property {import('./store.js').Store} [store] Where it is held; otherwise IndexedDB, or memory where there is none.
 * @property {typeof globalThis.fetch} [fetch]
 * @property {Partial<import('./live.js').LiveOptions>} [live]
 * @property {number} [awayAfter] Milliseconds that a person may look elsewhere until others see that they do.
 * @property {LockManager | null} [locks]
 * @property {(new (name: string) => BroadcastChannel) | null} [BroadcastChannel]
 */
/** @typedef {{ connection: LiveState, reason: Problem | null, waiting: number, failed: number }} State */

/** How long an answer about the place is fresh. */
const day = 24 * 60 * 60 * 1000;
/** So long a person may look elsewhere and is here all the same. */
const aMinute = 60_000;

export class Parley {
  /** @type {Map<string, Set<(detail: any) => void>>} */
  #listeners = new Map();
  /** @type {Set<(changes: Change[]) => void>} */
  #changeListeners = new Set();
  /**
   * What each tab looks at, by its name.
   * @type {Map<string, string[]>}
   */
  #lookedAt = new Map();
  /**
   * The tabs that somebody looks at.
   * @type {Set<string>}
   */
  #seen = new Set();
  /**
   * The tabs that stand in front of somebody now.
   * @type {Set<string>}
   */
  #inFront = new Set();
  /** @type {Set<MessageWindow>} */
  #windows = new Set();
  #tab = `${Math.random()}`;
  #isLeaving = false;
  #presences = new Presences();
  /** @type {import('./live.js').LiveState} */
  #connection = 'offline';
  /** @type {Problem | null} */
  #reason = null;
  #isClosed = false;

  /**
   * Opens what is held, which needs no network, and then follows the server.
   * @param {ParleyOptions} options
   */
  static async open(options = {}) {
    const client = new Client({ url: options.url, token: options.token, fetch: options.fetch });
    const name = `parley ${client.origin} ${options.account ?? ''}`;
    const store = options.store ?? (globalThis.indexedDB ? await browserStore(name) : memoryStore());
    const mirror = new Mirror();
    await mirror.load(store);
    const parley = new Parley(client, store, mirror, name, options);
    parley.#begin();
    return parley;
  }

  /**
   * @param {Client} client @param {import('./store.js').Store} opened @param {Mirror} mirror @param {string} name
   * @param {ParleyOptions} options
   */
  constructor(client, opened, mirror, name, options) {
    this.client = client;
    // What is still under way when the place is closed writes nothing any longer: who opens it next would not hear of it.
    /** @type {import('./store.js').Store} */
    const store = {
      ...opened,
      update: (sources, decide) =>
        this.#isClosed ? Promise.reject(new DOMException('closed', 'AbortError')) : opened.update(sources, decide),
    };
    this.store = store;
    this.mirror = mirror;
    this.options = options;
    const publish = (/** @type {Change[]} */ changes) => this.#publish(changes);
    const emit = (/** @type {string} */ kind, /** @type {any} */ detail) => this.#tell(kind, detail);
    const now = () => ({
      generation: mirror.generation,
      cursor: mirror.cursor === null ? 0 : readCursor(mirror.cursor).id,
      me: mirror.me?.id ?? null,
    });
    this.pages = new Pages({ client, store, now, publish, want: (name) => this.#want(name) });
    this.outbox = new Outbox({ client, store, now, operations: () => mirror.outbox, publish, emit });
    this.tabs = new Tabs({
      name,
      locks: options.locks,
      BroadcastChannel: options.BroadcastChannel,
      onMessage: (message) => this.#heard(message),
      onLead: (isFirst) => this.#lead(isFirst),
      onFollow: () => this.#takeUntold(),
    });
    this.looking = new Looking({ after: options.awayAfter ?? aMinute, onChange: () => this.#look() });
    client.onActivity = (underWay) => this.#emit('activity', underWay);
    this.on('presence', (said) => this.#presences.note(said));
  }

  #begin() {
    this.tabs.start();
    this.looking.start();
    this.#look();
    globalThis.addEventListener?.('online', this.#isBack);
    for (const name of ['pagehide', 'pageshow']) globalThis.addEventListener?.(name, this.#leaves);
    globalThis.document?.addEventListener('visibilitychange', this.#turns);
  }

  #turns = () => this.#look();

  /** Whether a tab of this device stands in front of somebody now: then there is no need to call them. */
  get isInFront() {
    return this.#inFront.size > 0;
  }

  #isBack = () => this.outbox.kick({ isBack: true });

  /** A tab that is closed looks at nothing, and the others are told. */
  #leaves = (/** @type {Event} */ { type }) => {
    this.#isLeaving = type === 'pagehide';
    this.#look();
  };

  // What is held.

  /** Oneself, once known. */
  get me() {
    return this.mirror.me;
  }

  get settings() {
    return this.mirror.value('settings');
  }

  /**
   * One's own conversations, the last active first.
   * @returns {any[]}
   */
  get conversations() {
    const active = (/** @type {any} */ one) => one.last_message_id ?? one.id;
    return [...this.mirror.conversations.values()]
      .filter((one) => one.role !== undefined || one.unread_count !== undefined)
      .sort((a, b) => compareIds(active(b), active(a)));
  }

  /** @returns {any[]} */
  get forums() {
    const inOrder = (/** @type {any} */ a, /** @type {any} */ b) => a.position - b.position || compareIds(a.id, b.id);
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
   * A person, fetched when nobody has told of them yet.
   * @param {string} id
   */
  person(id) {
    const held = this.mirror.people.get(id) ?? null;
    if (!held) this.#want(`user:${id}`);
    return held;
  }

  /**
   * How somebody is here, while one follows `presence`; null where nothing was told, as of those who don't show it.
   * @param {string} id
   */
  presenceOf(id) {
    return this.#presences.of(id);
  }

  /**
   * Asks anew for what no event tells of: `forum:3`, `user:7`, `message:1042`.
   * @param {string} name
   */
  renew(name) {
    this.#want(name);
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
   * How far the others have come with a message of one's own: `delivering` (here), `delivered` (the server has it),
   * `some_read`, `all_read`.
   * @param {any} message
   */
  statusOf(message) {
    if (message.id === null) return 'delivering';
    const { participants } = this.mirror.conversations.get(message.conversation_id) ?? {};
    const others = (participants ?? []).filter((/** @type {any} */ one) => one.user_id !== message.author_id);
    const hasRead = (/** @type {any} */ one) =>
      (this.mirror.receipts.get(String([message.conversation_id, one.user_id]))?.read_up_to ?? 0) >= message.seq;
    const read = others.filter(hasRead).length;
    if (read === 0) return message.status ?? 'delivered';
    return read === others.length ? 'all_read' : message.status === 'all_read' ? 'all_read' : 'some_read';
  }

  /**
   * What the person said and the server has lost in a restore: it exists only here.
   * @returns {any[]}
   */
  get lost() {
    return this.mirror.value('lost') ?? [];
  }

  /** Says all of it again, under the names it had. */
  async sendLost() {
    for (const { client_id: id, conversation_id, text, annotations, attachments } of this.lost) {
      await this.outbox.add({
        kind: 'send', conversation_id, body: { text, annotations, attachments }, ...(id ? { id } : {}),
      });
    }
    await this.forgetLost();
  }

  async forgetLost() {
    this.#publish(await this.store.update([], () => [{ table: 'place', key: 'lost' }]));
  }

  // What a person does. Each is kept before it returns, and sent when there is a network.

  /**
   * @param {string} conversation
   * @param {{ text?: string, reply_to?: string, annotations?: any[], machine_only?: boolean }} message
   * @param {Blob[]} files
   */
  send(conversation, message, files = []) {
    return this.outbox.add({ kind: 'send', conversation_id: conversation, body: message }, files);
  }

  /** @param {any} message As a window gives it. @param {{ text?: string, attachments?: string[] }} change */
  edit(message, change) {
    return this.outbox.add({ kind: 'edit', body: change, ...about(message) });
  }

  /** @param {any} message */
  delete(message) {
    return this.outbox.add({ kind: 'delete', ...about(message) });
  }

  /**
   * Sets or takes back a mark: `like`, `star`, `reaction:👍`.
   * @param {any} message @param {string} type @param {boolean} on
   */
  async act(message, type, on = true) {
    // Both ways before anything was sent: nothing has happened.
    const about_ = about(message);
    const isOpposite = (/** @type {Operation} */ op) =>
      op.kind === (on ? 'unact' : 'act') && op.body.type === type && op.tries === 0 &&
      (op.message_id ?? op.target) === (about_.message_id ?? about_.target);
    const opposite = this.mirror.outbox.find(isOpposite);
    if (opposite) return this.outbox.cancel(opposite.id);
    if (Boolean(message.actions?.[type]?.mine) === on) return undefined;
    return this.outbox.add({ kind: on ? 'act' : 'unact', body: { type }, ...about_ });
  }

  /**
   * Up to here everything has been read. It shows at once and is told later.
   * @param {any} message
   */
  async markRead(message) {
    const { conversation_id: id, seq } = message;
    const held = this.mirror.conversations.get(id);
    if (seq === null || !held || (held.read_up_to ?? Infinity) >= seq) return;
    const isAll = seq >= (held.last_seq ?? 0);
    const marksOf = (/** @type {any} */ row) => ({
      read_up_to: Math.max(row.read_up_to ?? 0, seq), ...(isAll ? { unread_count: 0 } : {}),
    });
    this.#publish(
      await this.store.update([['conversations', id]], ([row]) =>
        row ? [put('conversations', { ...row, ...marksOf(row) })] : [],
      ),
    );
    if (!isAll) this.#want(`unread:${id}`);
    await this.outbox.add({ kind: 'read', conversation_id: id, body: { message_id: message.id } });
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
   * Tells the others that one is typing, at most every four seconds.
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
   * What is being written in a conversation.
   * @param {string} conversation
   */
  draft(conversation) {
    return this.mirror.drafts.get(conversation)?.value ?? null;
  }

  /** @param {string} conversation @param {any} value Null when there is nothing left to keep. */
  async setDraft(conversation, value) {
    const change = value === null
      ? { table: 'drafts', key: conversation }
      : put('drafts', { conversation_id: conversation, value });
    // Whoever leaves and comes back while the disk is busy finds it.
    this.#publish([change]);
    this.#drafts.set(conversation, change);
    this.#keeping ??= this.#keepDrafts().finally(() => {
      this.#keeping = null;
    });
    await this.#keeping;
  }

  /**
   * What is to be written of what is being written. Each letter changes it: while the disk is busy, only the last counts.
   * @type {Map<string, Change>}
   */
  #drafts = new Map();
  /** @type {Promise<void> | null} */
  #keeping = null;

  async #keepDrafts() {
    while (this.#drafts.size > 0) {
      const changes = [...this.#drafts.values()];
      this.#drafts.clear();
      await this.store.update([], () => changes);
    }
  }

  // What a person looks at.

  /**
   * A view of a conversation. It shows nothing until `latest` or `around` is called.
   * @param {string} conversation
   * @param {(window: MessageWindow, deltas: import('./window.js').Delta[]) => void} onChange
   * @param {{ size?: number, page?: number }} options
   */
  window(conversation, onChange, options = {}) {
    const close = this.follow(`conversation:${conversation}`);
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
   * Follows a conversation or a forum for as long as it is looked at. One's own conversations are followed anyway.
   * @param {string} topic `conversation:12`, `forum:3`, or `presence`. @returns {() => void} Ends it.
   */
  follow(topic) {
    this.#topics.push(topic);
    this.#look();
    let isOpen = true;
    return () => {
      if (!isOpen) return;
      isOpen = false;
      this.#topics.splice(this.#topics.indexOf(topic), 1);
      this.#look();
    };
  }

  /**
   * What this tab looks at.
   * @type {string[]}
   */
  #topics = [];

  /** Says what is looked at here. Who is here is told only to whoever looks. */
  #look() {
    const isSeen = this.looking.isLooking && !this.#isLeaving;
    const topics = this.#isLeaving ? [] : this.#topics.filter((topic) => isSeen || topic !== 'presence');
    const isInFront = !this.#isLeaving && globalThis.document?.visibilityState !== 'hidden';
    const look = { kind: 'look', tab: this.#tab, topics, isSeen, isInFront, isLeaving: this.#isLeaving };
    this.#takeLook(look);
    this.tabs.tell(look);
  }

  /** @param {{ tab: string, topics: string[], isSeen: boolean, isInFront: boolean, isLeaving: boolean }} look */
  #takeLook({ tab, topics, isSeen, isInFront, isLeaving }) {
    if (isInFront) this.#inFront.add(tab);
    else this.#inFront.delete(tab);
    if (topics.length > 0) this.#lookedAt.set(tab, topics);
    else this.#lookedAt.delete(tab);
    // Another tab that is loaded anew is here again at once; one that was closed was a look elsewhere, and those have time.
    if (isLeaving && tab !== this.#tab && this.#seen.has(tab)) {
      clearTimeout(this.#goesAway);
      this.#goesAway = setTimeout(() => {
        this.#goesAway = undefined;
        this.#followAll();
      }, this.options.awayAfter ?? aMinute);
    }
    if (isSeen) this.#seen.add(tab);
    else this.#seen.delete(tab);
    this.#followAll();
  }

  #followAll() {
    const all = new Set([...this.#lookedAt.values()].flat());
    for (const topic of all) if (/^(conversation|user):/.test(topic) && this.mirror.isOwn(topic)) all.delete(topic);
    this.sync?.follow(all);
    const isSeen = this.#seen.size > 0;
    if (isSeen) this.#staysHere();
    // The last tab that goes is gone, or here again at once: in neither case is anybody away.
    if (isSeen || (!this.#isLeaving && this.#goesAway === undefined)) this.sync?.present(isSeen ? 'online' : 'away');
  }

  /**
   * When it counts that the tab that was looked at is gone.
   * @type {ReturnType<typeof setTimeout> | undefined}
   */
  #goesAway;

  #staysHere() {
    clearTimeout(this.#goesAway);
    this.#goesAway = undefined;
  }

  /**
   * What is held first, and then what the server says. A cached answer that comes late is dropped.
   * @template T
   * @param {{ cached: () => Promise<T | null>, fresh: () => Promise<T> }} answers
   * @param {(answer: T, isCached: boolean) => void} onAnswer
   * @returns {Promise<T>}
   */
  async both({ cached, fresh }, onAnswer) {
    let isFresh = false;
    const early = cached().then((answer) => {
      if (answer !== null && !isFresh) onAnswer(answer, true);
    });
    const answer = await fresh();
    isFresh = true;
    await early;
    onAnswer(answer, false);
    return answer;
  }

  /** A client's configuration, asked for once a day. */
  async server() {
    const held = this.mirror.value('server');
    if (held && Date.now() - held.at < day) return held.server;
    const server = await this.client.calls.getServer();
    const row = { name: 'server', value: { at: Date.now(), server } };
    this.#publish(await this.store.update([], () => [put('place', row)]));
    return server;
  }

  /**
   * Messages that are held, newest first.
   * @param {import('./search.js').Search} search @param {AbortSignal} [signal]
   */
  searchHeld(search, signal) {
    return searchHeld(this.store, this.conversations.map(({ id }) => id), search, signal);
  }

  /**
   * Fetches all of a conversation, going on from where an earlier try came to.
   * @param {string} conversation
   * @param {{ signal?: AbortSignal, onProgress?: (held: number, all: number) => void }} options
   */
  fetchAll(conversation, options = {}) {
    return this.pages.all(conversation, options);
  }

  /**
   * Compares what is held with the server, and mends it.
   * @param {string} conversation
   */
  verify(conversation) {
    return verify(this.pages, conversation);
  }

  // What happens.

  /**
   * `change` (what is held), `state`, `event`, `sent`, `failed`, `cancelled`, `waiting`, `progress`, `typing`,
   * `presence` (of whom one follows it; null when all of it is forgotten), `forumActivity`, `activity` (calls under way), `notice`, `reset`, `signedOut`, `accountChanged`,
   * `fault`.
   * @param {string} kind @param {(detail: any) => void} listener @returns {() => void} Ends it.
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
    if (this.#isClosed) return;
    if (kind === 'state') {
      this.#become(detail.connection, detail.reason);
      this.tabs.tell({ kind: 'state', connection: detail.connection, reason: detail.reason?.toJSON() ?? null });
      return;
    }
    this.#emit(kind, detail);
    if (kind !== 'fault' && kind !== 'event') this.tabs.tell({ kind: 'told', name: kind, detail: plain(detail) });
  }

  /** @param {import('./live.js').LiveState} connection @param {Problem | null} reason */
  #become(connection, reason) {
    this.#connection = connection;
    this.#reason = reason;
    if (connection === 'live') this.outbox.kick({ isBack: true });
    else if (this.#presences.all.length > 0) this.#emit('presence', null);
    this.#emit('state', this.state);
    if (reason?.isSignedOut || reason?.code === 'session_ended') this.#emit('signedOut', reason);
  }

  /**
   * What was written here: seen here, and told to the other tabs.
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
    this.mirror.apply(changes);
    // From the next hello on the server says it by itself.
    if (isShown === false && this.me?.show_presence) this.sync?.presentAnew();
    for (const listener of this.#changeListeners) listener(changes);
    this.#emit('change', changes);
    if (changes.some(({ table }) => table === 'outbox')) this.#emit('state', this.state);
  }

  /** @param {any} message */
  #heard(message) {
    if (this.#isClosed) return;
    switch (message.kind) {
      case 'changes':
        this.#apply(message.changes);
        if (message.changes.some((/** @type {Change} */ { table }) => table === 'outbox')) this.outbox.kick();
        break;
      case 'told':
        this.#emit(message.name, message.detail);
        break;
      case 'state':
        if (!this.tabs.isLeader) this.#become(message.connection, message.reason && new Problem(message.reason));
        break;
      case 'look':
        this.#takeLook(message);
        if (this.tabs.isLeader && message.topics.includes('presence'))
          for (const one of this.#presences.all) this.tabs.tell({ kind: 'told', name: 'presence', detail: one });
        break;
      case 'want':
        this.sync?.want(message.name);
        break;
      case 'leader':
        // A new one asks who looks at what, and says where it stands.
        this.#look();
        if (!this.tabs.isLeader) this.#takeUntold();
        break;
      case 'erased':
        this.close();
        this.#emit('signedOut', null);
        break;
    }
  }

  /** @param {string} name */
  #want(name) {
    if (this.sync) this.sync.want(name);
    else this.tabs.tell({ kind: 'want', name });
  }

  /** Shows what the disk has and nobody told: the tab that wrote it was gone before it could, or this one did not listen yet. */
  async #takeUntold() {
    try {
      const windows = [...this.#windows].map((window) => window.untold());
      const [held, ...shown] = await Promise.all([this.mirror.untold(this.store), ...windows]);
      if (this.#isClosed) return;
      for (const changes of [held, ...shown]) this.#apply(changes());
    } catch (error) {
      if (!this.#isClosed) this.#tell('fault', error);
    }
  }

  /**
   * This tab has the connection now, and sends what waits. What the one before it wrote at last may not have been told.
   * @param {boolean} isFirst
   */
  async #lead(isFirst) {
    // It is there before the disk is read: what is wanted meanwhile is fetched.
    this.sync = new Sync({
      client: this.client,
      store: this.store,
      mirror: this.mirror,
      pages: this.pages,
      publish: (changes) => this.#publish(changes),
      emit: (kind, detail) => this.#tell(kind, detail),
      live: this.options.live,
    });
    if (!isFirst) {
      // The one before may have gone without a word; the others say anew what they look at.
      for (const tabs of [this.#inFront, this.#seen, this.#lookedAt]) tabs.clear();
      this.#look();
      await this.#takeUntold();
      if (this.#isClosed) return;
    }
    this.tabs.tell({ kind: 'leader' });
    this.#followAll();
    this.outbox.start();
    try {
      if (this.mirror.cursor !== null && !(await this.#isSamePerson())) return;
      await this.sync.start();
    } catch (error) {
      this.#tell('fault', error);
    }
  }

  /** Somebody else may have signed in since: what is held is not theirs. Without a network they are the same. */
  async #isSamePerson() {
    try {
      const me = await this.client.calls.getUser({ id: 'me', tries: 1 });
      if (me.id === this.mirror.me?.id) return true;
      this.#connection = 'stopped';
      this.outbox.stop();
      this.#emit('accountChanged', me);
      return false;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      if (!error.isSignedOut) return true;
      this.#tell('state', { connection: 'stopped', reason: error });
      return false;
    }
  }

  /** How much waits that a person would miss. */
  get unsent() {
    return this.mirror.outbox.filter(({ kind }) => kind !== 'read').length;
  }

  /**
   * Ends the session and erases everything that is held here, in every tab. Refused while something waits unsent,
   * unless it is forced; then that is lost.
   * @param {{ isForced?: boolean }} options
   */
  async signOut({ isForced = false } = {}) {
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
    await this.erase();
  }

  /** Erases everything that is held here, in every tab, and closes. */
  async erase() {
    this.tabs.tell({ kind: 'erased' });
    this.sync?.stop();
    this.outbox.stop();
    await this.store.erase();
    this.close();
  }

  close() {
    if (this.#isClosed) return;
    this.#isClosed = true;
    globalThis.removeEventListener?.('online', this.#isBack);
    for (const name of ['pagehide', 'pageshow']) globalThis.removeEventListener?.(name, this.#leaves);
    globalThis.document?.removeEventListener('visibilitychange', this.#turns);
    this.looking.stop();
    this.#staysHere();
    this.sync?.stop();
    this.outbox.stop();
    this.tabs.close();
    this.store.close();
  }
}

/**
 * Which message, sent or not.
 * @param {any} message
 */
const about = ({ id, client_id, conversation_id }) =>
  id === null ? { conversation_id, target: client_id } : { conversation_id, message_id: id };

/**
 * What other tabs can be told.
 * @param {any} detail
 */
const plain = (detail) =>
  detail?.problem instanceof Problem ? { ...detail, problem: detail.problem.toJSON() } : detail;

export { Client, MessageWindow, Problem };
export { browserStore, memoryStore } from './store.js';
export { buildNodes, parseMarkup, plainText } from './markup.js';
export { newClientId, compareIds } from './ids.js';
