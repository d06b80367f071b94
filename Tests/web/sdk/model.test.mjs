// The client's state equals a replay of the log: a small server as a model, driven by a seed, cuts, repeats and loses
// frames, and the client is closed and reopened meanwhile. PARLEY_ROUNDS=1000 runs more seeds.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { digestOf } from '../../../Public/js/parley/verify.js';
import { me, Peer, positions } from './peer.mjs';
import { until } from './until.mjs';

globalThis.crypto ??= webcrypto;

const rounds = Number(process.env.PARLEY_ROUNDS ?? 20);

/** Random numbers from a seed (mulberry32). */
const drawing = (seed) => (below) => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
};

/** A site with two conversations, as the server stores it. */
class Model {
  log = [];
  offsets = {};
  nextId = 100;

  constructor(draw) {
    this.draw = draw;
    this.conversations = Object.fromEntries(
      ['12', '13'].map((id) => [id, { id, messages: [], read: 0, revision: 1, title: 'garden' }]),
    );
  }

  /** Performs a random action. */
  act() {
    const conversation = this.conversations[this.draw(2) ? '12' : '13'];
    const { messages } = conversation;
    const message = messages[this.draw(messages.length || 1)];
    switch (message ? this.draw(8) : 0) {
      case 0: case 1: case 2: return this.post(conversation);
      case 3: return message.deleted ? undefined : this.change(message, 'edited', { text: `edited ${this.draw(1000)}` });
      case 4: return this.delete(message);
      case 5: {
        message.likes = this.draw(4);
        return this.tell(`conversation:${conversation.id}`, message.likes ? 'action.added' : 'action.removed', message, '8');
      }
      case 6:
        conversation.read = Math.max(conversation.read, message.seq);
        return this.tell('user:7', 'read_position.updated', conversation, '7');
      default:
        conversation.title = `title ${this.draw(1000)}`;
        conversation.revision++;
        return this.tell(`conversation:${conversation.id}`, 'conversation.updated', conversation, '8');
    }
  }

  post(conversation) {
    const { messages } = conversation;
    const message = {
      id: String(this.nextId++), conversation_id: conversation.id, author_id: this.draw(3) ? '8' : '7', client_id: null,
      seq: messages.length + 1, previous_message: messages.at(-1)?.id ?? null, text: `said ${this.draw(1000)}`, likes: 0,
      attachments: [], reply_to: null, machine_only: this.draw(10) === 0, revision: 1, deleted: false,
    };
    messages.push(message);
    this.tell(`conversation:${conversation.id}`, 'message.created', message, message.author_id);
  }

  change(message, how, fields) {
    Object.assign(message, fields, { revision: message.revision + 1 });
    this.tell(`conversation:${message.conversation_id}`, `message.${how}`, message, '8');
  }

  delete(message) {
    if (!message.deleted) this.change(message, 'deleted', { deleted: true, text: undefined });
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
      conversation: () => ({ id: thing.id, kind: 'group', title: thing.title, revision: thing.revision, last_seq: thing.messages.length }),
    }[kind]();
    return { id, stream, offset, event, actor_id: actor, at: '', data };
  }

  written({ likes, ...message }) {
    return { ...message, actions: likes ? { like: { count: likes } } : {} };
  }

  own({ id, title, revision, messages, read }) {
    const unread = messages.filter((one) => !one.deleted && !one.machine_only && one.author_id !== '7' && one.seq > read);
    return {
      id, kind: 'group', role: 'member', from_seq: 1, title, revision, last_seq: messages.length, read_up_to: read,
      delivered_up_to: read, unread_count: unread.length, last_message_id: messages.at(-1)?.id ?? null,
      last_message: messages.length ? this.written(messages.at(-1)) : null, last_offset: this.offsets[`conversation:${id}`] ?? 0,
    };
  }

  get cursor() {
    return `aa.${this.log.length}`;
  }

  answers() {
    const answers = {
      'GET /users/me': () => me,
      'GET /snapshot': () => ({
        cursor: this.cursor, me, settings: { revision: 1 }, forums: [], people: [], levels: [], relations: {},
        offsets: { 'user:7': this.offsets['user:7'] ?? 0 }, conversations: Object.values(this.conversations).map((one) => this.own(one)),
      }),
    };
    for (const conversation of Object.values(this.conversations)) {
      const { id, messages } = conversation;
      answers[`GET /conversations/${id}`] = () => this.own(conversation);
      answers[`GET /conversations/${id}/messages`] = ({ before, after, limit = 50, order }) => {
        const indexOf = (wanted) => messages.findIndex((one) => one.id === wanted);
        const window = messages.slice(after ? indexOf(after) + 1 : 0, before ? indexOf(before) : undefined);
        const data = order === 'asc' ? window.slice(0, limit) : window.slice(-limit).reverse();
        const [first, last] = [data, [...data].reverse()].map((list) => list[0]).sort((a, b) => a?.seq - b?.seq);
        return {
          data: data.map((one) => this.written(one)), cursor: this.cursor, latest_seq: messages.length, skipped: [],
          ...positions(order, (first?.seq ?? 1) > 1, (last?.seq ?? 0) < messages.length),
        };
      };
      answers[`GET /streams/conversation:${id}/events`] = (query) => this.page(`conversation:${id}`, query);
    }
    answers['GET /streams/user:7/events'] = (query) => this.page('user:7', query);
    return answers;
  }

  page(stream, { after_offset: after, next }) {
    const all = this.log.filter((row) => row.stream === stream && row.offset > Number(next ?? after));
    const data = all.slice(0, 5).map((row) => this.delivered(row));
    return { data, next: all.length > 5 ? String(data[4].offset) : null, previous: null, cursor: this.cursor };
  }
}

