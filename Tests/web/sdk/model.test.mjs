// The client's state equals a replay of the log: a small server as a model, driven by a seed, cuts, repeats and loses
// frames, restarts, and goes back to a copy of its data; the client is closed and reopened meanwhile. PARLEY_ROUNDS=1000
// runs that many new seeds, PARLEY_SEED=17 repeats one. Time passes only between the steps of a seed, so that a seed always
// takes the same course.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test, { mock } from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { digestOf } from '../../../Public/js/parley/verify.js';
import { me, Peer, positions } from './peer.mjs';

globalThis.crypto ??= webcrypto;

/** Seeds that have failed before levels, relations and participants changed, too. */
const regressions = [
  138873751, 138874147, 138874699, 608046825, 1101925646, 1101925851, 1514935270, 1514935312, 1841576258, 2008785817, 2008787687,
];

/** The longest wait for a final state, in milliseconds of the seed's time. */
const patience = 20_000;

/** Runs all that is ready. */
const settle = () => new Promise(setImmediate);

/** Lets a millisecond pass. @param {Peer} peer */
async function pass(peer) {
  if (peer.socket?.readyState === 0) peer.socket.open();
  mock.timers.tick(1);
  await settle();
}

/** Lets time pass until `holds` returns a truthy value. */
async function until(peer, holds, description) {
  for (let passed = 0; !holds(); passed++) {
    if (passed > patience) throw new Error(`timed out waiting for ${description}`);
    await pass(peer);
  }
}

/** Lets time pass until a promise is settled. */
async function finished(peer, promise) {
  let isOver = false;
  const over = () => {
    isOver = true;
  };
  promise.then(over, over);
  await until(peer, () => isOver, 'a promise');
  return promise;
}

/** Random numbers from a seed (mulberry32). */
const drawing = (seed) => (below) => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
};

/** A site as the server stores it: two groups of ada's, a room that she reads without being a member, users and a forum. */
class Model {
  nextId = 100;
  starts = 0;
  /** The client ids of messages that some history has deleted. */
  deleted = new Set();

  /** @param {boolean} isWide Whether levels, relations and participants change, too. */
  constructor(draw, isWide) {
    Object.assign(this, { draw, isWide });
    const conversation = (id, over) => ({ id, messages: [], read: 0, revision: 1, title: 'garden', participants: ['7', '8'], ...over });
    this.state = {
      log: [], offsets: {},
      // The last event of each start.
      ends: {},
      conversations: { 12: conversation('12'), 13: conversation('13'), 14: conversation('14', { forum_id: '3' }) },
      users: Object.fromEntries(['8', '9'].map((id) => [id, { id, name: `user${id}`, revision: 1 }])),
      relations: Object.fromEntries(['8', '9'].map((id) => [id, { user_id: id, follow: false, mute: false, block: false, requests: [] }])),
      forum: { id: '3', title: 'Knitting', revision: 1, room_id: '14', position: 0 },
    };
    this.start();
  }

  get log() { return this.state.log; }
  get offsets() { return this.state.offsets; }
  get conversations() { return this.state.conversations; }
  get ownConversations() { return Object.values(this.conversations).filter((one) => one.forum_id === undefined); }

  copy() {
    return structuredClone(this.state);
  }

  /** Starts the server, perhaps with a copy of its data. No start repeats an id of another one. */
  start(copy = this.state) {
    this.state = structuredClone(copy);
    this.startName = `s${++this.starts}`;
    this.state.ends[this.startName] = Infinity;
    for (const [name, end] of Object.entries(this.state.ends)) {
      if (name !== this.startName) this.state.ends[name] = Math.min(end, this.log.length);
    }
    this.nextId = 100 + this.starts * 1000;
  }

