// Keeps the cache equal to the server: a snapshot first, then every event in order, each stored in one transaction with
// its cursor. After a `reset`, when the server cannot replay, every conversation is compared by its digest and differences
// are fetched before the cursor moves.

import { withoutRange } from './history.js';
import { moveCursor, readCursor } from './ids.js';
import { Live } from './live.js';
import { Problem } from './problem.js';
import {
  Rows, acknowledge, agesOf, dropConversation, everyConversation, historySources, isAnother, isOutdated, isUnread, keepLost,
  mergeConversation, mergeMessage, mergeThing, position, putMe, reduce, sourcesOf, unconfirmed, unknownAge, wantLater,
} from './reducer.js';
import { put } from './store.js';
import { wait } from './time.js';

/** @typedef {import('./store.js').Change} Change @typedef {import('./store.js').Source} Source */
/** @typedef {import('./reducer.js').Event} Event */
/**
 * @typedef {object} SyncOptions
 * @property {import('./client.js').Client} client
 * @property {import('./store.js').Store} store
 * @property {import('./mirror.js').Mirror} mirror
 * @property {import('./pages.js').Pages} pages
 * @property {(changes: Change[]) => void} publish
 * @property {(kind: string, detail: any) => void} emit
 * @property {Partial<import('./live.js').LiveOptions>} [live] Options for tests.
 */

/** Comparisons are rare, so their module is loaded when needed. */
const verifying = () => import('./verify.js');

/** Work that is queued among the events. */
const control = ['lagging', 'reset', 'notice', 'complete', 'restarted'];

/** Events that are kept in one transaction, at most. */
const mostAtOnce = 200;
const mostUsers = 100;

export class Sync {
  /**
   * Frames that wait for their turn.
   * @type {any[]}
   */
  #queue = [];
  #isPumping = false;
  /**
   * Topics that are subscribed because a view shows them.
   * @type {Set<string>}
   */
  topics = new Set();
  /**
   * Things to ask the server for, by name.
   * @type {Set<string>}
   */
  #wanted = new Set();
  #isFetching = false;
  /** @type {'online' | 'away'} */
  #presence = 'online';
  #stop = new AbortController();
  /**
   * What answers have changed before the last hello: its catch-up covers them.
   * @type {Record<string, { at: number }>}
   */
  #beforeHello = {};
  /** The position at the last hello. */
  #atHello = 0;

  /** @param {SyncOptions} options */
  constructor({ client, store, mirror, pages, publish, emit, live }) {
    this.client = client;
    this.store = store;
    this.mirror = mirror;
    this.pages = pages;
    this.publish = publish;
    this.emit = emit;
    this.live = new Live({
      ...live,
      url: client.origin,
      token: client.token,
      hello: async () => {
        const answers = Object.entries(this.mirror.value('unconfirmed') ?? {});
        this.#beforeHello = Object.fromEntries(answers.filter(([, { isAnswer }]) => isAnswer));
        this.#atHello = this.mirror.position;
        return { cursor: this.mirror.cursor, topics: ['me'] };
      },
      onFrame: (frame) => this.#take(frame),
      onState: (state, reason) => this.#changed(state, reason),
    });
  }

  /** Fetches a first snapshot where there is none, and follows. It keeps trying until `stop`. */
  async start() {
    const { signal } = this.#stop;
    for (let tries = 1; !signal.aborted && this.mirror.cursor === null; tries++) {
      try {
        this.emit('state', { connection: 'connecting', reason: null });
        await this.#keepSnapshot(await this.#snapshot(), { isFirst: true });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        this.emit('state', { connection: error.isTemporary ? 'offline' : 'stopped', reason: error });
        if (!error.isTemporary) return;
        await wait(error.retryAfter ?? this.live.options.pause(tries), signal);
      }
    }
    for (const name of this.mirror.value('wanted') ?? []) this.#wanted.add(name);
    if (this.mirror.hasNotifications && this.mirror.value('inbox') === null) this.#wanted.add('inbox');
    if (!signal.aborted) this.live.start();
  }

  stop() {
    this.#stop.abort();
    this.#queue = [];
    this.live.stop();
  }

  /**
   * Subscribes to conversations and forums beyond the user's own, while a view shows them.
   * @param {Set<string>} topics
   */
  subscribe(topics) {
    const added = [...topics].filter((topic) => !this.topics.has(topic));
    const gone = [...this.topics].filter((topic) => !topics.has(topic));
    this.topics = new Set(topics);
    if (gone.includes('presence')) this.emit('presence', null);
    if (this.live.state !== 'live') return;
    if (gone.length > 0) this.live.command('unsubscribe', { topics: gone }).catch(() => {});
    if (added.length > 0) this.#subscribe(added).catch(() => this.live.restart());
  }

