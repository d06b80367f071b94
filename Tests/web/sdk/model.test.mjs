// The client's state equals a replay of the log: a small server as a model, driven by a seed, loses and repeats frames,
// delays responses, and in some schedules goes back to an older copy of its data. The client posts, edits, deletes, reacts
// and reads meanwhile, and is closed and reopened. PARLEY_ROUNDS=1000 runs that many new seeds, PARLEY_SEED=5 repeats one.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { digestOf } from '../../../Public/js/parley/verify.js';
import { Model, drawing } from './model.mjs';
import { Peer } from './peer.mjs';
import { until } from './until.mjs';

globalThis.crypto ??= webcrypto;

/** Milliseconds until a client without disturbances counts as stuck. */
const patience = 10_000;

const turn = () => new Promise(setImmediate);

/** One client of a model, over a network that the seed disturbs until it is kind. */
class Play {
  faults = [];
  isKind = false;
  store = memoryStore();
  peer = new Peer();
  live = null;
  /** The names of the messages that the client has sent. */
  sent = new Set();
  /** The names of those that the user has deleted or discarded. */
  dropped = new Set();

  constructor(seed) {
    this.draw = drawing(seed);
    this.name = seed;
    this.model = new Model(this.draw);
    const { peer, model } = this;
    peer.answers = model.answers();
    peer.onCommand = (command, socket) => this.#command(command, socket);
    model.onEvent = (row) => this.#event(row);
  }

  /** A request, and its response, which was computed at one time and arrives at another. */
  fetch = async (address, { method, body }) => {
    const url = new URL(address);
    const path = url.pathname.replace('/api/v1', '');
    if (!this.isKind && this.draw(20) === 0) throw new TypeError('the request is lost');
    const sent = body === undefined ? undefined : JSON.parse(body);
    const answer = this.peer.answers[`${method} ${path}`]?.(Object.fromEntries(url.searchParams), sent) ??
      this.model.answerOf(method, path, sent) ?? Response.json({ status: 404, code: 'not_found' }, { status: 404 });
    const copy = answer instanceof Response ? answer : structuredClone(answer);
    for (let turns = this.isKind ? 0 : this.draw(this.draw(6) ? 4 : 60); turns > 0; turns--) await turn();
    if (!this.isKind && this.draw(20) === 0) throw new TypeError('the response is lost');
    return copy instanceof Response ? copy : Response.json(copy);
  };

