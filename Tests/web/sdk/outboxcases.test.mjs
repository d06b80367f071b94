// The outbox cases that Swift runs too.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Client } from '../../../Public/js/parley/client.js';
import { Mirror } from '../../../Public/js/parley/mirror.js';
import { Outbox } from '../../../Public/js/parley/outbox.js';
import { memoryStore, put } from '../../../Public/js/parley/store.js';
import { say } from './peer.mjs';
import { until } from './until.mjs';

globalThis.crypto ??= webcrypto;

const cases = JSON.parse(readFileSync(new URL('../../Contract/outbox.json', import.meta.url), 'utf8'));
const about = { conversation_id: '12' };
const like = { body: { type: 'like' } };

/** A server with one conversation, behind a network that answers changing requests as a case says. */
class Network {
  messages = [];
  requests = [];
  answers = [];
  faults = [];
  underWay = 0;

  fetch = async (address, { method, body, signal }) => {
    const path = new URL(address).pathname.split('/').slice(3);
    if (method === 'GET') return Response.json(this.perform(method, path));
    const values = body && JSON.parse(body);
    this.requests.push(this.describe(method, path, values));
    const answer = this.answers.shift();
    if (answer === undefined) this.faults.push(`unexpected request: ${this.requests.at(-1)}`);
    this.underWay++;
    try {
      const response = await this.respond(answer ?? 'unreachable', () => this.perform(method, path, values));
      signal.throwIfAborted();
      return response;
    } finally {
      this.underWay--;
    }
  };

  async respond(answer, perform) {
    if (answer.held) {
      const response = await Promise.allSettled([this.respond(answer.then ?? 'lost', perform)]);
      for (const step of answer.held) await this.play(step);
      if (response[0].status === 'rejected') throw response[0].reason;
      return response[0].value;
    }
    const { status, code, page, retry_after: retryAfter } = answer;
    if (page) return new Response('<html>Welcome</html>', { status, headers: { 'Content-Type': page } });
    if (status) {
      const headers = { 'Content-Type': 'application/problem+json', ...(retryAfter ? { 'Retry-After': String(retryAfter) } : {}) };
      return new Response(JSON.stringify({ status, code }), { status, headers });
    }
    if (answer === 'unreachable') throw new TypeError('no network');
    const message = perform();
    if (answer === 'lost') throw new TypeError('lost');
    // The client's own timer aborts the request.
    if (answer === 'timeout') throw new DOMException('timeout', 'AbortError');
    return message === undefined ? new Response(null, { status: 204 }) : Response.json(message);
  }

  perform(method, [noun, id, verb, type], body) {
    if (noun === 'conversations' && (verb === undefined || verb === 'participants')) {
      return method === 'DELETE' ? undefined : { id, kind: 'group', revision: 2, last_seq: 0, last_offset: 1, ...body };
    }
    if (verb === 'messages') return this.post(body);
    const message = this.messages.find((one) => one.id === (verb === 'read' ? body.message_id : id));
    if (verb === 'read') return { read_up_to: message.seq, delivered_up_to: message.seq, unread_count: 0 };
    assert.equal(noun, 'messages');
    if (method !== 'GET' && verb !== 'actions') message.revision++;
    if (method === 'PATCH') Object.assign(message, body);
    if (method === 'PUT') message.actions = { [type]: { count: 1, mine: true } };
    if (method === 'DELETE') Object.assign(message, verb ? { actions: {} } : { deleted: true, text: '' });
    return message;
  }

  post({ client_id, text, reply_to = null }) {
    let message = this.messages.find((one) => one.client_id === client_id);
    if (!message) {
      message = say(this.messages.length + 1, { author_id: '7', client_id, text, reply_to });
      this.messages.push(message);
    }
    return message;
  }

  /** The operation and the name of its message. */
  describe(method, [noun, id, verb], body) {
    if (verb === 'messages') return `post ${body.client_id}`;
    if (verb === 'read') return 'read';
    if (verb === 'participants') return `leave_conversation ${this.departure}`;
    if (noun === 'conversations') return `update_conversation ${body.title}`;
    const word = { PATCH: 'edit', PUT: 'set_action', DELETE: verb ? 'remove_action' : 'delete' }[method];
    return `${word} ${this.nameOf(id)}`;
  }

  nameOf(id) {
    return this.messages.find((one) => one.id === id).client_id;
  }
}

/** The app of one user: an outbox over a store that outlives it. */
class App {
  delays = [];
  isResting = false;

  constructor(store, network) {
    this.store = store;
    this.network = network;
  }