  /** Performs a random action. */
  act() {
    const conversation = this.conversations[['12', '13', '12', '13', '14'][this.draw(5)]];
    const { messages } = conversation;
    const message = messages[this.draw(messages.length || 1)];
    switch (message ? this.draw(this.isWide ? 13 : 10) : 0) {
      case 0: case 1: case 2: return this.post(conversation);
      case 3: return message.deleted ? undefined : this.change(message, 'edited', { text: `edited ${this.draw(1000)}` });
      case 4: return this.delete(message);
      case 5: {
        message.likes = this.draw(4);
        return this.tell(`conversation:${conversation.id}`, message.likes ? 'action.added' : 'action.removed', message, '8');
      }
      case 6:
        if (conversation.forum_id) return undefined;
        conversation.read = Math.max(conversation.read, message.seq);
        return this.tell('user:7', 'read_position.updated', conversation, '7');
      case 7: {
        const user = this.state.users[this.draw(2) ? '8' : '9'];
        Object.assign(user, { name: `name ${this.draw(1000)}`, revision: user.revision + 1 });
        return this.tell('site', 'user.updated', user, user.id);
      }
      case 8:
        Object.assign(this.state.forum, { title: `title ${this.draw(1000)}`, revision: this.state.forum.revision + 1 });
        return this.tell('site', 'forum.updated', this.state.forum, '8');
      case 9:
        conversation.title = `title ${this.draw(1000)}`;
        conversation.revision++;
        return this.tell(`conversation:${conversation.id}`, 'conversation.updated', conversation, '8');
      case 10: {
        const relation = this.state.relations[this.draw(2) ? '8' : '9'];
        Object.assign(relation, this.draw(2) ? { follow: !relation.follow } : { mute: !relation.mute });
        return this.tell('user:7', 'relation.changed', relation, '7');
      }
      case 11: {
        if (conversation.forum_id) return undefined;
        const isIn = conversation.participants.includes('9');
        conversation.participants = isIn ? ['7', '8'] : ['7', '8', '9'];
        return this.tell(`conversation:${conversation.id}`, `participant.${isIn ? 'left' : 'joined'}`, conversation, '9');
      }
      default: {
        const thing = [this.conversations[12], this.conversations[13], this.state.forum][this.draw(3)];
        thing.level = [undefined, 'nothing', 'everything'][this.draw(3)];
        return this.tell('user:7', 'level.changed', thing, '7');
      }
    }
  }

  post(conversation, { author = this.draw(3) ? '8' : '7', client_id: name = null, text = `said ${this.draw(1000)}` } = {}) {
    const { messages } = conversation;
    const message = {
      id: String(this.nextId++), conversation_id: conversation.id, author_id: author, client_id: name,
      seq: messages.length + 1, previous_message: messages.at(-1)?.id ?? null, text, likes: 0, attachments: [],
      reply_to: null, machine_only: name === null && this.draw(10) === 0, revision: 1, deleted: false,
    };
    messages.push(message);
    this.tell(`conversation:${conversation.id}`, 'message.created', message, author);
    return message;
  }

  change(message, how, fields) {
    Object.assign(message, fields, { revision: message.revision + 1 });
    this.tell(`conversation:${message.conversation_id}`, `message.${how}`, message, '8');
  }

  delete(message) {
    if (message.deleted) return;
    this.deleted.add(message.client_id);
    this.change(message, 'deleted', { deleted: true, text: undefined });
  }

  tell(stream, event, thing, actor) {
    this.offsets[stream] = (this.offsets[stream] ?? 0) + 1;
    const row = { id: String(this.log.length + 1), stream, offset: this.offsets[stream], event, thing, actor };
    this.log.push(row);
    this.onEvent?.(row);
  }

  /** An event as the server delivers it, with the current state of its object. */
  delivered({ id, stream, offset, event, thing, actor }) {
    const [kind] = event.split('.');
    const position = { conversation_id: thing.id, read_up_to: thing.read, delivered_up_to: thing.read };
    const data = {
      message: () => this.written(thing),
      action: () => ({ message_id: thing.id, actions: this.written(thing).actions ?? {} }),
      read_position: () => position,
      conversation: () => ({ ...this.bare(thing), last_seq: thing.messages.length }),
      user: () => ({ ...thing }),
      forum: () => this.bareForum,
      level: () => ({ ...(thing.room_id ? { forum_id: thing.id } : { conversation_id: thing.id }), ...this.levelOf(thing) }),
      relation: () => ({ ...thing }),
      participant: () => ({ conversation_id: thing.id, user_id: '9', ...(thing.participants.includes('9') ? { role: 'member' } : {}) }),
    }[kind]();
    return { id, stream, offset, event, actor_id: actor, at: '', data };
  }

