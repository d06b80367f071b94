// Keeps the cache equal to the server: a snapshot first, then every event in order, each stored in one transaction with
// its cursor. `fetches.js` fetches what an event only names; `recovery.js` compares the copy with the server's when the
// server can't replay.

import { Fetches } from './fetches.js';
import { moveCursor, readCursor } from './ids.js';
import { Live } from './live.js';
import { Problem } from './problem.js';
import { Rows, mergeConversation, mergeThing, position, putMe, reduce, sourcesOf, unconfirmed, wantLater } from './reducer.js';
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

/** Recoveries and comparisons are rare, so their modules are loaded when needed. */
const recovering = () => import('./recovery.js');
const verifying = () => import('./verify.js');

/** Work that is queued among the events. */
const control = ['lagging', 'reset', 'notice', 'complete', 'restarted'];

/** Events that are kept in one transaction, at most. */
const maxAtOnce = 200;

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
  /** @type {'online' | 'away'} */
  #presence = 'online';
  /** @type {string[]} */
  #shown = [];
  #stop = new AbortController();
  /**
   * Changes by answers before the last hello: its catch-up covers them.
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
    this.fetches = new Fetches(this);
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
    const { signal } = this;
    for (let tries = 1; !signal.aborted && this.mirror.cursor === null; tries++) {
      try {
        this.emit('state', { connection: 'connecting', reason: null });
        await this.keepSnapshot(await this.snapshot(), { isFirst: true });
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        this.emit('state', { connection: error.isTemporary ? 'offline' : 'stopped', reason: error });
        if (!error.isTemporary) return;
        await wait(error.retryAfter ?? this.live.options.pause(tries), signal);
      }
    }
    this.fetches.add(...(this.mirror.value('wanted') ?? []));
    if (this.mirror.hasNotifications && this.mirror.value('inbox') === null) this.fetches.add('inbox');
    if (!signal.aborted) this.live.start();
  }

  stop() {
    this.#stop.abort();
    this.#queue = [];
    this.live.stop();
  }

  /** Aborted by `stop`. */
  get signal() {
    return this.#stop.signal;
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
   * Sends the device's presence. The server assumes `online` after a connect, and no conversation on the screen.
   * @param {'online' | 'away'} presence
   * @param {string[]} shown Conversations on the screen, whose messages are not pushed to the user's devices.
   */
  present(presence, shown = []) {
    if (presence === this.#presence && `${shown}` === `${this.#shown}`) return;
    [this.#presence, this.#shown] = [presence, shown];
    this.presentAnew();
  }

  presentAnew() {
    const [state, shown] = [this.#presence, this.#shown];
    if (this.live.state === 'live') this.live.command('presence', shown[0] ? { state, conversation_ids: shown } : { state }).catch(() => {});
  }

  /** Fetches the user's events since the cursor now, also where no connection delivers them. */
  async catchUp() {
    await (await recovering()).catchUp(this);
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
      while (this.#queue.length > 0 && !this.signal.aborted) {
        const isEvent = (/** @type {any} */ frame) => frame.event !== undefined && frame.offset !== undefined;
        const other = this.#queue.findIndex((frame) => !isEvent(frame));
        const count = Math.min(maxAtOnce, other === -1 ? this.#queue.length : other);
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
      await (await recovering()).reset(this, frame.reason);
      this.live.restart();
    } else if (frame.hello && frame.user_id !== undefined && frame.user_id !== this.mirror.me?.id) {
      this.live.stop();
      this.emit('accountChanged', { id: frame.user_id });
    } else if (frame.hello) {
      if (frame.cursor) await this.moveCursor(frame.cursor, { covered: this.#atHello });
      if (Object.keys(this.#beforeHello).length > 0) await this.confirm(this.#beforeHello);
      this.live.caughtUp();
      if (this.#presence === 'away' || this.#shown[0]) this.presentAnew();
      if (this.topics.size > 0) await this.#subscribe([...this.topics]);
    } else if (frame.event === 'restarted') {
      await (await recovering()).restart(this, frame.cursor);
      this.#beforeHello = {};
    } else if (frame.event === 'lagging') {
      // Later events and the cursor wait until this stream is complete.
      await this.#subscribe([frame.stream], { isLagging: true });
    } else if (frame.event === 'notice') {
      if (frame.code === 'lost') this.fetches.want(frame.topic.replace(/\/messages$/, ''));
      this.emit('notice', frame);
    }
  }

  /**
   * Subscribes first and then fetches the missed events of the streams, so that there is no gap between.
   * @param {string[]} topics @param {{ isLagging?: boolean }} options `isLagging`: the server has dropped events of them.
   */
  async #subscribe(topics, { isLagging = false } = {}) {
    const asked = topics.map((topic) => (/^(site$|user:)/.test(topic) ? 'me' : topic));
    // Read before the first event of the subscription, whose offset is later than those of the missed ones.
    const reading = Promise.all(topics.map((topic) => this.store.get('streams', topic)));
    reading.catch(() => {});
    await ifReadable(async () => {
      await this.live.command('subscribe', { topics: [...new Set(asked)].map((topic) => ({ topic })) });
      const held = await reading;
      for (const [index, topic] of topics.entries()) {
        await ifReadable(async () => {
          if (held[index]) await this.#pull(topic, held[index].offset);
          else if (isLagging || this.mirror.value('uncompared')?.includes(topic)) await (await recovering()).compareWithoutOffset(this, topic);
          // The cached conversation may be of before the subscription.
          else if (topic.startsWith('conversation:')) await this.fetches.wantLater(topic);
        });
      }
    });
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

  /**
   * @param {Event[]} events
   * @param {{ isPulled?: boolean }} options `isPulled`: events of other streams before them have not arrived, so they do not move the
   *   cursor. After a restart of the server they are compared, as replayed ones are.
   */
  async #keepEvents(events, { isPulled = false } = {}) {
    const context = this.mirror.context;
    /** @type {Map<string, Source>} */
    const sources = new Map([
      ['cursor', /** @type {Source} */ (['site', 'cursor'])],
      ['wanted', /** @type {Source} */ (['site', 'wanted'])],
    ]);
    for (const event of events) {
      for (const source of sourcesOf(event, context)) sources.set(JSON.stringify(source), source);
    }
    const isConfirmation = (/** @type {Event} */ { data }) => this.mirror.operation(data?.client_id) !== undefined;
    const isReplay = (isPulled || this.live.state !== 'live') && !this.mirror.value('isReplaying');
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
      this.fetches.add(...names);
      if (cursor && last > readCursor(cursor.value).id) {
        if (!isPulled) rows.put('site', { ...cursor, value: moveCursor(cursor.value, last) });
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
    for (const name of wantedBy(outcome)) this.fetches.want(name);
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
        else this.fetches.want(stream);
        return;
      }
      // A comparison follows.
      if (this.mirror.generation !== generation || this.mirror.start !== start) return;
      if (page.data.length > 0) {
        const { changes, outcomes } = await this.#keepEvents(page.data, { isPulled: true });
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
    await this.keep([['history', id]], (rows) => {
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
    this.fetches.want(stream);
    const [kind, id] = stream.split(':');
    if (kind === 'conversation') await (await verifying()).verify(this.pages, id, { isFollowing: false });
  }

  /** @param {Source[]} sources @param {(rows: Rows) => void} change */
  async keep(sources, change) {
    this.publish(
      await this.store.update(sources, (found) => {
        const rows = new Rows(sources, found);
        change(rows);
        return rows.changes;
      }),
    );
  }

  // Beginning.

  /** Fetches a snapshot, and the pages that it left out, since a snapshot is bounded. */
  async snapshot() {
    const { signal } = this;
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
  async moveCursor(cursor, { covered } = {}) {
    await this.keep([], (rows) => {
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
  async keepSnapshot(snapshot, { isFirst, isOtherHistory = false }) {
    if (this.mirror.hasNotifications) this.fetches.want('inbox');
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
    await this.keep(sources, (rows) => {
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
      // A level that is not set any more is not named. Ids are of one sequence.
      const levels = new Map((snapshot.levels ?? []).map((/** @type {any} */ one) => [one.forum_id ?? one.conversation_id, one]));
      for (const table of ['forums', 'conversations']) {
        for (const row of snapshot[table] ?? []) {
          const set = levels.get(row.id);
          rows.put(table, { ...rows.get(table, row.id), level: (set ?? row).level, level_set: !!set, level_known: known });
        }
      }
      if (isFirst) put('cursor', snapshot.cursor);
      else wantLater(rows, ...unlisted);
    });
    if (!isFirst) for (const name of unlisted) this.fetches.want(name);
    return known;
  }

  /**
   * Removes acknowledgements that were compared with the server; later ones stay.
   * @param {Record<string, { at: number }>} compared
   */
  async confirm(compared) {
    await this.keep([unconfirmed], (rows) => {
      const entries = Object.entries(rows.get(...unconfirmed)?.value ?? {});
      const value = Object.fromEntries(entries.filter(([name, { at }]) => compared[name]?.at !== at));
      rows.put('site', { name: 'unconfirmed', value });
    });
  }

  /** @param {import('./live.js').LiveState} state @param {Problem | null} reason */
  #changed(state, reason) {
    if (state === 'offline' || state === 'connecting') {
      // Unstored events come again from the cursor.
      this.#queue = [];
    }
    this.emit('state', { connection: state, reason });
    if (state === 'live') this.fetches.fetchWanted();
  }
}

/**
 * Subscribes or catches up. A stream that is not readable needs neither.
 * @param {() => Promise<void>} work
 */
async function ifReadable(work) {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof Problem) || error.isTemporary) throw error;
  }
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