  /**
   * Sends the device's presence. The server assumes `online` after a connect.
   * @param {'online' | 'away'} presence
   */
  present(presence) {
    if (presence === this.#presence) return;
    this.#presence = presence;
    this.presentAnew();
  }

  presentAnew() {
    if (this.live.state === 'live') this.live.command('presence', { state: this.#presence }).catch(() => {});
  }

  // Incoming frames.

  /** @param {any} frame */
  #take(frame) {
    if (frame.event !== undefined && frame.offset === undefined) return this.#signal(frame);
    this.#queue.push(frame);
    return this.#pump();
  }

  /**
   * The lossy lane: shown at once, kept nowhere.
   * @param {any} frame
   */
  #signal(frame) {
    if (control.includes(frame.event)) {
      this.#queue.push(frame);
      this.#pump();
      return;
    }
    // Drops events of an earlier subscription to the same topic.
    if (frame.event === 'presence' && !this.topics.has('presence')) return;
    this.emit(frame.event === 'forum.activity' ? 'forumActivity' : frame.event, frame.data ?? frame);
  }

  async #pump() {
    if (this.#isPumping) return;
    this.#isPumping = true;
    try {
      while (this.#queue.length > 0 && !this.#stop.signal.aborted) {
        const isEvent = (/** @type {any} */ frame) => frame.event !== undefined && frame.offset !== undefined;
        const other = this.#queue.findIndex((frame) => !isEvent(frame));
        const count = Math.min(mostAtOnce, other === -1 ? this.#queue.length : other);
        if (count > 0) await this.apply(this.#queue.splice(0, count));
        else await this.#control(this.#queue.shift());
      }
    } catch (error) {
      // After a failed write or request, the sync restarts from the cursor.
      this.#queue = [];
      if (!(error instanceof Problem)) this.emit('fault', error);
      this.live.restart();
    } finally {
      this.#isPumping = false;
    }
  }

  /** @param {any} frame */
  async #control(frame) {
    if (frame.event === 'reset' || (frame.hello && frame.reset)) {
      await this.#reset(frame.reason);
      this.live.restart();
    } else if (frame.hello && frame.user_id !== undefined && frame.user_id !== this.mirror.me?.id) {
      this.live.stop();
      this.emit('accountChanged', { id: frame.user_id });
    } else if (frame.hello) {
      if (frame.cursor) await this.#moveCursor(frame.cursor, { covered: this.#atHello });
      if (Object.keys(this.#beforeHello).length > 0) await this.#confirm(this.#beforeHello);
      this.live.caughtUp();
      if (this.#presence === 'away') this.presentAnew();
      if (this.topics.size > 0) await this.#subscribe([...this.topics]);
    } else if (frame.event === 'restarted') {
      await this.#restart(frame.cursor);
      this.#beforeHello = {};
    } else if (frame.event === 'lagging') {
      // Later events and the cursor wait until this stream is complete.
      await this.#subscribe([frame.stream], { isLagging: true });
    } else if (frame.event === 'notice') {
      if (frame.code === 'lost') this.want(frame.topic.replace(/\/messages$/, ''));
      this.emit('notice', frame);
    }
  }

  /**
   * Subscribes first and then fetches the missed events of the streams, so that there is no gap between.
   * @param {string[]} topics @param {{ isLagging?: boolean }} options `isLagging`: the server has dropped events of them.
   */
  async #subscribe(topics, { isLagging = false } = {}) {
    try {
      const asked = topics.map((topic) => (/^(site$|user:)/.test(topic) ? 'me' : topic));
      await this.live.command('subscribe', { topics: [...new Set(asked)].map((topic) => ({ topic })) });
      for (const topic of topics) {
        const held = await this.store.get('streams', topic);
        if (held) await this.#pull(topic, held.offset);
        else if (isLagging || this.mirror.value('uncompared')?.includes(topic)) await this.#compareWithoutOffset(topic);
        // The cached conversation may be of before the subscription.
        else if (topic.startsWith('conversation:')) await this.#wantLater(topic);
      }
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      // A stream that is not readable needs no catch-up.
      if (error.isTemporary) throw error;
    }
  }

  /**
   * Compares the copy of a topic whose offset was forgotten: its missed events cannot be named.
   * @param {string} topic
   */
  async #compareWithoutOffset(topic) {
    const [kind, id] = topic.split(':');
    if (kind === 'conversation' || kind === 'forum') await this.#wantLater(topic);
    const isHeld = kind === 'conversation' && (await this.pages.history(id)).held.length > 0;
    if (isHeld) await this.#compare(id, this.mirror.position);
    await this.#keep([['site', 'uncompared']], (rows) => {
      const names = rows.get('site', 'uncompared')?.value ?? [];
      rows.put('site', { name: 'uncompared', value: names.filter((/** @type {string} */ name) => name !== topic) });
    });
  }

  /**
   * Forgets the offsets of streams. The copies of viewed ones are compared when they are subscribed again.
   * @param {Rows} rows With `['site', 'uncompared']`. @param {string[]} names
   */
  #forgetOffsets(rows, names) {
    for (const name of names) rows.remove('streams', name);
    const viewed = names.filter((name) => !this.mirror.isOwn(name));
    const before = rows.get('site', 'uncompared')?.value ?? [];
    if (viewed.length > 0) rows.put('site', { name: 'uncompared', value: [...new Set([...before, ...viewed])] });
  }