  levelOf({ level }) {
    return { level: level ?? 'mentions', set: level !== undefined };
  }

  get bareForum() {
    const { level: _, ...forum } = this.state.forum;
    return forum;
  }

  bare({ id, title, revision, forum_id: forum }) {
    return { id, kind: forum ? 'room' : 'group', title, revision, ...(forum ? { forum_id: forum } : {}) };
  }

  written({ likes, ...message }) {
    return { ...message, actions: likes ? { like: { count: likes } } : {} };
  }

  own(conversation) {
    const { id, messages, read, forum_id: forum, participants } = conversation;
    const isCounted = (one) => !one.deleted && !one.machine_only && one.author_id !== '7' && !this.state.relations[one.author_id].mute;
    const unread = messages.filter((one) => isCounted(one) && one.seq > read);
    const own = {
      role: 'member', read_up_to: read, delivered_up_to: read, unread_count: unread.length, level: this.levelOf(conversation).level,
      participants: participants.map((user) => ({ user_id: user, role: 'member' })), participant_count: participants.length,
    };
    return {
      ...this.bare(conversation), from_seq: 1, last_seq: messages.length, last_message_id: messages.at(-1)?.id ?? null,
      last_message: messages.length ? this.written(messages.at(-1)) : null, last_offset: this.offsets[`conversation:${id}`] ?? 0,
      ...(forum ? {} : own),
    };
  }

  get cursor() {
    return `aa.${this.startName}.${this.log.length}`;
  }

  /** The server's answer to a client that resumes from its cursor. */
  resume(cursor) {
    const [, start, event] = cursor.split('.');
    const end = this.state.ends[start] ?? -1;
    return { after: Number(event), isReset: Number(event) > end, isRestarted: start !== this.startName };
  }

  get levels() {
    const { forum } = this.state;
    const levels = [...Object.values(this.conversations).map((one) => ({ conversation_id: one.id, level: one.level })), { forum_id: '3', level: forum.level }];
    return levels.filter(({ level }) => level !== undefined);
  }

  get relations() {
    const users = (kind) => Object.values(this.state.relations).filter((one) => one[kind]).map((one) => one.user_id);
    return { follow: users('follow'), mute: users('mute'), block: users('block') };
  }

  isOwn(stream) {
    return stream === 'site' || stream === 'user:7' || this.ownConversations.some(({ id }) => stream === `conversation:${id}`);
  }