  async open() {
    // After a restart nothing that is in progress reaches the store.
    const life = (this.life = { isOver: false });
    const store = {
      ...this.store,
      update: async (...transition) => {
        if (life.isOver) throw new DOMException('closed', 'AbortError');
        return this.store.update(...transition);
      },
    };
    const client = new Client({ url: 'http://case', token: 'secret', fetch: this.network.fetch, timeout: 100_000 });
    const mirror = new Mirror();
    this.outbox = new Outbox({
      client, store, mirror, now: () => ({ generation: 0, cursor: 0, me: '7' }), publish: (changes) => mirror.apply(changes),
      emit: (kind) => {
        if (kind === 'waiting') this.isResting = true;
      },
      pause: (tries) => 1_000_000 + tries,
    });
    await mirror.load(store);
  }

  async play({
    send, reply_to, edit, text, delete: deleted, set_action, remove_action, read, update_conversation, leave_conversation, retry,
    cancel, restart, answers,
  }) {
    const { outbox } = this;
    if (update_conversation) {
      await outbox.add({ kind: 'update_conversation', id: update_conversation, ...about, body: { title: update_conversation } });
    }
    if (leave_conversation) {
      await outbox.add({ kind: 'leave_conversation', id: leave_conversation, ...about });
      this.network.departure = leave_conversation;
    }
    if (send) await outbox.add({ kind: 'send', id: send, ...about, body: { text: send }, ...(reply_to ? { target: reply_to } : {}) });
    if (edit) await outbox.add({ kind: 'edit', ...about, target: edit, body: { text } });
    if (deleted) await outbox.add({ kind: 'delete', ...about, target: deleted });
    if (set_action) await outbox.add({ kind: 'set_action', ...about, target: set_action, ...like });
    if (remove_action) await outbox.add({ kind: 'remove_action', ...about, target: remove_action, ...like });
    if (read) await outbox.markRead(await this.store.get('messages@client', read));
    if (retry) await outbox.retry(retry);
    if (cancel) await outbox.cancel(cancel);
    if (restart) {
      this.life.isOver = true;
      outbox.stop();
      await this.open();
    }
    if (answers) await this.run(answers);
  }

  /** Runs the outbox until all answers were given and nothing is sent without a delay. */
  async run(answers) {
    this.delays = [];
    this.isResting = false;
    Object.assign(this.network, { answers: [...answers], play: (step) => this.play(step) });
    const { life, outbox } = this;
    outbox.start();
    await until(async () => {
      if (this.network.answers.length > 0 || this.network.underWay > 0) return false;
      const all = await this.store.list('outbox');
      const isReady = ({ state, target }) => state === 'pending' && !all.some(({ id }) => id === target);
      return life.isOver || this.isResting || !all.some(isReady);
    }, 'the answers', 20_000);
    // A request beyond them would begin now.
    for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
    outbox.stop();
  }

  async operations() {
    const all = await this.store.list('outbox');
    return all.sort((a, b) => a.order - b.order).map((op) => {
      const name = op.kind === 'send' || op.kind.endsWith('_conversation') ? op.id : (op.target ?? (op.message_id && this.network.nameOf(op.message_id)));
      return { [op.kind]: name, ...(op.state === 'failed' ? { failed: op.reason.code } : {}), may_be_sent: op.unanswered };
    });
  }
}

test('the cases have unique names', () => {
  assert.equal(new Set(cases.map(({ name }) => name)).size, cases.length);
});

for (const { name, steps, after } of cases) {
  test(name, async (t) => {
    const store = memoryStore();
    await store.update([], () => [
      put('conversations', { ...about, id: '12', kind: 'group', role: 'member', revision: 1, last_seq: 0, read_up_to: 0, unread_count: 0, known: 0 }),
    ]);
    const network = new Network();
    const app = new App(store, network);
    const { setTimeout } = globalThis;
    t.mock.method(globalThis, 'setTimeout', (...args) => {
      // The others are timeouts of requests and of this test.
      if (args[1] > 1_000_000 || (args[1] >= 1_000 && args[1] < 100_000)) app.delays.push(args[1] / 1_000);
      return setTimeout(...args);
    });
    await app.open();
    for (const step of steps) await app.play(step);
    app.outbox.stop();
    assert.deepEqual(network.faults, []);
    const found = await app.operations();
    const expected = after.operations.map((row, index) => ({ may_be_sent: found[index]?.may_be_sent, ...row }));
    assert.deepEqual(found, expected);
    if (after.requests) assert.deepEqual(network.requests, after.requests);
    if (after.messages) assert.deepEqual(network.messages.map((one) => (one.deleted ? null : one.text)), after.messages);
    if (after.delay === undefined) return;
    const [delay = null] = app.delays.slice(-1);
    assert.equal(delay > 1_000 ? `backoff after ${Math.round((delay - 1_000) * 1_000)}` : delay, after.delay);
  });
}