  /**
   * Applies events that follow one another, and keeps them with the cursor in one transaction.
   * @param {Event[]} events
   */
  async apply(events) {
    let left = events;
    while (left.length > 0) {
      const { changes, outcomes, gap } = await this.#keepEvents(left);
      this.publish(changes);
      left.slice(0, outcomes.length).forEach((event, index) => this.#announce(event, outcomes[index]));
      left = left.slice(outcomes.length);
      if (!gap) return;
      await this.#pull(gap.stream, gap.after);
      const stream = await this.store.get('streams', gap.stream);
      // The gap cannot be fetched, so the event is applied alone.
      if (stream && stream.offset < left[0].offset - 1) await this.#skipTo(gap.stream, left[0].offset - 1);
    }
  }

  /** @param {Event[]} events */
  async #keepEvents(events) {
    const context = this.mirror.context;
    /** @type {Map<string, Source>} */
    const sources = new Map([
      ['cursor', /** @type {Source} */ (['site', 'cursor'])],
      ['wanted', /** @type {Source} */ (['site', 'wanted'])],
    ]);
    for (const event of events) {
      for (const source of sourcesOf(event, context.me)) sources.set(JSON.stringify(source), source);
    }
    const isConfirmation = (/** @type {Event} */ { data }) => this.mirror.operation(data?.client_id) !== undefined;
    const isReplay = this.live.state !== 'live' && !this.mirror.value('isReplaying');
    /** @type {{ outcomes: import('./reducer.js').Outcome[], gap: { stream: string, after: number } | null }} */
    const kept = { outcomes: [], gap: null };
    const list = [...sources.values()];
    const changes = await this.store.update(list, (found) => {
      const rows = new Rows(list, found);
      const cursor = rows.get('site', 'cursor');
      let last = Number(cursor ? readCursor(cursor.value).id : 0);
      kept.outcomes = [];
      kept.gap = null;
      for (const event of events) {
        const outcome = reduce(rows, event, context);
        if (outcome.result === 'gap') {
          kept.gap = { stream: event.stream, after: rows.get('streams', event.stream).offset };
          break;
        }
        kept.outcomes.push(outcome);
        // Events of additionally subscribed topics arrive out of order and do not move the cursor.
        if (this.mirror.isOwn(event.stream)) last = Math.max(last, Number(event.id));
      }
      // Pending refetches are stored, so that they survive a closed page, and wanted before the transaction ends, so
      // that a refetch that ends meanwhile does not remove them.
      const names = kept.outcomes.flatMap(wantedBy);
      wantLater(rows, ...names);
      for (const name of names) this.#wanted.add(name);
      if (cursor && last > readCursor(cursor.value).id) {
        rows.put('site', { ...cursor, value: moveCursor(cursor.value, last) });
        if (isReplay) rows.put('site', { name: 'isReplaying', value: true });
      }
      return rows.changes;
    }, { isDurable: events.some(isConfirmation) });
    return { changes, ...kept };
  }