  answers() {
    const refused = () => Response.json({ status: 400, code: 'invalid' }, { status: 400 });
    const { draw } = this;
    const answers = {
      'GET /users/me': () => me,
      'GET /snapshot': () => ({
        cursor: this.cursor, me, settings: { revision: 1 }, forums: [this.bareForum], users: [this.state.users[8]],
        levels: this.levels, relations: this.relations, offsets: { site: this.offsets.site ?? 0, 'user:7': this.offsets['user:7'] ?? 0 },
        conversations: this.ownConversations.map((one) => this.own(one)),
      }),
      'GET /users': ({ ids }) => ({ data: ids.split(',').map((id) => this.state.users[id]).filter(Boolean), next: null, previous: null }),
      'GET /forums/3': () => this.bareForum,
      'GET /inbox': () => ({ data: [], unread: {}, next: null, previous: null }),
      'GET /messages': ({ ids }) => {
        const every = Object.values(this.conversations).flatMap(({ messages }) => messages);
        return { data: every.filter(({ id }) => ids.split(',').includes(id)).map((one) => this.written(one)) };
      },
      'GET /streams/user:7/events': (query) => this.page('user:7', query),
      'GET /streams/site/events': (query) => this.page('site', query),
    };
    for (const id of ['8', '9']) answers[`GET /users/${id}`] = () => this.state.users[id];
    for (const id of ['12', '13', '14']) {
      const messages = () => this.conversations[id].messages;
      answers[`GET /conversations/${id}`] = () => this.own(this.conversations[id]);
      answers[`GET /conversations/${id}/messages`] = (query) => this.messagePage(messages(), query) ?? refused();
      answers[`POST /conversations/${id}/messages`] = ({ body }) =>
        this.written(messages().find((one) => one.client_id === body.client_id)
          ?? this.post(this.conversations[id], { author: '7', ...body, client_id: body.client_id }));
      answers[`GET /conversations/${id}/digest`] = ({ from_seq: from, to_seq: to, parts }) => {
        const digest = (first, last) => {
          const part = messages().slice(first - 1, last);
          return { from_seq: first, to_seq: last, digest: digestOf(part.map((one) => this.written(one))) };
        };
        const [first, last] = [Number(from), Number(to)];
        if (first > messages().length + 1 || last > messages().length) return refused();
        const size = Math.max(1, Math.ceil((last - first + 1) / Number(parts)));
        const all = [];
        for (let at = first; at <= last; at += size) all.push(digest(at, Math.min(last, at + size - 1)));
        return { cursor: this.cursor, ...digest(first, last), parts: all };
      };
      answers[`GET /streams/conversation:${id}/events`] = (query) => this.page(`conversation:${id}`, query);
    }
    // A response is computed at one time and arrives at another, or never.
    return Object.fromEntries(Object.entries(answers).map(([name, answer]) => [name, async (query) => {
      const pause = async () => {
        for (let turns = this.isKind ? 0 : draw(4); turns > 0; turns--) await settle();
      };
      await pause();
      if (!this.isKind && draw(25) === 0) throw new TypeError('fetch failed');
      const body = answer(query);
      const sent = body instanceof Response ? body : structuredClone(body);
      await pause();
      if (!this.isKind && draw(25) === 0) throw new TypeError('fetch failed');
      return sent;
    }]));
  }

  /** Null if the server does not know the anchor. */
  messagePage(messages, { before, after, around, limit = 50, order }) {
    const indexOf = (wanted) => messages.findIndex((one) => one.id === wanted);
    const anchor = before ?? after ?? around;
    if (anchor !== undefined && indexOf(anchor) < 0) return null;
    let window = messages.slice(after ? indexOf(after) + 1 : 0, before ? indexOf(before) : undefined);
    if (around) {
      const first = Math.max(0, indexOf(around) - Math.floor(limit / 2));
      window = messages.slice(first, first + Number(limit));
    }
    const data = order === 'asc' ? window.slice(0, limit) : window.slice(-limit).reverse();
    const [first, last] = [data, [...data].reverse()].map((list) => list[0]).sort((a, b) => a?.seq - b?.seq);
    return {
      data: data.map((one) => this.written(one)), cursor: this.cursor, latest_seq: messages.length, skipped: [],
      ...positions(order, (first?.seq ?? 1) > 1, (last?.seq ?? 0) < messages.length),
    };
  }

  page(stream, { after_offset: after, next }) {
    const all = this.log.filter((row) => row.stream === stream && row.offset > Number(next ?? after));
    const data = all.slice(0, 5).map((row) => this.delivered(row));
    return { data, next: all.length > 5 ? String(data[4].offset) : null, previous: null, cursor: this.cursor };
  }
}