async function play(seed) {
  const draw = drawing(seed);
  const model = new Model(draw);
  const peer = new Peer();
  const faults = [];
  let isKind = false;
  // A response is computed at one time and arrives at another.
  for (const [name, answer] of Object.entries(model.answers())) {
    peer.answers[name] = async (query) => {
      const body = structuredClone(answer(query));
      for (let turns = isKind ? 0 : draw(4); turns > 0; turns--) await new Promise(setImmediate);
      return body;
    };
  }
  let live = null;
  peer.onCommand = (command, socket) => {
    if (command.do !== 'hello') return socket.tell({ re: command.id, ok: true, complete: true });
    const after = Number(command.cursor.split('.')[1]);
    const missed = model.log.slice(after);
    for (const row of missed) {
      socket.tell(structuredClone(model.delivered(row)));
      if (!isKind && draw(30) === 0) return socket.drop();
    }
    live = socket;
    return socket.tell({ re: command.id, ok: true, user_id: '7', complete: true, cursor: model.cursor });
  };
  model.onEvent = (row) => {
    if (live?.readyState !== 1) return;
    const fate = isKind ? 9 : draw(16);
    if (fate === 0) return; // Lost: the next event of its stream reveals it.
    live.tell(structuredClone(model.delivered(row)));
    if (fate === 1) live.tell(structuredClone(model.delivered(row)));
    if (fate === 2) live.drop();
  };

  const store = memoryStore();
  const open = async () => {
    const parley = await Parley.open({
      url: 'http://peer', store, fetch: peer.fetch, BroadcastChannel: null, live: { WebSocket: peer.WebSocket, pause: () => 1 },
    });
    parley.on('fault', (fault) => faults.push(fault));
    return parley;
  };
  const answering = setInterval(() => {
    if (peer.socket?.readyState === 0 && !peer.socket.isOpening) {
      peer.socket.isOpening = true;
      peer.socket.open();
    }
  }, 1);

  let parley = await open();
  try {
    for (let step = 0; step < 120; step++) {
      model.act();
      const fate = draw(30);
      if (fate === 0) {
        parley.close();
        live = null;
        parley = await open();
      }
      if (fate === 1) parley.pages.fetch('12', { limit: 5 }).catch(() => {});
      if (fate === 2) parley.fetchAll('13').catch(() => {});
      for (let turns = draw(4); turns > 0; turns--) await new Promise(setImmediate);
    }
    isKind = true;
    await until(() => parley.state.connection === 'live', 'the connection');
    for (const conversation of Object.values(model.conversations)) {
      model.post(conversation);
      conversation.read = Math.max(conversation.read, 1);
      model.tell('user:7', 'read_position.updated', conversation, '7');
    }
    await until(() => parley.mirror.cursor === model.cursor, 'the cursor');
    for (const { id } of Object.values(model.conversations)) await parley.fetchAll(id);
    for (const conversation of Object.values(model.conversations)) {
      const { id, messages } = conversation;
      const expected = model.own(conversation);
      await until(() => parley.conversation(id).unread_count === expected.unread_count, `${id}: ${expected.unread_count} unread`);
      const cached = await store.list('messages', { from: [id, 0], to: [id, Infinity] });
      assert.equal(digestOf(cached), digestOf(messages));
      const shown = ({ seq, revision, text, deleted, actions }) => ({ seq, revision, text, deleted, like: actions.like?.count });
      assert.deepEqual(cached.map(shown), messages.map((one) => shown(model.written(one))));
      const own = parley.conversation(id);
      for (const name of ['title', 'revision', 'last_seq', 'last_message_id', 'read_up_to']) assert.equal(own[name], expected[name], name);
      assert.deepEqual((await store.get('history', id)).held, [[1, messages.length]]);
    }
    assert.deepEqual(faults, []);
  } finally {
    clearInterval(answering);
    parley.close();
  }
}

test(`${rounds} seeds and a new one end in the state of the server`, async (t) => {
  const drawn = Number(process.env.PARLEY_SEED ?? Math.floor(Math.random() * 2 ** 31));
  t.diagnostic(`drawn: PARLEY_SEED=${drawn}`);
  for (const seed of [...Array.from({ length: rounds }, (_, number) => number + 1), drawn]) {
    try {
      await play(seed);
    } catch (error) {
      throw new Error(`with the seed ${seed}: ${error.message}`, { cause: error });
    }
  }
});