  /** @param {Event} event @param {import('./reducer.js').Outcome} outcome */
  #announce(event, outcome) {
    if (outcome.result === 'known') return;
    this.emit('event', event);
    for (const name of wantedBy(outcome)) this.want(name);
  }

  /**
   * Fetches a stream's events after an offset. If the log no longer has them, fetches the thing itself.
   * @param {string} stream @param {number} after
   */
  async #pull(stream, after) {
    /** @type {string | undefined} */
    let next;
    const { generation, start } = this.mirror;
    for (;;) {
      let page;
      try {
        page = await this.client.calls.listStreamEvents({ stream, query: { after_offset: after, limit: 200, next } });
      } catch (error) {
        if (!(error instanceof Problem) || ![403, 404, 410].includes(error.status)) throw error;
        if (error.status === 410) await this.#renew(stream);
        else this.want(stream);
        return;
      }
      // A comparison follows.
      if (this.mirror.generation !== generation || this.mirror.start !== start) return;
      if (page.data.length > 0) {
        const { changes, outcomes } = await this.#keepEvents(page.data);
        this.publish(changes);
        await this.#noteAhead(stream, readCursor(page.cursor).id);
        page.data.slice(0, outcomes.length).forEach((/** @type {Event} */ event, /** @type {number} */ index) =>
          this.#announce(event, outcomes[index]),
        );
      }
      if (page.next === null) return;
      next = page.next;
    }
  }

  /**
   * Notes that a cached conversation reflects events up to `event`, which the cursor may be before.
   * @param {string} stream @param {number} event
   */
  async #noteAhead(stream, event) {
    const [kind, id] = stream.split(':');
    if (kind !== 'conversation' || event <= this.mirror.lastEvent) return;
    await this.#keep([['history', id]], (rows) => {
      const history = rows.get('history', id);
      if (history) rows.put('history', { ...history, ahead: Math.max(history.ahead ?? 0, event) });
    });
  }

  /** @param {string} stream @param {number} offset */
  async #skipTo(stream, offset) {
    await this.store.update([['streams', stream]], () => [put('streams', { name: stream, offset })]);
    await this.#renew(stream);
  }

  /**
   * Compares a thing with the server's after its events were trimmed.
   * @param {string} stream
   */
  async #renew(stream) {
    this.want(stream);
    const [kind, id] = stream.split(':');
    if (kind === 'conversation') await (await verifying()).verify(this.pages, id, { isFollowing: false });
  }

  // Refetching.

  /**
   * Fetches a thing soon: `conversation:12`, `forum:3`, `user:7`, `message:1042`, `inbox`, or `unread:12`.
   * @param {string} name
   */
  want(name) {
    this.#wanted.add(name);
    if (!this.#isFetching) queueMicrotask(() => this.#fetchWanted());
  }

  /**
   * Fetches a thing soon, also after a restart of the app.
   * @param {string} name
   */
  async #wantLater(name) {
    await this.#keep([['site', 'wanted']], (rows) => wantLater(rows, name));
    this.want(name);
  }

  async #fetchWanted() {
    if (this.#isFetching) return;
    this.#isFetching = true;
    /** Answers in a row that were older than the cache: of a slow reader, or of a server that went back in time. */
    let behind = 0;
    try {
      for (const name of this.#wanted) {
        const names = this.#together(name);
        for (const one of names) this.#wanted.delete(one);
        if (this.#stop.signal.aborted) return;
        try {
          const isBehind = names.length > 1 ? await this.#fetchUsers(names) : await this.#fetchOne(name);
          behind = isBehind ? behind + 1 : 0;
          await this.#settled(names);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          if (!error.isTemporary) {
            await this.#settled(names);
            continue;
          }
          // Without a network there is no use in the rest; it is asked for again when there is one.
          for (const one of names) this.#wanted.add(one);
          await wait(error.retryAfter ?? this.live.options.pause(1), this.#stop.signal);
          if (this.live.state !== 'live') return;
        }
        // The reset that follows needs its turn.
        if (behind > 1) {
          await wait(this.live.options.pause(behind - 1), this.#stop.signal);
          if (this.live.state !== 'live') return;
        }
      }
    } catch (error) {
      this.emit('fault', error);
    } finally {
      this.#isFetching = false;
    }
  }

  /**
   * The wanted things that are fetched together with `name`: users are, in one request.
   * @param {string} name
   */
  #together(name) {
    const isUser = (/** @type {string} */ one) => /^user:[1-9]\d*$/.test(one);
    return isUser(name) && this.mirror.me ? [...this.#wanted].filter(isUser).slice(0, mostUsers) : [name];
  }

  /** @param {string[]} names @returns {Promise<void>} */
  async #fetchUsers(names) {
    const ids = names.map((name) => name.slice('user:'.length));
    const call = () => this.client.calls.listUsers({ query: { ids: ids.join(',') } });
    await this.#keepAnswer(call, ids.map((id) => ['users', id]), (rows, found, known) => {
      const users = new Map((found?.data ?? []).map((/** @type {any} */ user) => [user.id, user]));
      for (const id of ids) this.#keepThing(rows, 'users', id, users.get(id) ?? null, known);
    });
  }

  /**
   * Stores the answer of a user or forum. The cursor may be before it.
   * @param {Rows} rows @param {'users' | 'forums'} table @param {string} id @param {any} found Null if it is gone.
   * @param {number} known
   */
  #keepThing(rows, table, id, found, known) {
    if (!found) return rows.remove(table, id);
    return rows.put(table, { ...mergeThing(rows.get(table, id), found, known), ahead: this.mirror.position });
  }

  /** @param {string[]} names */
  async #settled(names) {
    // Wanted again meanwhile: then it stays until that is done, too.
    const isSettled = (/** @type {string} */ name) => names.includes(name) && !this.#wanted.has(name);
    if (!this.mirror.value('wanted')?.some(isSettled)) return;
    await this.#keep([['site', 'wanted']], (rows) => {
      const held = rows.get('site', 'wanted')?.value ?? [];
      const value = held.filter((/** @type {string} */ name) => !isSettled(name));
      if (value.length < held.length) rows.put('site', { name: 'wanted', value });
    });
  }

  /** @param {string} name @returns {Promise<boolean | void>} Whether the answer was older than the cache. */
  async #fetchOne(name) {
    const [kind, id = ''] = name.split(':');
    switch (kind) {
      case 'conversation':
        return this.#fetchConversation(id);
      case 'forum': {
        const conversations = this.mirror.conversationsOf(id);
        const call = () => this.client.calls.getForum({ id });
        await this.#keepAnswer(call, [['forums', id], unconfirmed], (rows, found, known) => {
          if (!found) dropForum(rows, id, conversations);
          else this.#keepThing(rows, 'forums', id, found, known);
        });
        return undefined;
      }
      case 'user': {
        await this.#keepAnswer(() => this.client.calls.getUser({ id }), [['users', id]], (rows, found, known) =>
          this.#keepThing(rows, 'users', id, found, known),
        );
        return undefined;
      }
      case 'message': {
        // The answer is at least as new as the row before the request, too.
        const before = await this.store.get('messages@id', id);
        /** @type {Source[]} */
        const sources = [['messages@id', id], ['site', 'wanted']];
        await this.#keepAnswer(() => this.client.calls.getMessage({ id }), sources, (rows, found, known) => {
          const held = rows.get('messages@id', id);
          if (!found || held?.seq !== found.seq) return;
          const asOf = Math.max(known, before?.known ?? 0, before?.actions_known ?? 0, before?.star_known ?? 0);
          const merged = mergeMessage(held, found, asOf);
          rows.put('messages', merged);
          const again = [
            ...(held.deleted === merged.deleted ? [] : [`unread:${found.conversation_id}`]),
            // An event was faster than the answer. Events do not have the user's own actions.
            ...(asOf < Math.max(held.actions_known ?? 0, held.star_known ?? 0) ? [name] : []),
          ];
          wantLater(rows, ...again);
          for (const one of again) this.want(one);
        });
        return undefined;
      }
      case 'inbox':
        await this.#keepAnswer(() => this.client.calls.listNotifications(), [['site', 'inbox'], unconfirmed], (rows, page) => {
          answered(rows, 'inbox');
          // Notifications about a deleted message are deleted with it.
          for (const held of this.mirror.inbox.keys()) rows.remove('inbox', held);
          for (const row of page?.data ?? []) rows.put('inbox', row);
          rows.put('site', { name: 'inbox', value: { unread: page?.unread ?? null } });
        });
        return undefined;
      case 'unread':
        return id === everyConversation ? this.#recountAll() : this.#recount(id);
      default:
        return undefined;
    }
  }

  /** @param {string} id @returns {Promise<boolean>} Whether the answer was older than the cache. */
  async #fetchConversation(id) {
    const name = `conversation:${id}`;
    /** @type {Source[]} */
    const sources = [['conversations', id], ['streams', name], ['site', 'wanted'], unconfirmed];
    let isBehind = false;
    await this.#keepAnswer(() => this.client.calls.getConversation({ id }), sources, (rows, found, known) => {
      if (!found) {
        if (rows.get('conversations', id)?.role !== undefined) answered(rows, 'gone');
        return dropConversation(rows, id);
      }
      const cached = rows.get('conversations', id);
      // The end and the read position of a row of unknown age may be of another history.
      const { read_up_to: _, delivered_up_to: __, ...undated } = cached ?? {};
      const held = cached?.known === unknownAge ? { ...undated, last_seq: 0 } : cached;
      const offset = rows.get('streams', name)?.offset ?? 0;
      // Events, or the answer to a post, were faster than this answer: its counts are of before them.
      isBehind = found.last_offset < offset || found.read_up_to < (held?.read_up_to ?? 0) ||
        found.last_seq < (held?.last_seq ?? 0);
      if (isBehind) {
        wantLater(rows, name);
        this.want(name);
      }
      answered(rows, name, id);
      const asOf = isBehind ? known : Math.max(known, held?.known ?? 0);
      return rows.put('conversations', { ...mergeConversation(held, found, asOf), ahead: this.mirror.position });
    });
    return isBehind;
  }

  /**
   * Makes a call and stores its answer. If the server has restarted meanwhile, perhaps with an older copy of its data, it
   * calls again.
   * @template T @param {() => Promise<T>} call @param {Source[]} sources
   * @param {(rows: Rows, found: T | null, known: number) => void} change `found`: null if the thing is gone. `known`: the
   *   answer is at least as new as the cursor at the time of the request.
   */
  async #keepAnswer(call, sources, change) {
    for (;;) {
      const asked = { generation: this.mirror.generation, start: this.mirror.start };
      const known = this.mirror.position;
      const found = await orGone(call());
      let isKept = false;
      await this.#keep([...sources, ...historySources], (rows) => {
        isKept = !isOutdated(rows, asked);
        if (isKept) change(rows, found, known);
      });
      if (isKept) return;
    }
  }

  /** @param {Source[]} sources @param {(rows: Rows) => void} change */
  async #keep(sources, change) {
    this.publish(
      await this.store.update(sources, (found) => {
        const rows = new Rows(sources, found);
        change(rows);
        return rows.changes;
      }),
    );
  }

  /**
   * Recomputes the unread count, locally if all messages are cached.
   * @param {string} id @returns {Promise<boolean | void>}
   */
  async #recount(id) {
    const conversation = this.mirror.conversations.get(id);
    if (!conversation) return;
    const from = (conversation.read_up_to ?? 0) + 1;
    if (!(await this.pages.isHeld(id, from, conversation.last_seq))) return this.#fetchConversation(id);
    const messages = await this.pages.held(id, from, conversation.last_seq);
    const context = this.mirror.context;
    const count = messages.filter((message) => isUnread(message, conversation, context)).length;
    await this.#keep([['conversations', id]], (rows) => {
      const now = rows.get('conversations', id);
      if (now?.read_up_to === conversation.read_up_to && now.last_seq === conversation.last_seq) {
        rows.put('conversations', { ...now, unread_count: Math.min(1000, count) });
      } else if (now) {
        this.want(`unread:${id}`);
      }
    });
  }

  /** Recomputes the unread count of all conversations, after a change of the ignored users. */
  async #recountAll() {
    for (const one of [...this.mirror.conversations.values()]) {
      if (one.unread_count !== undefined && (one.last_seq ?? 0) > (one.read_up_to ?? 0)) await this.#recount(one.id);
    }
  }

  // Beginning, and beginning anew.

  /** Fetches a snapshot, and the pages that it left out, since a snapshot is bounded. */
  async #snapshot() {
    const { signal } = this.#stop;
    const snapshot = await this.client.calls.getSnapshot({ signal });
    for (const table of /** @type {const} */ (['forums', 'conversations'])) {
      if (!snapshot[`more_${table}`]) continue;
      const listed = new Set(snapshot[table].map((/** @type {any} */ one) => one.id));
      /** @type {string | null | undefined} */
      let next;
      while (next !== null) {
        /** @type {any} */
        const list = table === 'forums' ? this.client.calls.listForums : this.client.calls.listConversations;
        const page = await list({ query: { limit: 200, next }, signal });
        for (const one of page.data) if (!listed.has(one.id)) snapshot[table].push(one);
        next = page.next;
      }
    }
    return snapshot;
  }

  /**
   * @param {string} cursor
   * @param {{ covered?: number }} options `covered`: the cursor covers all answers that were stored up to this position.
   */
  async #moveCursor(cursor, { covered } = {}) {
    await this.#keep([], (rows) => {
      if (covered !== undefined) rows.put('site', { name: 'covered', value: covered });
      rows.put('site', { name: 'cursor', value: cursor });
      rows.put('site', { name: 'start', value: readCursor(cursor).start });
      rows.remove('site', 'isResetting');
      rows.remove('site', 'isReplaying');
    });
  }

  /**
   * @param {any} snapshot
   * @param {{ isFirst: boolean, isOtherHistory?: boolean }} options `isOtherHistory`: ages cannot be compared.
   * @returns {Promise<number>} The age of the snapshot.
   */
  async #keepSnapshot(snapshot, { isFirst, isOtherHistory = false }) {
    if (this.mirror.hasNotifications) this.want('inbox');
    const { epoch, start, id } = readCursor(snapshot.cursor);
    // An interrupted reset has stored the epoch and not the cursor.
    const cursor = this.mirror.cursor;
    const before = this.mirror.value('epoch') ?? (cursor === null ? epoch : readCursor(cursor).epoch);
    const generation = this.mirror.generation + (epoch === before && !isOtherHistory ? 0 : 1);
    const known = position(generation, id);
    /** @type {Source[]} */
    const sources = [['site', 'me'], ['site', 'settings'], ['site', 'wanted']];
    for (const table of ['users', 'forums', 'conversations']) {
      for (const row of snapshot[table] ?? []) sources.push([table, row.id]);
    }
    // A snapshot is bounded: the rest of the copy is fetched, since its events are lost.
    const unlisted = ['users', 'forums', 'conversations'].flatMap((table) => {
      const listed = new Set((snapshot[table] ?? []).map((/** @type {any} */ row) => row.id));
      return this.mirror.idsOf(table).filter((id) => !listed.has(id)).map((id) => `${table.slice(0, -1)}:${id}`);
    });
    await this.#keep(sources, (rows) => {
      const put = (/** @type {string} */ name, /** @type {any} */ value) => rows.put('site', { name, value });
      put('generation', generation);
      put('epoch', epoch);
      put('start', start);
      if (!isFirst) put('isResetting', true);
      if (snapshot.me) putMe(rows, snapshot.me, known);
      if (snapshot.settings) rows.put('site', { name: 'settings', value: snapshot.settings, known });
      for (const [name, offset] of Object.entries(snapshot.offsets ?? {})) rows.put('streams', { name, offset });
      for (const table of ['users', 'forums']) {
        for (const row of snapshot[table] ?? []) rows.put(table, mergeThing(rows.get(table, row.id), row, known));
      }
      for (const row of snapshot.conversations ?? []) {
        rows.put('conversations', mergeConversation(rows.get('conversations', row.id), row, known));
        if (row.last_offset !== undefined) {
          rows.put('streams', { name: `conversation:${row.id}`, offset: row.last_offset });
        }
      }
      const relations = relationsOf(snapshot.relations ?? {});
      for (const id of this.mirror.relations.keys()) rows.remove('relations', id);
      for (const relation of relations) rows.put('relations', { ...relation, known });
      for (const { forum_id: forum, conversation_id: id, level } of snapshot.levels ?? []) {
        const table = forum === undefined ? 'conversations' : 'forums';
        const row = rows.get(table, forum ?? id);
        if (row) rows.put(table, { ...row, level, level_set: true, level_known: known });
      }
      if (isFirst) put('cursor', snapshot.cursor);
      else wantLater(rows, ...unlisted);
    });
    if (!isFirst) for (const name of unlisted) this.want(name);
    return known;
  }

  /**
   * Handles a reset: outbox and drafts stay, everything else is compared with the server.
   * @param {string} reason
   */
  async #reset(reason) {
    const snapshot = await this.#snapshot();
    const listed = new Set((snapshot.conversations ?? []).map((/** @type {any} */ one) => one.id));
    const isOtherHistory = reason === 'rewound' || reason === 'ahead';
    const gone = [...this.mirror.conversations.values()].filter((one) => one.role !== undefined && !listed.has(one.id));
    // Without a loss, the user was removed from them.
    if (isOtherHistory || reason === 'epoch') for (const { id } of gone) await this.#setAside(id);
    await this.#keep([['site', 'uncompared']], (rows) => {
      // Offsets of streams that the snapshot does not name are learned from later events.
      this.#forgetOffsets(rows, [...this.mirror.streams]);
      for (const { id } of gone) dropConversation(rows, id);
    });
    const { generation } = this.mirror;
    const acknowledged = this.mirror.value('unconfirmed') ?? {};
    const asOf = await this.#keepSnapshot(snapshot, { isFirst: false, isOtherHistory });
    let repaired = 0;
    for (const { id } of await this.store.list('history')) {
      // Nothing but later events has the read positions of others.
      if (generation !== this.mirror.generation) await this.#keep([], (rows) => rows.clear('receipts', id));
      repaired += await this.#compare(id, asOf);
    }
    await this.#confirm(acknowledged);
    await this.#moveCursor(snapshot.cursor);
    this.emit('reset', { reason, repaired, lost: this.mirror.value('lost')?.length ?? 0, at: new Date().toISOString() });
  }

  /**
   * Handles a restart of the server, perhaps with an older copy of its data. It has all events up to the cursor. What the
   * cache holds beyond it (pages, answers and acknowledgements) is compared, with unknown ages, before the cursor moves.
   * @param {string} cursor The same event and the new start.
   */
  async #restart(cursor) {
    const { id: event, start } = readCursor(cursor);
    // Events of the connection before were stored after the hello: the copy may not have them. Replayed events have states
    // that a later cursor covers, which did not arrive. And an interrupted reset has offsets of the history before.
    const isAhead = this.mirror.lastEvent > event || this.mirror.value('isReplaying') || this.mirror.value('isResetting');
    if (isAhead) return this.#reset('rewound');
    await this.#keep([], (rows) => rows.put('site', { name: 'start', value: start }));
    const acknowledged = this.mirror.value('unconfirmed') ?? {};
    // A conversation or forum that was gone may be there again: a snapshot has it.
    if (acknowledged.gone) return this.#reset('rewound');
    if (acknowledged.inbox) this.want('inbox');
    /** @type {string[]} */
    const changed = Object.values(acknowledged).map((one) => one.conversation_id);
    const ahead = new Set(changed.filter((id) => id !== null));
    for (const history of await this.store.list('history')) {
      // No cursor covers conversations beyond the user's own.
      if ((history.ahead ?? 0) > event || !this.mirror.isOwn(`conversation:${history.id}`)) ahead.add(history.id);
    }
    await this.#forgetThings(ahead);
    for (const id of ahead) {
      if (this.mirror.isOwn(`conversation:${id}`) && !(await orGone(this.client.calls.getConversation({ id })))) {
        await this.#setAside(id);
      }
      await this.#forgetAges(id);
      await this.#fetchConversation(id);
      await this.#compare(id, position(this.mirror.generation, event));
    }
    await this.#keep([['site', 'uncompared']], (rows) => {
      // The cursor does not cover the streams of views either.
      this.#forgetOffsets(rows, [...this.mirror.streams].filter((name) => !this.mirror.isOwn(name)));
    });
    await this.#confirm(acknowledged);
    await this.#moveCursor(cursor);
  }

  /**
   * Makes the ages of users, forums and other conversations beyond the cursor unknown, and fetches them.
   * @param {Set<string>} compared Conversations that are compared.
   */
  async #forgetThings(compared) {
    const covered = this.mirror.value('covered') ?? 0;
    for (const table of /** @type {const} */ (['users', 'forums', 'conversations'])) {
      const isBeyond = (/** @type {string} */ id) => {
        const { ahead = -1, known } = this.mirror[table].get(id);
        const isOther = table !== 'conversations' || (!compared.has(id) && !this.mirror.isOwn(`conversation:${id}`));
        // An event has the state at its delivery, which may be of after it.
        return isOther && (ahead >= covered || known > covered);
      };
      const ids = this.mirror.idsOf(table).filter(isBeyond);
      for (let first = 0; first < ids.length; first += mostAtOnce) {
        const some = ids.slice(first, first + mostAtOnce);
        const names = some.map((id) => `${table.slice(0, -1)}:${id}`);
        await this.#keep([['site', 'wanted'], ...some.map((id) => /** @type {Source} */ ([table, id]))], (rows) => {
          for (const id of some) {
            const row = rows.get(table, id);
            if (row) rows.put(table, { ...row, known: unknownAge });
          }
          wantLater(rows, ...names);
        });
        for (const name of names) this.want(name);
      }
    }
  }

  /**
   * Removes acknowledgements that were compared with the server; later ones stay.
   * @param {Record<string, { at: number }>} compared
   */
  async #confirm(compared) {
    await this.#keep([unconfirmed], (rows) => {
      const entries = Object.entries(rows.get(...unconfirmed)?.value ?? {});
      const value = Object.fromEntries(entries.filter(([name, { at }]) => compared[name]?.at !== at));
      rows.put('site', { name: 'unconfirmed', value });
    });
  }

  /**
   * Makes the ages of a conversation and its messages unknown, so that every answer and event is newer.
   * @param {string} id
   */
  async #forgetAges(id) {
    const messages = await this.pages.held(id, 1, Number.MAX_SAFE_INTEGER);
    for (let first = 0; first === 0 || first < messages.length; first += mostAtOnce) {
      /** @type {Source[]} */
      const sources = [['conversations', id]];
      for (const { seq } of messages.slice(first, first + mostAtOnce)) sources.push(['messages', [id, seq]]);
      await this.#keep(sources, (rows) => {
        const conversation = rows.get('conversations', id);
        if (conversation) rows.put('conversations', { ...conversation, known: unknownAge });
        for (const [, key] of sources.slice(1)) {
          const message = rows.get('messages', /** @type {import('./store.js').Key} */ (key));
          if (!message) continue;
          const { actions_known: _, star_known: __, ...row } = message;
          rows.put('messages', { ...row, known: unknownAge });
        }
        if (first === 0) rows.clear('receipts', id);
      });
    }
  }

  /**
   * Compares a cached conversation with the server, and fetches what no digest covers.
   * @param {string} id @param {number} asOf Actions of an earlier age are fetched.
   * @returns {Promise<number>} How many messages were repaired.
   */
  async #compare(id, asOf) {
    const { signal } = this.#stop;
    try {
      await this.#keep([['history', id]], (rows) => {
        const history = rows.get('history', id);
        if (history) rows.put('history', { ...history, ahead: 0 });
      });
      await this.#cutOff(id);
      const { repaired } = await (await verifying()).verify(this.pages, id, { signal, isFollowing: false });
      if (repaired > 0) await this.#recountLater(id);
      await this.pages.fetch(id, { limit: 200, signal });
      await this.#refreshActions(id, asOf);
      return repaired;
    } catch (error) {
      if (!(error instanceof Problem) || error.isTemporary || error.isSignedOut) throw error;
      // An event or another reset follows.
      if (!this.mirror.isOwn(`conversation:${id}`)) await this.#keep([], (rows) => dropConversation(rows, id));
      return 0;
    }
  }

  /**
   * Recounts the unread messages: an earlier count may include replaced messages.
   * @param {string} id
   */
  async #recountLater(id) {
    if (this.mirror.conversations.get(id)?.unread_count !== undefined) await this.#wantLater(`unread:${id}`);
  }

  /**
   * Empties the copy of a conversation that is gone. Own messages that the server does not have are set aside, so that the
   * user can send them again.
   * @param {string} id
   */
  #setAside(id) {
    return this.pages.drop(id, 1, Number.MAX_SAFE_INTEGER, this.#stop.signal);
  }

  /**
   * Fetches the messages whose actions are older, since a digest does not cover actions.
   * @param {string} id @param {number} asOf
   */
  async #refreshActions(id, asOf) {
    const isOlder = (/** @type {any} */ message) => agesOf(message).actions < asOf;
    const older = (await this.pages.held(id, 1, Number.MAX_SAFE_INTEGER)).filter(isOlder);
    for (let first = 0; first < older.length; first += mostAtOnce) {
      const ids = older.slice(first, first + mostAtOnce).map((message) => message.id).join(',');
      const { data } = await this.client.calls.getMessages({ query: { ids }, signal: this.#stop.signal });
      /** @type {[string, import('./store.js').Key][]} */
      const sources = data.map((/** @type {any} */ message) => ['messages', [id, message.seq]]);
      await this.#keep(sources, (rows) => {
        data.forEach((/** @type {any} */ message, /** @type {number} */ index) => {
          const held = rows.get(...sources[index]);
          if (held?.id === message.id) rows.put('messages', mergeMessage(held, message, asOf));
        });
      });
    }
  }

  /**
   * Removes messages beyond the server's end of a conversation: after a restore they exist here alone. Own messages
   * are set aside, so that the user can send them again. A message that was sent meanwhile stays.
   * @param {string} id
   */
  async #cutOff(id) {
    const endOf = async () => (await this.client.calls.getConversation({ id })).last_seq;
    const beyond = await this.pages.held(id, (await endOf()) + 1, Number.MAX_SAFE_INTEGER);
    if (beyond.length === 0) return;
    // The server had confirmed the listed messages before this second answer.
    const last = await endOf();
    /** @type {Source[]} */
    const sources = [['history', id], ['site', 'lost']];
    for (const { seq } of beyond) if (seq > last) sources.push(['messages', [id, seq]]);
    await this.#keep(sources, (rows) => {
      const gone = beyond.filter(({ seq }) => seq > last).filter((message) => {
        const now = rows.get('messages', [id, message.seq]);
        return now !== undefined && !isAnother(now, message);
      });
      const history = rows.get('history', id);
      if (gone.length === 0 || !history) return;
      let { held } = history;
      for (const { seq } of gone) {
        rows.remove('messages', [id, seq]);
        held = withoutRange(held, seq, seq);
      }
      rows.put('history', { ...history, held, checked: Math.min(history.checked, last) });
      keepLost(rows, gone, this.mirror.context.me);
    });
  }

  /** @param {import('./live.js').LiveState} state @param {Problem | null} reason */
  #changed(state, reason) {
    if (state === 'offline' || state === 'connecting') {
      // Unstored events come again from the cursor.
      this.#queue = [];
    }
    this.emit('state', { connection: state, reason });
    if (state === 'live' && this.#wanted.size > 0) this.#fetchWanted();
  }
}