  #command(command, socket) {
    const { model } = this;
    if (command.do !== 'hello') return socket.tell({ re: command.id, ok: true, complete: true });
    const standing = model.standing(command.cursor);
    const reply = { re: command.id, ok: true, user_id: '7' };
    if (standing === 'rewound') return socket.tell({ ...reply, complete: false, reset: true, reason: 'rewound' });
    const after = Number(command.cursor.split('.')[2]);
    if (standing === 'restarted') socket.tell({ event: 'restarted', cursor: `aa.${model.start}.${after}` });
    for (const row of model.log.slice(after)) {
      socket.tell(structuredClone(model.delivered(row)));
      if (!this.isKind && this.draw(30) === 0) return socket.drop();
    }
    this.live = socket;
    return socket.tell({ ...reply, complete: true, cursor: model.cursor });
  }

  #event(row) {
    const { live, model } = this;
    if (live?.readyState !== 1) return;
    const fate = this.isKind ? 9 : this.draw(16);
    if (fate === 0) return; // Lost: the next event of its stream reveals it.
    live.tell(structuredClone(model.delivered(row)));
    if (fate === 1) live.tell(structuredClone(model.delivered(row)));
    if (fate === 2) live.drop();
  }

  async open() {
    this.parley = await Parley.open({
      url: 'http://peer', store: this.store, fetch: this.fetch, BroadcastChannel: null,
      live: { WebSocket: this.peer.WebSocket, pause: () => 1 },
    });
    this.parley.outbox.pause = () => 1;
    this.parley.client.tries = 1;
    this.parley.on('fault', (fault) => this.faults.push(fault));
  }

  async relaunch() {
    this.parley.close();
    this.live = null;
    await this.open();
  }

  /** The server restarts, with all its data or with an older copy. */
  async restart(copy) {
    this.model.restart(copy);
    const { live } = this;
    this.live = null;
    if (live?.readyState === 1) live.drop();
  }

  async use() {
    const { draw, parley, store } = this;
    const conversation = draw(2) ? '12' : '13';
    const messages = await store.list('messages', { from: [conversation, 0], to: [conversation, Infinity] });
    const message = messages[draw(messages.length || 1)];
    const own = messages.filter((one) => one.author_id === '7' && !one.deleted);
    const mine = own[draw(own.length || 1)];
    switch (draw(7)) {
      case 0: case 1: {
        const { id } = await parley.outbox.add({
          kind: 'send', conversation_id: conversation, id: `${this.name}-${this.sent.size}`, body: { text: `words ${this.sent.size}` },
        });
        this.sent.add(id);
        return;
      }
      case 2: if (mine) await parley.edit(mine, { text: `edited here ${draw(1000)}` }); return;
      case 3:
        if (!mine) return;
        await parley.delete(mine);
        this.dropped.add(mine.client_id);
        return;
      case 4: if (message && !message.deleted) await parley.setAction(message, 'like'); return;
      case 5: if (message) await parley.removeAction(message, 'like'); return;
      default: if (message) await parley.markRead(message);
    }
  }

  /** A random step of the schedule. */
  async step(goesBack) {
    const { draw, model, parley } = this;
    model.act();
    switch (draw(30)) {
      case 0: await this.relaunch(); break;
      case 1: parley.pages.fetch('12', { limit: 5 }).catch(() => {}); break;
      case 2: parley.fetchAll('13').catch(() => {}); break;
      case 3: if (draw(3) === 0) await this.restart(); break;
      case 4: case 5: if (goesBack) model.copy(); break;
      case 6: if (goesBack && model.copies.length > 0) await this.restart(model.copies[draw(model.copies.length)]); break;
      case 7: if (parley.lost.length > 0) await (draw(2) ? parley.sendLost() : this.discard()); break;
      default: if (draw(3) === 0) await this.use();
    }
    for (let turns = draw(4); turns > 0; turns--) await turn();
  }

  async discard() {
    for (const { client_id: name } of this.parley.lost) this.dropped.add(name);
    await this.parley.discardLost();
  }

  /** Ends all disturbances, and waits until the client has nothing to do. */
  async end() {
    const { model, parley } = this;
    this.isKind = true;
    await until(() => parley.state.connection === 'live', 'the connection', patience);
    const isSent = () => parley.operations().every(({ state }) => state === 'failed');
    await until(isSent, 'the outbox', patience);
    for (const conversation of Object.values(model.conversations)) {
      model.post(conversation);
      model.read(conversation, 1);
    }
    await until(() => parley.mirror.cursor === model.cursor, 'the cursor', patience);
    for (const id of Object.keys(model.conversations)) await parley.fetchAll(id);
    await until(() => (parley.mirror.value('wanted') ?? []).length === 0, 'what is wanted', patience);
  }

  async check() {
    const { model, parley, store } = this;
    for (const conversation of Object.values(model.conversations)) {
      const { id, messages } = conversation;
      const expected = model.own(conversation);
      await until(() => parley.conversation(id).unread_count === expected.unread_count, `${id}: ${expected.unread_count} unread`, patience);
      const cached = await store.list('messages', { from: [id, 0], to: [id, Infinity] });
      const shown = ({ id, seq, revision, text, deleted, actions }) => ({ id, seq, revision, text, deleted, like: actions.like });
      assert.deepEqual(cached.map(shown), messages.map((one) => shown(model.written(one))));
      assert.equal(digestOf(cached), digestOf(messages));
      const own = parley.conversation(id);
      for (const name of ['title', 'revision', 'last_seq', 'last_message_id', 'read_up_to']) assert.equal(own[name], expected[name], name);
      assert.deepEqual((await store.get('history', id)).held, [[1, messages.length]]);
    }
    this.#checkSent();
    assert.deepEqual(this.faults, []);
  }

  /** Each message that the client has sent is stored once, or lost and shown as such, or failed. */
  #checkSent() {
    const { model, parley } = this;
    const stored = Object.values(model.conversations).flatMap(({ messages }) => messages);
    const ids = new Set(stored.map(({ id }) => id));
    assert.deepEqual(parley.lost.filter(({ id }) => ids.has(id)), [], 'a message is not lost');
    for (const name of this.sent) {
      const count = stored.filter(({ client_id }) => client_id === name).length;
      assert.ok(count < 2, `${name} is stored twice`);
      const isLost = parley.lost.some(({ client_id }) => client_id === name);
      assert.ok(!(isLost && count), `${name} is lost and stored`);
      const isFailed = parley.operations().some(({ id }) => id === name);
      assert.ok(this.dropped.has(name) || model.deleted.has(name) || count || isLost || isFailed, `${name} is gone`);
    }
  }
}

async function play(seed) {
  const schedule = new Play(seed);
  const { draw, peer } = schedule;
  const goesBack = draw(2) === 0;
  const answering = setInterval(() => {
    if (peer.socket?.readyState === 0 && !peer.socket.isOpening) {
      peer.socket.isOpening = true;
      peer.socket.open();
    }
  }, 1);
  await schedule.open();
  try {
    for (let step = 0; step < 120; step++) await schedule.step(goesBack);
    await schedule.end();
    await schedule.check();
  } finally {
    clearInterval(answering);
    schedule.parley.close();
  }
}

/** Fixed seeds and new ones; a number of new ones, or one to repeat. */
function seeds() {
  const { PARLEY_SEED: one, PARLEY_ROUNDS: count } = process.env;
  if (one !== undefined) return [Number(one)];
  const first = Math.floor(Math.random() * 2 ** 31);
  const drawn = Array.from({ length: Number(count ?? 10) }, (_, index) => first + index);
  return count === undefined ? [...Array.from({ length: 20 }, (_, index) => index + 1), ...drawn] : drawn;
}

const all = seeds();

test(`${all.length} seeds end in the state of the server`, async (t) => {
  t.diagnostic(`the last new seed: ${all.at(-1)}`);
  const faults = [];
  for (const seed of all) await play(seed).catch((error) => faults.push(`PARLEY_SEED=${seed}: ${error.message}`));
  assert.deepEqual(faults, []);
});