/** The connections of the model's server. */
function serve(model, peer) {
  const { draw } = model;
  Object.assign(peer.answers, model.answers());
  let live = null;
  const isSubscribed = (socket, { stream }) => model.isOwn(stream) || socket.topics.has(stream);
  peer.onCommand = (command, socket) => {
    if (command.do === 'subscribe') for (const { topic } of command.topics) socket.topics.add(topic);
    if (command.do === 'unsubscribe') for (const topic of command.topics) socket.topics.delete(topic);
    if (command.do !== 'hello') return socket.tell({ re: command.id, ok: true, complete: true });
    socket.topics = new Set();
    const { after, isReset, isRestarted } = model.resume(command.cursor);
    if (isReset) return socket.tell({ re: command.id, ok: true, user_id: '7', complete: false, reset: true, reason: 'rewound' });
    if (isRestarted) socket.tell({ event: 'restarted', cursor: `aa.${model.startName}.${after}` });
    for (const row of model.log.slice(after).filter((one) => model.isOwn(one.stream))) {
      socket.tell(structuredClone(model.delivered(row)));
      if (!model.isKind && draw(30) === 0) return socket.drop();
    }
    live = socket;
    return socket.tell({ re: command.id, ok: true, user_id: '7', complete: true, cursor: model.cursor });
  };
  model.onEvent = (row) => {
    if (live?.readyState !== 1 || !isSubscribed(live, row)) return;
    const fate = model.isKind ? 9 : draw(16);
    if (fate === 0) {
      // Lost: the next event of an own stream reveals it, and the server names the other streams.
      if (!model.isOwn(row.stream)) live.tell({ event: 'lagging', stream: row.stream });
      return;
    }
    const event = structuredClone(model.delivered(row));
    live.tell(event);
    if (fate === 1) live.tell(structuredClone(event));
    if (fate === 2) live.drop();
  };
  return {
    /** Ends every connection. The client may notice it later than its next request. */
    async cut() {
      live = null;
      const { socket } = peer;
      for (let turns = draw(4); turns > 0; turns--) await settle();
      if (socket?.readyState === 1) socket.drop();
    },
  };
}