/**
 * Notes what an answer has changed that no single event confirms, but the next catch-up: a conversation, `inbox`, or `gone` if
 * a thing was not there any more.
 * @param {Rows} rows With `unconfirmed`. @param {string} name @param {string | null} [conversation]
 */
function answered(rows, name, conversation = null) {
  const { at = 0 } = rows.get(...unconfirmed)?.value?.[name] ?? {};
  acknowledge(rows, name, conversation, Math.max(at + 1, Date.now()), { isAnswer: true });
}

/**
 * Returns the answer of a call, or null if the thing is gone.
 * @template T @param {Promise<T>} answer @returns {Promise<T | null>}
 */
async function orGone(answer) {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && [403, 404, 410].includes(error.status)) return null;
    throw error;
  }
}

/**
 * Removes a forum that is no longer readable.
 * @param {Rows} rows @param {string} id @param {string[]} conversations
 */
function dropForum(rows, id, conversations) {
  if (rows.get('forums', id)) answered(rows, 'gone');
  rows.remove('forums', id);
  rows.remove('streams', `forum:${id}`);
  for (const conversation of conversations) dropConversation(rows, conversation);
}

/** @param {import('./reducer.js').Outcome} outcome */
const wantedBy = ({ refetch, recount }) => [...refetch, ...recount.map((id) => `unread:${id}`)];

/**
 * Converts the presence lists of a snapshot into entries.
 * @param {Record<string, string[]>} lists
 */
function relationsOf(lists) {
  const all = new Set(Object.values(lists).flat());
  return [...all].map((id) => ({
    user_id: id,
    ...Object.fromEntries(['follow', 'mute', 'block'].map((kind) => [kind, (lists[kind] ?? []).includes(id)])),
  }));
}