async function play(seed) {
  const draw = drawing(seed);
  const model = new Model(draw, !regressions.includes(seed));
  const peer = new Peer();
  const faults = [];
  const server = serve(model, peer);
  const store = memoryStore();
  let window;
  const open = async () => {
    const parley = await Parley.open({
      url: 'http://peer', store, fetch: peer.fetch, BroadcastChannel: null, live: { WebSocket: peer.WebSocket, pause: () => 1 },
    });
    parley.client.tries = 1;
    parley.outbox.pause = () => 1;
    parley.on('fault', (fault) => faults.push(fault));
    await finished(peer, parley.ready);
    window = parley.window('14', () => {});
    window.latest().catch(() => {});
    return parley;
  };
  let parley = await open();
  let copy = model.copy();
  const sent = new Set();
  try {
    for (let step = 0; step < 120; step++) {
      model.act();
      switch (draw(40)) {
        case 0:
          parley.close();
          parley = await open();
          break;
        case 1: parley.pages.fetch(['12', '14'][draw(2)], { limit: 5 }).catch(() => {}); break;
        case 2: parley.fetchAll('13').catch(() => {}); break;
        case 3: copy = model.copy(); break;
        case 4:
          model.start(draw(3) ? copy : undefined);
          await server.cut();
          break;
        case 5: {
          const name = `m${seed}-${step}`;
          sent.add(name);
          await parley.outbox.add({ kind: 'send', conversation_id: ['12', '13'][draw(2)], id: name, body: { text: name } });
          break;
        }
        case 6: parley.renew(['conversation:12', 'conversation:13', 'forum:3', 'inbox'][draw(4)]); break;
        case 7: parley.renew(['user:8', 'user:9'][draw(2)]); break;
        default:
      }
      for (let turns = draw(4); turns > 0; turns--) await (draw(2) ? pass(peer) : settle());
    }
    model.isKind = true;
    await until(peer, () => parley.state.connection === 'live', 'the connection');
    for (const conversation of Object.values(model.conversations)) {
      model.post(conversation);
      if (conversation.forum_id) continue;
      conversation.read = Math.max(conversation.read, 1);
      model.tell('user:7', 'read_position.updated', conversation, '7');
    }
    await until(peer, () => parley.operations().length === 0, 'an empty outbox');
    await until(peer, () => parley.mirror.isOfThisStart(model.cursor), 'the start');
    model.tell('site', 'user.updated', Object.assign(model.state.users[8], { revision: model.state.users[8].revision + 1 }), '8');
    await until(peer, () => parley.mirror.cursor === model.cursor, 'the cursor');
    await until(peer, () => parley.mirror.value('wanted')?.length === 0, 'the wanted things');
    for (const { id } of Object.values(model.conversations)) await finished(peer, parley.fetchAll(id));
    for (const conversation of Object.values(model.conversations)) {
      const { id, messages } = conversation;
      const expected = model.own(conversation);
      await until(peer, () => parley.conversation(id).unread_count === expected.unread_count, `${id}: ${expected.unread_count} unread`);
      const cached = await store.list('messages', { from: [id, 0], to: [id, Infinity] });
      const shown = ({ seq, id, revision, text, deleted, actions }) => ({ seq, id, revision, text, deleted, like: actions.like?.count });
      assert.deepEqual(cached.map(shown), messages.map((one) => shown(model.written(one))), id);
      assert.equal(digestOf(cached), digestOf(messages));
      const own = parley.conversation(id);
      for (const name of ['title', 'revision', 'last_seq', 'last_message_id', 'read_up_to']) assert.equal(own[name], expected[name], `${name} of ${id}`);
      assert.deepEqual((await store.get('history', id)).held, [[1, messages.length]]);
      if (conversation.forum_id) continue;
      assert.equal(own.level, expected.level, `the level of ${id}`);
      assert.equal(own.participant_count, expected.participant_count, `the participants of ${id}`);
      assert.deepEqual(own.participants, expected.participants, `the participants of ${id}`);
    }
    assert.equal(parley.forum('3').level ?? 'mentions', model.levelOf(model.state.forum).level, 'the level of the forum');
    const related = (kind) => [...parley.mirror.relations.values()].filter((one) => one[kind]).map((one) => one.user_id).sort();
    for (const kind of ['follow', 'mute']) assert.deepEqual(related(kind), model.relations[kind], kind);
    const { users, forum } = model.state;
    for (const { known: _, ahead: __, ...user } of parley.mirror.users.values()) assert.deepEqual(user, users[user.id], `user ${user.id}`);
    assert.equal(parley.forum('3').title, forum.title, 'the forum');
    assert.equal(parley.forum('3').revision, forum.revision, 'the forum');
    // A lost message is set aside, unless it was deleted.
    const found = Object.values(model.conversations).flatMap(({ messages }) => messages).map((one) => one.client_id).filter(Boolean);
    const aside = new Set(parley.lost.map((one) => one.client_id));
    const isKept = (name) => found.includes(name) || aside.has(name) || model.deleted.has(name);
    assert.deepEqual([...sent].filter((name) => !isKept(name)), [], 'sent messages are gone');
    assert.deepEqual(found.filter((name) => aside.has(name)), [], 'messages that the server has are set aside');
    assert.deepEqual(faults, []);
  } finally {
    parley.close();
  }
}

/** The seeds of a run: fixed ones and new ones; a number of new ones, or one to repeat. */
function drawnSeeds() {
  const { PARLEY_SEED: one, PARLEY_ROUNDS: count } = process.env;
  if (one !== undefined) return [Number(one)];
  const first = Math.floor(Math.random() * 2 ** 31);
  const fresh = Array.from({ length: Number(count ?? 100) }, (_, index) => (first + index) % 2 ** 31);
  return count === undefined ? [...regressions, ...Array.from({ length: 60 }, (_, index) => index + 1), ...fresh] : fresh;
}

const seeds = drawnSeeds();

test(`${seeds.length} seeds end in the state of the server`, async (t) => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] });
  if (process.env.PARLEY_SEED === undefined) t.diagnostic(`new schedules of the model: seeds ending with ${seeds.at(-1)}`);
  const failed = [];
  for (const seed of seeds) {
    await play(seed).catch((error) => failed.push(`PARLEY_SEED=${seed}: ${error.message}`));
  }
  mock.timers.reset();
  assert.deepEqual(failed, []);
});
