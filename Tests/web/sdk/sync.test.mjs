// Sync against a scripted peer, for failures that a daemon causes rarely.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test, { afterEach } from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { Client } from '../../../Public/js/parley/client.js';
import { Pages } from '../../../Public/js/parley/pages.js';
import { put } from '../../../Public/js/parley/store.js';
import { digestLine, drop, verify } from '../../../Public/js/parley/verify.js';
import { sha256 } from '../../../Public/js/parley/sha256.js';
import { until } from './until.mjs';
import { Peer, created, me, page, positions, say, snapshot } from './peer.mjs';

globalThis.crypto ??= webcrypto;

// Close all clients, also those of failed tests, or Node would not exit.
const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

/** A client of the peer; its hello is answered as live from `cursor`, unless the test does that. */
async function opened({
  event = 0, store = memoryStore(), answers = {}, hello = (command) => ({ complete: true, cursor: command.cursor }), parley: options = {}, ...live
} = {}) {
  const peer = new Peer();
  peer.answers = { 'GET /snapshot': snapshot(event), 'GET /users/me': me, ...answers };
  peer.onCommand = (command, socket) => {
    if (command.do === 'hello' && hello) socket.tell({ re: command.id, ok: true, user_id: '7', ...hello(command) });
    if (['subscribe', 'unsubscribe', 'presence'].includes(command.do)) socket.tell({ re: command.id, ok: true, complete: true });
  };
  const parley = await Parley.open({
    url: 'http://peer', store, fetch: peer.fetch, live: { WebSocket: peer.WebSocket, pause: () => 1, ...live }, BroadcastChannel: null,
    ...options,
  });
  all.push(parley);
  parley.client.tries = 1;
  const faults = [];
  parley.on('fault', (fault) => faults.push(fault));
  const connect = async (count = 1) => {
    await until(() => peer.sockets.length >= count, 'a connection');
    await peer.socket.open();
  };
  return { peer, parley, store, connect, faults };
}

/** Several tabs of one device; messages with `isLost` are dropped. */
function device({ isLost = () => false } = {}) {
  /** The end of the last holder of each lock, by name. */
  const held = new Map();
  const channels = new Set();
  return {
    store: memoryStore(),
    tell(message) {
      for (const channel of channels) channel.onmessage({ data: message });
    },
    locks: {
      async request(name, { ifAvailable }, work) {
        if (ifAvailable && held.has(name)) return work(null);
        const end = (held.get(name) ?? Promise.resolve()).then(() => work({}));
        held.set(name, end);
        await end;
        if (held.get(name) === end) held.delete(name);
        return undefined;
      },
    },
    BroadcastChannel: class {
      constructor() {
        channels.add(this);
      }

      postMessage(message) {
        if (isLost(message)) return;
        for (const channel of channels) if (channel !== this) queueMicrotask(() => channel.onmessage({ data: structuredClone(message) }));
      }

      close() {
        channels.delete(this);
      }
    },
  };
}

const seqs = async (store) => (await store.list('messages')).map(({ seq }) => seq);
const isLive = (parley) => until(() => parley.state.connection === 'live', 'the connection to be live');

test('a snapshot arrives first, then events from its cursor', async () => {
  const { peer, parley, store, connect, faults } = await opened({ event: 5 });
  await connect();
  assert.deepEqual(peer.socket.protocols, ['parley.v1']);
  assert.equal(peer.socket.url, 'ws://peer/api/v1/realtime');
  assert.deepEqual(peer.socket.commands[0], { id: 1, do: 'hello', cursor: 'aa.5', topics: ['me'] });
  await isLive(parley);
  peer.socket.tell(created(6), created(7));
  await until(() => parley.mirror.cursor === 'aa.7', 'the cursor to move');
  assert.deepEqual(await seqs(store), [6, 7]);
  assert.equal(parley.conversations[0].unread_count, 2);
  assert.deepEqual(faults, []);
  parley.close();
});

test('a reconnect resumes from the cursor and ignores repeated events', async () => {
  const { peer, parley, store, connect } = await opened();
  await connect();
  peer.socket.tell(created(1), created(2));
  await until(() => parley.mirror.cursor === 'aa.2', 'two messages');
  peer.socket.drop();
  assert.equal(parley.state.connection, 'offline');
  await connect(2);
  assert.equal(peer.socket.commands[0].cursor, 'aa.2');
  peer.socket.tell(created(2), created(3));
  await until(() => parley.mirror.cursor === 'aa.3', 'the third');
  assert.deepEqual(await seqs(store), [1, 2, 3]);
  assert.equal(parley.conversations[0].unread_count, 3);
  parley.close();
});

test('new data is fetched at once, also without a connection', async () => {
  const asked = [];
  const pages = [
    { data: [created(1), created(2)], more: true, cursor: 'aa.2' },
    { data: [created(3)], more: false, cursor: 'aa.3' },
  ];
  const sync = (query) => {
    asked.push(query);
    return { reset: null, lost: [], ...pages[asked.length - 1] };
  };
  const { peer, parley, store, faults } = await opened({ answers: { 'GET /sync': sync } });
  await until(() => parley.mirror.cursor !== null, 'the snapshot');
  assert.notEqual(parley.state.connection, 'live');
  await parley.catchUp();
  assert.deepEqual(asked, [{ topics: 'me', after: 'aa.0' }, { topics: 'me', after: 'aa.2' }]);
  assert.deepEqual(await seqs(store), [1, 2, 3]);
  assert.equal(parley.mirror.cursor, 'aa.3');
  assert.equal(parley.conversations[0].unread_count, 3);

  // The log has no events after the cursor: the next connection compares.
  pages.push({ data: [], more: false, cursor: 'aa.9', reset: 'trimmed' });
  const before = peer.sockets.length;
  await parley.catchUp();
  await until(() => peer.sockets.length > before, 'another connection');
  assert.equal(parley.mirror.cursor, 'aa.3');
  peer.answers['GET /sync'] = () => new Response('', { status: 503 });
  await assert.rejects(parley.catchUp(), { code: 'unavailable' });
  assert.deepEqual(faults, []);
});

test('a tab without the connection lets the one that has it catch up', async () => {
  const shared = device();
  let asked = 0;
  const sync = () => {
    asked += 1;
    return { data: [], more: false, cursor: 'aa.0', reset: null, lost: [] };
  };
  const tab = () => opened({ store: shared.store, answers: { 'GET /sync': sync }, parley: { locks: shared.locks, BroadcastChannel: shared.BroadcastChannel } });
  const [first, second] = [await tab(), await tab()];
  await until(() => first.parley.mirror.cursor !== null, 'the snapshot');
  assert.equal(second.parley.sync, undefined);
  await second.parley.catchUp();
  await until(() => asked === 1, 'the request');
});

test('the same user opens the cache and resumes from its cursor', async () => {
  const store = memoryStore();
  const first = await opened({ store });
  await first.connect();
  first.peer.socket.tell(created(1));
  await until(() => first.parley.mirror.cursor === 'aa.1', 'a message');
  first.parley.close();
  const second = await opened({ store });
  await second.connect();
  assert.equal(second.peer.socket.commands[0].cursor, 'aa.1');
  assert.ok(!second.peer.calls.includes('GET /snapshot'));
  second.parley.close();
});

test('another user does not see the cache after signing in', async () => {
  const store = memoryStore();
  const first = await opened({ store });
  await first.connect();
  await isLive(first.parley);
  first.parley.close();
  const peer = new Peer();
  peer.answers = { 'GET /users/me': { ...me, id: '9', name: 'grace' } };
  const parley = await Parley.open({ url: 'http://peer', store, fetch: peer.fetch, live: { WebSocket: peer.WebSocket }, BroadcastChannel: null });
  const changed = await new Promise((resolve) => parley.on('accountChanged', resolve));
  assert.equal(changed.name, 'grace');
  assert.equal(peer.sockets.length, 0);
  parley.close();
});

test('a gap between two offsets is fetched before later events are applied', async () => {
  const { peer, parley, store, connect } = await opened({
    answers: {
      'GET /streams/conversation:12/events': ({ after_offset: after, next }) => {
        const seq = Number(next ?? after) + 1;
        return { data: [created(seq)], last_offset: 4, next: seq < 4 ? String(seq) : null, previous: null, cursor: 'aa.4' };
      },
    },
  });
  await connect();
  await isLive(parley);
  peer.socket.tell(created(1), created(5), created(6));
  await until(() => parley.mirror.cursor === 'aa.6', 'all of them');
  assert.deepEqual(await seqs(store), [1, 2, 3, 4, 5, 6]);
  parley.close();
});

test('after the log is trimmed, the conversation is compared and repaired', async () => {
  const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, index) => digestLine(say(from + index))).join('');
  const { peer, parley, store, connect } = await opened({
    answers: {
      'GET /streams/conversation:12/events': () => Response.json({ status: 410, code: 'gone' }, { status: 410 }),
      'GET /conversations/12': snapshot(6).conversations[0],
      'GET /conversations/12/messages': page(6),
      'GET /conversations/12/digest': ({ from_seq: from, to_seq: to }) => ({
        cursor: 'aa.6', digest: '', parts: [{ from_seq: Number(from), to_seq: Number(to), digest: sha256(lines(Number(from), Number(to))) }],
      }),
    },
  });
  await connect();
  await isLive(parley);
  const window = parley.window('12', () => {});
  await window.latest();
  peer.socket.tell(created(1, { text: 'something else' }), created(6));
  await until(() => parley.mirror.cursor === 'aa.6', 'the cursor to move');
  await until(async () => (await seqs(store)).length === 6, 'the rest');
  assert.equal((await store.get('messages', ['12', 1])).text, 'message 1');
  window.close();
  parley.close();
});

test('a reset keeps the outbox and drafts, compares the rest, and moves the cursor last', async () => {
  let isReset = true;
  const lines = Array.from({ length: 3 }, (_, index) => digestLine(say(index + 1))).join('');
  const { peer, parley, store, connect, faults } = await opened({
    hello: (command) => (command.cursor === 'aa.3' && isReset ? { complete: false, reset: true, reason: 'epoch' } : { complete: true, cursor: command.cursor }),
    answers: {
      'GET /conversations/12': snapshot(3).conversations[0],
      'GET /conversations/12/messages': page(3, 1),
      'GET /conversations/12/digest': { cursor: 'bb.1', digest: '', parts: [{ from_seq: 1, to_seq: 3, digest: sha256(lines) }] },
    },
  });
  await connect();
  peer.socket.tell(created(1), created(2, { text: 'from the old history', revision: 4 }), created(3));
  await until(() => parley.mirror.cursor === 'aa.3', 'three messages');
  await parley.setDraft('12', { text: 'half a thought' });
  parley.outbox.stop();
  await parley.send('12', { text: 'unsent' });
  const resets = [];
  parley.on('reset', (reset) => resets.push([reset.reason, parley.mirror.cursor]));
  peer.answers['GET /snapshot'] = snapshot(3, { cursor: 'bb.1' });
  peer.answers['GET /conversations/12/messages'] = (query) => ({ ...page(3)(query), cursor: 'bb.1' });
  peer.socket.drop();
  await connect(2);
  await connect(3);
  isReset = false;
  await isLive(parley);
  assert.deepEqual(resets, [['epoch', 'bb.1']]);
  const second = await store.get('messages', ['12', 2]);
  assert.deepEqual([second.text, second.revision], ['message 2', 1]);
  assert.equal(parley.draft('12').text, 'half a thought');
  assert.equal(parley.state.waiting, 1);
  assert.deepEqual(faults, []);
  parley.close();
});

test('messages only in this cache after a restore can be sent again', async () => {
  const { peer, parley, store, connect, faults } = await opened({
    hello: (command) =>
      command.cursor === 'aa.3' ? { complete: false, reset: true, reason: 'epoch' } : { complete: true, cursor: command.cursor },
    answers: {
      'GET /conversations/12': { ...snapshot(1).conversations[0] },
      'GET /conversations/12/digest': { cursor: 'bb.1', digest: '', parts: [{ from_seq: 1, to_seq: 1, digest: sha256(digestLine(say(1))) }] },
      'GET /conversations/12/messages': (query) => ({ ...page(1)(query), cursor: 'bb.1' }),
    },
  });
  await connect();
  peer.socket.tell(created(1), created(2), created(3, { author_id: '7', client_id: 'mine', text: 'after the backup' }));
  await until(() => parley.mirror.cursor === 'aa.3', 'three messages');
  peer.answers['GET /snapshot'] = snapshot(1, { cursor: 'bb.1' });
  peer.socket.drop();
  await connect(2);
  await connect(3);
  await isLive(parley);
  assert.deepEqual(await seqs(store), [1]);
  assert.deepEqual(parley.lost.map(({ text }) => text), ['after the backup']);
  parley.outbox.stop();
  await parley.sendLost();
  assert.deepEqual(parley.lost, []);
  assert.deepEqual(parley.operations().map(({ id, body }) => [id, body.text]), [['mine', 'after the backup']]);
  assert.deepEqual(faults, []);
});

for (const reason of ['epoch', 'rewound', 'trimmed']) {
  const isRestored = reason !== 'trimmed';
  test(`own messages of a conversation that is gone ${isRestored ? 'can be sent again' : 'are dropped'} after the reset ${reason}`, async () => {
    const { peer, parley, store, connect, faults } = await opened({
      hello: (command) =>
        command.cursor === 'aa.2' ? { complete: false, reset: true, reason } : { complete: true, cursor: command.cursor },
    });
    await connect();
    peer.socket.tell(created(1), created(2, { author_id: '7', client_id: 'mine', text: 'in the lost conversation' }));
    await until(() => parley.mirror.cursor === 'aa.2', 'two messages');
    peer.answers['GET /snapshot'] = { ...snapshot(0, { cursor: 'aa.s2.9' }), conversations: [] };
    peer.answers['GET /messages'] = { data: [] };
    peer.socket.drop();
    await connect(2);
    await connect(3);
    await isLive(parley);
    assert.deepEqual(await seqs(store), []);
    assert.deepEqual(parley.lost.map(({ text }) => text), isRestored ? ['in the lost conversation'] : []);
    assert.deepEqual(faults, []);
  });
}

test('a message that is acknowledged while the loss of its conversation is examined can be sent again', async () => {
  const { peer, parley, store, connect, faults } = await opened({
    hello: (command) =>
      command.cursor === 'aa.2' ? { complete: false, reset: true, reason: 'rewound' } : { complete: true, cursor: command.cursor },
  });
  await connect();
  peer.socket.tell(created(1), created(2, { author_id: '7', client_id: 'mine', text: 'lost' }));
  await until(() => parley.mirror.cursor === 'aa.2', 'two messages');
  let acknowledge;
  peer.answers['POST /conversations/12/messages'] = () => new Promise((resolve) => (acknowledge = resolve));
  await parley.outbox.add({ kind: 'send', conversation_id: '12', id: 'late', body: { text: 'late' } });
  await until(() => acknowledge, 'the request');
  peer.answers['GET /snapshot'] = { ...snapshot(0, { cursor: 'aa.s2.9' }), conversations: [] };
  const asked = [];
  peer.answers['GET /messages'] = async ({ ids }) => {
    asked.push(ids);
    // The answer of before the loss arrives now.
    acknowledge(say(3, { author_id: '7', client_id: 'late', text: 'late' }));
    await until(() => parley.operations().length === 0, 'the answer');
    return { data: [] };
  };
  peer.socket.drop();
  await connect(2);
  await connect(3);
  await isLive(parley);
  assert.deepEqual(asked, ['102', '103']);
  assert.deepEqual(await seqs(store), []);
  assert.deepEqual(parley.lost.map(({ text }) => text), ['lost', 'late']);
  assert.deepEqual(faults, []);
});

test('the delay that the server names as it closes is the delay before the next connection', async () => {
  const { peer, parley, connect } = await opened({ pause: () => 1_000_000 });
  await connect();
  await isLive(parley);
  peer.socket.drop(1001, 'restarting; retry in 20 ms');
  await connect(2);
  await isLive(parley);
});

test('messages written after a restore do not hide lost ones with the same seq', async () => {
  const theirs = say(2, { created_at: '2026-11-22T09:00:00Z', text: 'after the restore' });
  const { peer, parley, store, connect, faults } = await opened({
    hello: (command) =>
      command.cursor === 'aa.3' ? { complete: false, reset: true, reason: 'epoch' } : { complete: true, cursor: command.cursor },
    answers: {
      'GET /conversations/12': snapshot(2).conversations[0],
      'GET /conversations/12/digest': {
        cursor: 'bb.2', digest: '', parts: [{ from_seq: 1, to_seq: 2, digest: sha256(digestLine(say(1)) + digestLine(theirs)) }],
      },
      'GET /conversations/12/messages': (query) => ({ ...page(2)(query), data: [theirs, say(1)], cursor: 'bb.2' }),
    },
  });
  await connect();
  const own = { author_id: '7', client_id: 'first', text: 'in its place', created_at: '2026-11-22T08:00:00Z' };
  peer.socket.tell(created(1), created(2, own), created(3, { ...own, client_id: 'second', text: 'behind it', created_at: '2026-11-22T08:30:00Z' }));
  await until(() => parley.mirror.cursor === 'aa.3', 'three messages');
  peer.answers['GET /snapshot'] = snapshot(2, { cursor: 'bb.2' });
  const resets = [];
  parley.on('reset', ({ repaired, lost }) => resets.push({ repaired, lost }));
  peer.socket.drop();
  await connect(2);
  await connect(3);
  await isLive(parley);
  assert.deepEqual(await seqs(store), [1, 2]);
  assert.equal((await store.get('messages', ['12', 2])).text, 'after the restore');
  assert.deepEqual(parley.lost.map(({ text }) => text), ['in its place', 'behind it']);
  assert.deepEqual(resets, [{ repaired: 1, lost: 2 }]);
  parley.outbox.stop();
  await parley.sendLost();
  assert.deepEqual(parley.operations().map(({ id, body }) => [id, body.text]), [['first', 'in its place'], ['second', 'behind it']]);
  assert.deepEqual(faults, []);
});

/** A conversation of a server, with the answers that a comparison asks for. */
function serverOf(messages, cursor) {
  const inRange = ({ from_seq: from, to_seq: to }) => messages.filter(({ seq }) => seq >= Number(from) && seq <= Number(to));
  const own = (seq) => seq > messages.length;
  return {
    'GET /conversations/12': { ...snapshot(messages.length).conversations[0], last_message_id: messages.at(-1).id, last_message: messages.at(-1) },
    'GET /messages': ({ ids }) => ({ data: messages.filter(({ id }) => ids.split(',').includes(id)) }),
    'GET /conversations/12/messages': ({ before, after, around, limit = 50 }) => {
      const anchor = before ?? after ?? around;
      const at = messages.findIndex(({ id }) => id === anchor);
      if (anchor !== undefined && at === -1) return Response.json({ status: 400, code: 'invalid' }, { status: 400 });
      const data = messages.slice(0, before === undefined ? undefined : at).slice(-limit).reverse();
      return { data, cursor, skipped: [], latest_seq: messages.length, ...positions('desc', data.at(-1)?.seq > 1, false) };
    },
    'GET /conversations/12/digest': (query) => {
      if (own(Number(query.to_seq))) return Response.json({ status: 400, code: 'invalid' }, { status: 400 });
      const [from, to] = [Number(query.from_seq), Number(query.to_seq)];
      const size = Math.ceil((to - from + 1) / Number(query.parts));
      const parts = [];
      for (let first = from; first <= to; first += size) {
        const part = { from_seq: first, to_seq: Math.min(to, first + size - 1) };
        parts.push({ ...part, digest: sha256(inRange(part).map(digestLine).join('')) });
      }
      return { cursor, digest: '', parts };
    },
  };
}

const numbered = (count, over = () => ({})) => Array.from({ length: count }, (_, index) => say(index + 1, over(index + 1)));

test('own messages survive a history that differs over several digest parts', async () => {
  const before = numbered(60, (seq) => (seq === 20 || seq === 40 ? { author_id: '7', client_id: `c${seq}`, text: `own ${seq}` } : {}));
  const id = (seq) => String(500 + seq);
  // The first 10 are as before. One own message was sent again meanwhile.
  const after = before.map((one) => (one.seq <= 10 ? one : say(one.seq, {
    id: id(one.seq), previous_message: one.seq === 11 ? before[9].id : id(one.seq - 1), text: `other ${one.seq}`, created_at: '2026-11-23',
  })));
  const { peer, parley, store, connect, faults } = await opened({
    event: 60, answers: serverOf(before, 'aa.60'),
    hello: (command) => (command.cursor === 'aa.60' && isReset ? { complete: false, reset: true, reason: 'epoch' } : { complete: true, cursor: command.cursor }),
  });
  let isReset = false;
  await connect();
  await isLive(parley);
  await parley.fetchAll('12');
  isReset = true;
  Object.assign(peer.answers, serverOf(after, 'bb.60'), { 'GET /snapshot': snapshot(60, { cursor: 'bb.60' }) });
  peer.socket.drop();
  await connect(2);
  await until(() => peer.sockets.length > 2, 'the reset');
  isReset = false;
  await connect(3);
  await isLive(parley);
  assert.deepEqual((await store.list('messages')).map((one) => one.id), after.map((one) => one.id));
  assert.deepEqual(parley.lost.map(({ text }) => text), ['own 20', 'own 40']);
  assert.deepEqual(faults, []);
});

test('after rewound, all ages are unknown, and actions are fetched for every message', async () => {
  const likes = (count) => ({ actions: { like: { count } } });
  const before = numbered(250, () => ({ ...likes(5), revision: 4 }));
  const after = numbered(250, () => ({ ...likes(2), revision: 4 }));
  after[100] = say(101, { ...likes(2), revision: 2, text: 'edited again' });
  let isReset = false;
  const { peer, parley, store, connect, faults } = await opened({
    event: 250, answers: { ...serverOf(before, 'aa.s1.900'), 'GET /snapshot': snapshot(250, { cursor: 'aa.s1.900' }) },
    hello: (command) => (isReset ? { complete: false, reset: true, reason: 'rewound' } : { complete: true, cursor: command.cursor }),
  });
  await connect();
  await isLive(parley);
  await parley.fetchAll('12');
  isReset = true;
  Object.assign(peer.answers, serverOf(after, 'aa.s2.260'), { 'GET /snapshot': snapshot(250, { cursor: 'aa.s2.260' }) });
  peer.socket.drop();
  await connect(2);
  await until(() => peer.sockets.length > 2, 'the reset');
  isReset = false;
  await connect(3);
  await isLive(parley);
  assert.equal(peer.socket.commands[0].cursor, 'aa.s2.260');
  const held = await store.list('messages');
  assert.deepEqual(held.filter(({ actions }) => actions.like.count !== 2).map(({ seq }) => seq), []);
  assert.deepEqual([held[100].text, held[100].revision], ['edited again', 2]);
  peer.socket.tell({ ...created(251), id: '261', offset: 251 });
  await until(() => parley.mirror.cursor === 'aa.s2.261', 'an event of the new start');
  assert.deepEqual(faults, []);
});

test('after a restart, cached objects beyond the cursor are compared', async () => {
  const acknowledged = (seq) => say(seq, { author_id: '7', client_id: 'mine', text: 'acknowledged', created_at: '2026-11-23T10:00' });
  let event = null;
  const { peer, parley, store, connect, faults } = await opened({
    answers: { ...serverOf(numbered(3), 'aa.s1.3'), 'GET /snapshot': snapshot(0, { cursor: 'aa.s1.0' }) },
    hello: (command, socket) => ({ complete: true, cursor: event ? `aa.s2.${event}` : command.cursor }),
  });
  await connect();
  await isLive(parley);
  peer.socket.tell(created(1), created(2));
  await until(() => parley.mirror.cursor === 'aa.s1.2', 'two messages');
  // A page and an answer without their events.
  await parley.pages.fetch('12', { limit: 3 });
  peer.answers['POST /conversations/12/messages'] = () => acknowledged(4);
  await parley.outbox.add({ kind: 'send', conversation_id: '12', id: 'mine', body: { text: 'acknowledged' } });
  await until(() => parley.operations().length === 0, 'the answer');
  assert.deepEqual(await seqs(store), [1, 2, 3, 4]);
  peer.socket.drop();

  // The server continues from a copy with two messages, and has another third one.
  const other = say(3, { id: '900', text: 'another third', created_at: '2026-11-23T11:00' });
  Object.assign(peer.answers, serverOf([say(1), say(2), other], 'aa.s2.3'));
  event = 2;
  const answer = peer.onCommand;
  peer.onCommand = (command, socket) => {
    if (command.do === 'hello') socket.tell({ event: 'restarted', cursor: 'aa.s2.2' });
    answer(command, socket);
  };
  await connect(2);
  await until(() => parley.mirror.cursor === 'aa.s2.2', 'the comparison');
  assert.deepEqual((await store.list('messages')).map(({ text }) => text), ['message 1', 'message 2', 'another third']);
  assert.equal(parley.conversation('12').last_seq, 3);
  assert.deepEqual(parley.lost.map(({ text }) => text), ['acknowledged']);
  // The server may restart again before a catch-up covers the comparison.
  assert.deepEqual(Object.keys(parley.mirror.value('unconfirmed')), ['conversation:12']);

  // Nothing is beyond the cursor any more.
  peer.socket.tell({ ...created(3), data: other });
  await until(() => parley.mirror.cursor === 'aa.s2.3', 'the event of the third');
  peer.onCommand = answer;
  event = 3;
  peer.socket.drop();
  await connect(3);
  await until(() => Object.keys(parley.mirror.value('unconfirmed')).length === 0, 'the catch-up');
  peer.calls = [];
  peer.onCommand = (command, socket) => {
    if (command.do === 'hello') socket.tell({ event: 'restarted', cursor: 'aa.s3.3' });
    if (command.do === 'hello') socket.tell({ re: command.id, ok: true, user_id: '7', complete: true, cursor: 'aa.s3.3' });
  };
  peer.socket.drop();
  await connect(4);
  await until(() => parley.mirror.cursor === 'aa.s3.3', 'the third start');
  assert.deepEqual(peer.calls.filter((call) => call.includes('digest')), []);
  assert.deepEqual(faults, []);
});

test('after a restart, objects removed beyond the cursor may return', async () => {
  const { peer, parley, store, connect, faults } = await opened({
    answers: { ...serverOf(numbered(1), 'aa.s1.1'), 'GET /snapshot': snapshot(1, { cursor: 'aa.s1.1' }) },
  });
  await connect();
  await isLive(parley);
  await parley.fetchAll('12');
  // The user was removed, and no event has said so when the server restarts with a copy from before that.
  const found = peer.answers['GET /conversations/12'];
  peer.answers['GET /conversations/12'] = () => Response.json({ status: 404, code: 'not_found' }, { status: 404 });
  parley.renew('conversation:12');
  await until(() => parley.conversation('12') === null, 'the conversation to be gone');
  peer.answers['GET /conversations/12'] = found;
  peer.answers['GET /inbox'] = () => ({ data: [], unread: { mention: 2 }, next: null, previous: null });
  peer.answers['GET /snapshot'] = snapshot(1, { cursor: 'aa.s2.1' });
  peer.onCommand = (command, socket) => {
    if (command.do !== 'hello') return;
    socket.tell({ event: 'restarted', cursor: 'aa.s2.1' });
    socket.tell({ re: command.id, ok: true, user_id: '7', complete: true, cursor: 'aa.s2.1' });
  };
  peer.socket.drop();
  await connect(2);
  await until(() => parley.mirror.cursor === 'aa.s2.1', 'the new start');
  await until(() => parley.conversation('12') !== null, 'the conversation');
  await parley.fetchAll('12');
  assert.deepEqual(await seqs(store), [1]);
  await until(() => parley.mirror.value('inbox').unread?.mention === 2, 'the inbox');
  assert.deepEqual(faults, []);
});

test('an inbox from beyond the cursor is fetched again after a restart', async () => {
  let mention = 3;
  const { peer, parley, connect } = await opened({
    answers: {
      'GET /snapshot': snapshot(0, { cursor: 'aa.s1.0' }),
      'GET /inbox': () => ({ data: [], unread: { mention }, next: null, previous: null }),
    },
  });
  await connect();
  await isLive(parley);
  // An answer after the catch-up of the connection.
  await until(() => peer.calls.includes('GET /inbox'), 'the first counts');
  parley.renew('inbox');
  await until(() => parley.mirror.value('unconfirmed')?.inbox !== undefined, 'the second counts');
  mention = 1;
  peer.onCommand = (command, socket) => {
    if (command.do !== 'hello') return;
    socket.tell({ event: 'restarted', cursor: 'aa.s2.0' });
    socket.tell({ re: command.id, ok: true, user_id: '7', complete: true, cursor: 'aa.s2.0' });
  };
  peer.socket.drop();
  await connect(2);
  await until(() => parley.mirror.value('inbox').unread.mention === 1, 'the counts of the copy');
});

test('a comparison during which no events are applied waits for none', async (t) => {
  const store = memoryStore();
  const messages = numbered(120);
  const peer = new Peer();
  peer.answers = serverOf(messages, 'aa.s1.900');
  const pages = new Pages({
    client: new Client({ url: 'http://peer', fetch: peer.fetch }), store, publish: () => {}, want: () => {},
    now: () => ({ generation: 0, start: null, cursor: 5, me: '7', isOfThisStart: () => true }),
  });
  await store.update([], () => [
    ...messages.map((one) => put('messages', { ...one, known: 0, ...(one.seq % 10 ? {} : { text: 'other' }) })),
    put('history', { id: '12', held: [[1, 120]], state: 'complete', from: 1, checked: 0 }),
  ]);
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { repaired, isComplete } = await verify(pages, '12', { isFollowing: false });
  assert.deepEqual([repaired, isComplete], [12, true]);
});

test('a conversation without events is compared for its proof', async () => {
  const messages = numbered(3);
  const { peer, parley, store, connect } = await opened({
    answers: { ...serverOf(messages, 'aa.s1.9'), 'GET /snapshot': snapshot(0, { cursor: 'aa.s1.9', conversations: [] }) },
  });
  peer.answers['GET /conversations/12'] = { id: '12', kind: 'room', revision: 1, last_seq: 3 };
  await connect();
  await isLive(parley);
  await parley.fetchAll('12');
  assert.deepEqual(await parley.proof('12'), { isComplete: true, through: 3, reason: null });
  messages[1] = say(2, { text: 'edited', revision: 2 });
  assert.deepEqual(await parley.proof('12'), { isComplete: true, through: 3, reason: null });
  assert.deepEqual((await store.list('messages')).map(({ text }) => text), ['message 1', 'edited', 'message 3']);
  peer.answers['GET /conversations/12/digest'] = () => Response.json({ status: 503, code: 'unavailable' }, { status: 503 });
  assert.deepEqual(await parley.proof('12'), { isComplete: false, through: 0, reason: 'not_verified' });
});

test('own messages of a conversation that is gone after a restart can be sent again', async () => {
  const { peer, parley, store, connect, faults } = await opened({
    answers: { ...serverOf(numbered(1), 'aa.s1.1'), 'GET /snapshot': snapshot(0, { cursor: 'aa.s1.0' }) },
  });
  await connect();
  await isLive(parley);
  peer.answers['POST /conversations/12/messages'] = () => say(2, { author_id: '7', client_id: 'mine', text: 'acknowledged' });
  await parley.outbox.add({ kind: 'send', conversation_id: '12', id: 'mine', body: { text: 'acknowledged' } });
  await until(() => parley.operations().length === 0, 'the answer');
  // The server continues from a copy without the conversation.
  peer.answers['GET /conversations/12'] = () => Response.json({ status: 404, code: 'not_found' }, { status: 404 });
  peer.answers['GET /messages'] = { data: [] };
  peer.onCommand = (command, socket) => {
    if (command.do !== 'hello') return;
    socket.tell({ event: 'restarted', cursor: 'aa.s2.0' });
    socket.tell({ re: command.id, ok: true, user_id: '7', complete: true, cursor: 'aa.s2.0' });
  };
  peer.socket.drop();
  await connect(2);
  await until(() => parley.mirror.cursor === 'aa.s2.0', 'the comparison');
  assert.deepEqual(await seqs(store), []);
  assert.deepEqual(parley.lost.map(({ text }) => text), ['acknowledged']);
  assert.deepEqual(faults, []);
});

test('an acknowledgement is confirmed by its event', async () => {
  const { peer, parley, connect } = await opened();
  await connect();
  await isLive(parley);
  const mine = say(1, { author_id: '7', client_id: 'mine' });
  const action = (count) => ({ ...mine, actions: { like: { count, mine: true } } });
  Object.assign(peer.answers, {
    'POST /conversations/12/messages': mine, 'PUT /messages/101/actions/like': action(1), 'GET /messages/101': action(1),
    'PUT /conversations/12/read': { conversation_id: '12', read_up_to: 1, delivered_up_to: 1, unread_count: 0 },
  });
  await parley.outbox.add({ kind: 'send', conversation_id: '12', id: 'mine', body: { text: 'seeds' } });
  await until(() => parley.operations().length === 0, 'the answer');
  await parley.setAction(mine, 'like');
  await parley.markRead(mine);
  await until(() => parley.operations().length === 0, 'the answers');
  assert.deepEqual(Object.keys(parley.mirror.value('unconfirmed')).sort(), ['action:101', 'message:101', 'read:12']);
  peer.socket.tell(
    { ...created(1), data: mine },
    { event: 'action.added', id: '2', stream: 'conversation:12', offset: 2, actor_id: '7', data: { message_id: '101', actions: { like: { count: 1 } } } },
    { event: 'read_position.updated', id: '3', stream: 'user:7', offset: 1, actor_id: '7', data: { conversation_id: '12', read_up_to: 1, delivered_up_to: 1 } },
  );
  await until(() => parley.mirror.cursor === 'aa.3', 'the events');
  assert.deepEqual(parley.mirror.value('unconfirmed'), {});
});

test('an interrupted reset restarts, because the cursor has not moved', async () => {
  const { peer, parley, connect } = await opened({
    hello: (command) => (command.cursor === 'aa.1' ? { complete: false, reset: true, reason: 'trimmed' } : { complete: true, cursor: command.cursor }),
    answers: {
      'GET /conversations/12': snapshot(1).conversations[0],
      'GET /conversations/12/digest': () => Response.json({ status: 503, code: 'unavailable' }, { status: 503 }),
    },
  });
  await connect();
  peer.socket.tell(created(1));
  await until(() => parley.mirror.cursor === 'aa.1', 'a message');
  peer.socket.drop();
  await connect(2);
  await connect(3);
  assert.equal(parley.mirror.cursor, 'aa.1');
  assert.equal(peer.socket.commands[0].cursor, 'aa.1');
  parley.close();
});

test('a lagging stream is subscribed again and fetched, and the cursor waits for it', async () => {
  let isHeldBack = true;
  const { peer, parley, store, connect } = await opened({
    answers: {
      'GET /streams/conversation:12/events': async () => {
        await until(() => !isHeldBack, 'the test');
        return { data: [created(2), created(3)], last_offset: 3, next: null, previous: null, cursor: 'aa.3' };
      },
    },
  });
  await connect();
  await isLive(parley);
  peer.socket.tell(created(1), { event: 'lagging', stream: 'conversation:12', last_offset: 1 });
  peer.socket.tell({ event: 'settings.updated', id: '9', stream: 'site', offset: 1, data: { name: 'Meadow', revision: 2 } });
  await until(() => peer.calls.includes('GET /streams/conversation:12/events'), 'the pull');
  assert.deepEqual(peer.socket.commands.find((command) => command.do === 'subscribe').topics, [{ topic: 'conversation:12' }]);
  assert.equal(parley.mirror.cursor, 'aa.1');
  isHeldBack = false;
  await until(() => parley.settings.name === 'Meadow', 'the later event');
  assert.deepEqual(await seqs(store), [1, 2, 3]);
  assert.equal(parley.mirror.cursor, 'aa.9');
  parley.close();
});

test('events that are fetched for a lagging stream do not move the cursor beyond those of other streams', async () => {
  const [group] = snapshot().conversations;
  const other = { ...created(1), id: '10', stream: 'conversation:13', data: say(1, { id: '201', conversation_id: '13' }) };
  const { peer, parley, connect, faults } = await opened({
    answers: {
      'GET /snapshot': snapshot(0, { conversations: [group, { ...group, id: '13' }] }),
      'GET /streams/conversation:12/events': {
        data: [created(2), { ...created(3), id: '20' }], last_offset: 3, next: null, previous: null, cursor: 'aa.20',
      },
    },
  });
  await connect();
  await isLive(parley);
  peer.socket.tell(created(1), { event: 'lagging', stream: 'conversation:12', last_offset: 1 });
  await until(() => parley.conversation('12').last_seq === 3, 'the fetched events');
  // The connection breaks before the event of the other conversation.
  peer.socket.drop();
  await connect(2);
  await until(() => peer.socket.commands.length > 0, 'the hello');
  assert.equal(peer.socket.commands[0].cursor, 'aa.1');
  peer.socket.tell(other, { ...created(3), id: '20' }, { ...created(4), id: '21' });
  await until(() => parley.mirror.cursor === 'aa.21', 'the later events');
  assert.equal(parley.conversation('13').last_seq, 1);
  assert.equal(parley.conversation('12').unread_count, 4);
  assert.deepEqual(faults, []);
  parley.close();
});

test('after a restart that lost events that were fetched for a lagging stream, later ones with their offsets count', async () => {
  let isRestarted = false;
  const { peer, parley, connect } = await opened({
    hello: ({ cursor }) => ({ complete: true, cursor: isRestarted ? 'aa.s2.2' : cursor }),
    answers: {
      'GET /snapshot': snapshot(0, { cursor: 'aa.s1.0' }),
      'GET /conversations/12/messages': page(3, 3),
      'GET /streams/conversation:12/events': {
        data: [created(2), { ...created(3), id: '20' }], last_offset: 3, next: null, previous: null, cursor: 'aa.s1.20',
      },
    },
  });
  await connect();
  await isLive(parley);
  peer.socket.tell(created(1), { event: 'lagging', stream: 'conversation:12', last_offset: 1 });
  await until(() => parley.conversation('12').last_seq === 3, 'the fetched events');
  const lines = Array.from({ length: 2 }, (_, index) => digestLine(say(index + 1))).join('');
  Object.assign(peer.answers, {
    'GET /snapshot': snapshot(2, { cursor: 'aa.s2.2' }),
    'GET /conversations/12': snapshot(2).conversations[0],
    'GET /conversations/12/messages': page(2, 2),
    'GET /conversations/12/digest': { cursor: 'aa.s2.2', parts: [{ from_seq: 1, to_seq: 2, digest: sha256(lines) }] },
    'GET /messages': { data: [say(1), say(2)] },
  });
  const { onCommand } = peer;
  peer.onCommand = (command, socket) => {
    isRestarted = true;
    socket.tell({ event: 'restarted', cursor: 'aa.s2.1' });
    peer.onCommand = onCommand;
    onCommand(command, socket);
  };
  peer.socket.drop();
  await connect(2);
  await until(() => parley.mirror.cursor === 'aa.s2.2', 'the comparison');
  await isLive(parley);
  peer.socket.tell(created(3, { text: 'of the later history', created_at: '2026-01-01T00:00:00.000Z' }));
  await until(() => parley.conversation('12').last_message?.text === 'of the later history', 'the new message');
  parley.close();
});

test('messages of others are marked as delivered, where the user shows receipts', async () => {
  const delivered = [];
  const receive = async (over, conversation, ...events) => {
    const { conversations: [row] } = snapshot();
    const { peer, parley, connect } = await opened({
      answers: {
        'GET /snapshot': snapshot(0, { me: { ...me, show_receipts: true, ...over }, conversations: [{ ...row, ...conversation }] }),
        'PUT /conversations/12/delivered': () => delivered.push('12') && { conversation_id: '12', read_up_to: 0, delivered_up_to: 2, unread_count: 2 },
      },
      parley: { receipts: { delay: 1, interval: 1 } },
    });
    await connect();
    await isLive(parley);
    peer.socket.tell(...events);
    await until(() => parley.mirror.cursor === `aa.${events.length}`, 'the events');
    return { peer, parley };
  };
  const { peer } = await receive({}, {}, created(1), created(2));
  await until(() => delivered.length === 1, 'the receipt');
  peer.socket.tell(created(3, { author_id: '7' }));
  peer.socket.tell(created(4));
  await until(() => delivered.length === 2, 'the receipt of the fourth');
  delivered.splice(0);
  await receive({ show_receipts: false }, {}, created(1));
  await receive({}, { kind: 'channel' }, created(1));
  await receive({}, { request: true }, created(1));
  await receive({}, { participant_count: 51 }, created(1));
  await receive({}, {}, created(1, { author_id: '7' }));
  await receive({}, {}, created(1));
  await until(() => delivered.length > 0, 'the receipt of the last');
  assert.deepEqual(delivered, ['12']);
});

test('a message request ends with the event of its answer, and an older row does not return it', async () => {
  const { conversations: [row] } = snapshot();
  const asked = { ...row, created_by: '8', role: 'member', request: true };
  let answer;
  const { peer, parley, connect } = await opened({
    answers: {
      'GET /snapshot': snapshot(0, { conversations: [asked] }),
      'GET /conversations/12': () => new Promise((resolve) => (answer = () => resolve({ ...asked, title: 'As asked', revision: row.revision + 1 }))),
    },
  });
  await connect();
  await isLive(parley);
  assert.equal(parley.conversation('12').request, true);
  parley.renew('conversation:12');
  await until(() => answer, 'the request of the row');
  const relation = { user_id: '8', follow: false, mute: false, block: false };
  const event = (id, requests) => ({
    event: 'relation.changed', id: String(id), stream: 'user:7', offset: id, actor_id: '7', data: { ...relation, requests },
  });
  peer.socket.tell(event(1, []));
  await until(() => parley.conversation('12').request === false, 'the answer to the request');
  answer();
  await until(() => parley.conversation('12').title === 'As asked', 'the row');
  assert.equal(parley.conversation('12').request, false);
  peer.socket.tell(event(2, ['12']));
  await until(() => parley.conversation('12').request === true, 'the request again');
  parley.close();
});

test('a silent connection is detected and replaced', async () => {
  const { peer, connect, parley } = await opened({ quiet: 20, patience: 20 });
  await connect();
  await until(() => peer.sockets[0].commands.some((command) => command.do === 'ping'), 'a ping');
  await until(() => peer.sockets.length > 1, 'another connection');
  assert.equal(peer.sockets[0].readyState, 3);
  parley.close();
});

test('a hello that the server refuses for now is repeated, and any other refusal is the end', async () => {
  const { peer, parley } = await opened({ hello: null });
  const problems = [
    { status: 503, code: 'unavailable' }, { status: 429, code: 'rate_limited' }, { status: 401, code: 'unauthenticated' },
  ];
  for (const [count, problem] of problems.entries()) {
    await until(() => peer.sockets.length > count, 'a connection');
    peer.socket.open();
    await until(() => peer.socket.commands.length > 0, 'the hello');
    assert.equal(parley.state.connection, 'catchingUp');
    peer.socket.tell({ re: peer.socket.commands[0].id, problem });
  }
  await until(() => parley.state.connection === 'stopped', 'the end');
  assert.equal(parley.state.reason.code, 'unauthenticated');
  assert.equal(peer.sockets.length, 3);
});

test('only final close codes stop reconnecting', async () => {
  const { peer, connect, parley } = await opened();
  const out = [];
  parley.on('signedOut', (reason) => out.push(reason.code));
  await connect();
  peer.socket.drop(4000, 'too_slow');
  await connect(2);
  peer.socket.drop(4501, 'session_ended');
  assert.equal(parley.state.connection, 'stopped');
  assert.deepEqual(out, ['session_ended']);
  // Another client, whose connection ends afterwards, reconnects twice meanwhile.
  const other = await opened();
  await other.connect();
  for (const count of [2, 3]) {
    other.peer.socket.drop(4000, 'too_slow');
    await other.connect(count);
  }
  assert.equal(peer.sockets.length, 2);
  other.parley.close();
  parley.close();
});

test('a window changes with the receipts of its conversation', async () => {
  const { peer, parley, connect } = await opened({
    event: 1, answers: { 'GET /conversations/12/messages': { ...page(1)({}), data: [say(1, { author_id: '7' })] } },
  });
  await connect();
  await isLive(parley);
  let statuses = [];
  const window = parley.window('12', ({ items }) => {
    statuses = items.map(({ message }) => parley.statusOf(message));
  });
  await window.latest();
  assert.deepEqual(statuses, ['delivered']);
  const receipt = { conversation_id: '12', user_id: '8', read_up_to: 1, delivered_up_to: 1 };
  peer.socket.tell({
    event: 'receipt.updated', id: '2', stream: 'conversation:12', offset: 2, actor_id: '8', at: '', data: receipt,
  });
  await until(() => parley.mirror.cursor === 'aa.2', 'the receipt');
  assert.deepEqual(statuses, ['all_read']);
});

test('users of other answers are stored, but replace no newer ones', async () => {
  const old = { id: '8', name: 'grace', display_name: 'Old name', revision: 1 };
  const { parley, store, connect } = await opened({
    answers: { 'GET /snapshot': snapshot(0, { users: [{ ...old, display_name: 'Grace', revision: 2 }] }) },
  });
  await connect();
  await isLive(parley);
  const kept = parley.keepUsers([old, { id: '9', name: 'lin', revision: 1 }]);
  // Readable at once.
  assert.equal(parley.mirror.users.get('9').name, 'lin');
  await kept;
  assert.equal((await store.get('users', '9')).name, 'lin');
  assert.equal((await store.get('users', '8')).display_name, 'Grace');
  assert.equal(parley.mirror.users.get('8').display_name, 'Grace');
});

test('an event replaces a user of another answer, also one with the same revision', async () => {
  const { peer, parley, connect } = await opened();
  await connect();
  await isLive(parley);
  await parley.keepUsers([{ id: '9', name: 'lin', display_name: 'Lin', revision: 3 }]);
  const data = { id: '9', name: 'lin', display_name: 'Lin Lovelace', revision: 3 };
  peer.socket.tell({ event: 'user.updated', id: '1', stream: 'site', offset: 1, actor_id: '9', at: '', data });
  await until(() => parley.mirror.users.get('9').display_name === 'Lin Lovelace', 'the event');
});

test('a change of the signed-in user is cached before its event, and older events do not undo it', async () => {
  const preferences = { first_steps: true };
  const { peer, parley, store, connect } = await opened({ answers: { 'PATCH /users/me': { ...me, revision: 3, preferences } } });
  await connect();
  await isLive(parley);
  assert.deepEqual((await parley.updateMe({ preferences })).preferences, preferences);
  assert.deepEqual(parley.me.preferences, preferences);
  assert.deepEqual((await store.get('site', 'me')).value.preferences, preferences);
  const event = (id, data) => ({
    event: 'preferences.updated', id: String(id), stream: 'user:7', offset: id, actor_id: '7', at: '', data: { ...me, ...data },
  });
  peer.socket.tell(event(1, { revision: 2, preferences: {} }), event(2, { revision: 3, preferences }));
  await until(() => parley.mirror.cursor === 'aa.2', 'the events');
  assert.deepEqual(parley.me.preferences, preferences);
});

const membership = (offset, forum, role) => ({
  event: role ? 'participant.joined' : 'participant.left', id: String(offset), stream: 'user:7', offset, actor_id: '8', at: '',
  data: { forum_id: forum, user_id: '7', ...(role ? { role } : {}) },
});

test('a forum that another user adds the user to is fetched and stored', async () => {
  const forum = { id: '3', title: 'Staff', visibility: 'private', revision: 1, position: 0, role: 'member' };
  const { peer, parley, store, connect } = await opened({ answers: { 'GET /forums/3': forum } });
  await connect();
  await isLive(parley);
  peer.socket.tell(membership(1, '3', 'member'));
  await until(() => parley.forum('3'), 'the forum');
  assert.equal(parley.forum('3').title, 'Staff');
  assert.equal((await store.get('forums', '3'))?.role, 'member');
});

test('a private forum that the user was removed from is dropped with its room', async () => {
  const forum = { id: '3', title: 'Staff', visibility: 'private', revision: 1, position: 0, role: 'member' };
  const { peer, parley, store, connect } = await opened({
    answers: { 'GET /snapshot': snapshot(0, { forums: [forum] }) },
  });
  await connect();
  await isLive(parley);
  assert.ok(parley.forum('3'));
  peer.socket.tell(membership(1, '3', null));
  await until(() => !parley.forum('3'), 'the forum to be dropped');
  assert.equal(await store.get('forums', '3'), undefined);
});

test('a public forum that the user has left stays, without a request', async () => {
  const forum = { id: '3', title: 'Garden', visibility: 'public', revision: 1, position: 0, role: 'member' };
  const { peer, parley, connect } = await opened({ answers: { 'GET /snapshot': snapshot(0, { forums: [forum] }) } });
  await connect();
  await isLive(parley);
  peer.socket.tell(membership(1, '3', null));
  await until(() => parley.mirror.cursor === 'aa.1', 'the event');
  assert.equal(parley.forum('3').role, null);
  assert.ok(!peer.calls.includes('GET /forums/3'));
});

test('a forum of an event with the id alone is fetched, and dropped where it is not found', async () => {
  const forum = { id: '3', title: 'Staff', visibility: 'private', revision: 1, position: 0, role: 'member' };
  const { peer, parley, connect } = await opened({
    answers: { 'GET /snapshot': snapshot(0, { forums: [forum] }), 'GET /forums/3': { ...forum, title: 'Den', revision: 2 } },
  });
  await connect();
  await isLive(parley);
  const updated = (id) => ({
    event: 'forum.updated', id: String(id), stream: 'user:7', offset: id, actor_id: '8', at: '', data: { id: '3' },
  });
  peer.socket.tell(updated(1));
  await until(() => parley.forum('3')?.title === 'Den', 'the new title');
  delete peer.answers['GET /forums/3'];
  peer.socket.tell(updated(2));
  await until(() => !parley.forum('3'), 'the forum to be dropped');
  parley.close();
});

test('a feed of an event with the id alone is dropped where it is not found', async () => {
  const feed = { id: '99', kind: 'feed', owner_id: '8', revision: 1, last_seq: 1 };
  const { peer, parley, store, connect } = await opened({
    answers: { 'GET /conversations/99': feed, 'GET /conversations/99/messages': page(1, 1, { conversation_id: '99' }) },
  });
  await connect();
  await isLive(parley);
  const window = parley.window('99', () => {});
  await window.latest();
  await until(() => parley.conversation('99') && window.items.length === 1, 'the feed');
  delete peer.answers['GET /conversations/99'];
  peer.socket.tell({
    event: 'conversation.updated', id: '1', stream: 'conversation:99', offset: 9, actor_id: '8', at: '', data: { id: '99' },
  });
  await until(() => !parley.conversation('99'), 'the feed to be dropped');
  assert.equal(await store.get('conversations', '99'), undefined);
  assert.equal(window.items.length, 0);
  window.close();
  parley.close();
});

test('a new role of a guest is fetched after an event with the id alone', async () => {
  const me = { id: '7', name: 'ada', role: 'guest', revision: 9 };
  const { peer, parley, connect } = await opened({ answers: { 'GET /users/7': me } });
  await connect();
  await isLive(parley);
  assert.notEqual(parley.me.role, 'guest');
  peer.socket.tell({ event: 'user.updated', id: '1', stream: 'site', offset: 1, actor_id: '8', at: '', data: { id: '7' } });
  await until(() => parley.me.role === 'guest', 'the new role');
  parley.close();
});

test('a banned user learns the end and the reason', async () => {
  const { peer, connect, parley } = await opened();
  const out = [];
  parley.on('signedOut', (reason) => out.push(reason.params));
  await connect();
  peer.socket.tell({ event: 'banned', until: '2037-11-24T03:21:00.000Z', reason: null });
  peer.socket.drop(4501, 'session_ended');
  assert.deepEqual(out, [{ banned: true, until: '2037-11-24T03:21:00.000Z' }]);
  parley.close();
});

test('a viewed topic is subscribed beside the user\'s own, until it is closed', async () => {
  const { peer, connect, parley } = await opened();
  await connect();
  await isLive(parley);
  const subscribed = (name) => peer.socket.commands.filter((command) => command.do === name).map(({ topics }) => topics);
  const end = parley.subscribe('forum:3');
  const again = parley.subscribe('forum:3');
  await until(() => subscribed('subscribe').length === 1, 'the subscription');
  end();
  assert.deepEqual(subscribed('unsubscribe'), []);
  again();
  assert.deepEqual(subscribed('subscribe'), [[{ topic: 'forum:3' }]]);
  assert.deepEqual(subscribed('unsubscribe'), [['forum:3']]);
  const own = parley.window('12', () => {});
  assert.equal(subscribed('subscribe').length, 1, 'the user\'s own topics are always subscribed');
  own.close();
  parley.close();
});

test('a window shows a message of before its subscription, also where it is not scrolled to the end', async () => {
  const topic = { id: '99', kind: 'topic', revision: 1, last_seq: 1 };
  const pageTo = (last) => page(last, last, { conversation_id: '99' });
  const { peer, connect, parley } = await opened({
    answers: {
      'GET /conversations/99': topic,
      'GET /conversations/99/messages': pageTo(1),
      'GET /streams/conversation:99/events': { data: [], next: null, cursor: 'aa.52' },
    },
  });
  await connect();
  await isLive(parley);
  const { onCommand } = peer;
  let confirm;
  peer.onCommand = (command, socket) => {
    if (command.do === 'subscribe') confirm = () => onCommand(command, socket);
    else onCommand(command, socket);
  };
  const window = parley.window('99', () => {});
  await window.around({ seq: 1 });
  window.isSticking = false;
  await until(() => confirm && parley.mirror.conversations.has('99'), 'the subscription');
  // Another client posts, and an action follows the subscription.
  Object.assign(peer.answers, { 'GET /conversations/99': { ...topic, last_seq: 2 }, 'GET /conversations/99/messages': pageTo(2) });
  confirm();
  peer.socket.tell({
    event: 'action.set', id: '52', stream: 'conversation:99', offset: 3, actor_id: '8', at: '2026-01-01T00:00:00.000Z',
    data: { message_id: '101', actions: {} },
  });
  await until(() => window.items.length === 2, 'the message');
  window.close();
});

/** A window that opens at the first message of a topic while the answer about the topic is slow; and that answer. */
async function openedBeforeItsTopic() {
  const { peer, connect, parley } = await opened({
    answers: {
      'GET /conversations/99/messages': page(1, 1, { conversation_id: '99' }),
      'GET /streams/conversation:99/events': { data: [], next: null, cursor: 'aa.52' },
    },
  });
  let answer;
  peer.answers['GET /conversations/99'] = () => new Promise((resolve) => (answer = resolve));
  await connect();
  await isLive(parley);
  const window = parley.window('99', () => {});
  await window.around({ seq: 1 });
  assert.equal(window.items.length, 1);
  assert.equal(parley.mirror.conversations.has('99'), false);
  const known = async (last) => {
    await until(() => answer, 'the request');
    // Requests that follow are answered at once.
    peer.answers['GET /conversations/99'] = { id: '99', kind: 'topic', revision: 1, last_seq: last };
    answer(peer.answers['GET /conversations/99']);
    await until(() => parley.mirror.conversations.has('99'), 'the topic');
  };
  return { peer, parley, window, known };
}

test('a window that opened before its topic was known follows the topic', async () => {
  const { peer, parley, window, known } = await openedBeforeItsTopic();
  await known(1);
  await until(() => window.isAtNewest, 'the end');
  const event = { ...created(2), id: '52', stream: 'conversation:99', data: say(2, { conversation_id: '99' }) };
  peer.answers['GET /conversations/99'] = { id: '99', kind: 'topic', revision: 1, last_seq: 2 };
  peer.socket.tell(event);
  await until(() => window.items.length === 2, 'the new message');
  window.close();
  parley.close();
});

test('a window that opened before its topic was known shows a message of before the answer', async () => {
  const { peer, parley, window, known } = await openedBeforeItsTopic();
  peer.answers['GET /conversations/99/messages'] = page(2, 2, { conversation_id: '99' });
  await known(2);
  await until(() => window.items.length === 2 && window.isAtNewest, 'the message');
  window.close();
  parley.close();
});

test('a window opened before its topic was known shows a message that arrived before the response', async () => {
  const { peer, parley, window, known } = await openedBeforeItsTopic();
  peer.socket.tell({ ...created(2), id: '52', stream: 'conversation:99', data: say(2, { conversation_id: '99' }) });
  await until(() => window.items.length === 2, 'the new message');
  await known(2);
  assert.equal(window.items.length, 2);
  assert.equal(window.isAtNewest, true);
  window.close();
  parley.close();
});

test('a window of a topic that the user has left follows it, and that of a private conversation is empty', async () => {
  const topic = { id: '99', kind: 'topic', revision: 1, last_seq: 3 };
  const own = { ...topic, role: 'member', last_offset: 3, read_up_to: 3, delivered_up_to: 3, unread_count: 0 };
  const { peer, connect, parley, faults } = await opened({
    answers: {
      'GET /snapshot': snapshot(3, { conversations: [...snapshot(3).conversations, own] }),
      'GET /conversations/12/messages': page(3),
      'GET /conversations/99/messages': page(3, 3, { conversation_id: '99' }),
    },
  });
  await connect();
  await isLive(parley);
  const windows = ['99', '12'].map((id) => parley.window(id, () => {}));
  for (const window of windows) await window.latest();
  assert.equal(peer.socket.commands.some((command) => command.do === 'subscribe'), false);
  peer.answers['GET /conversations/99'] = topic;
  const left = (id, seq) => ({
    event: 'conversation.removed', id: String(seq), stream: 'user:7', offset: seq - 8, actor_id: '7', at: '', data: { id },
  });
  peer.socket.tell(left('99', 9), left('12', 10));
  await until(() => parley.mirror.cursor === 'aa.10' && windows[0].items.length === 3, 'the messages of the topic');
  assert.ok(peer.socket.commands.some(({ topics }) => topics?.some(({ topic: name }) => name === 'conversation:99')));
  peer.socket.tell({ ...created(4), id: '11', stream: 'conversation:99', data: say(4, { conversation_id: '99' }) });
  await until(() => windows[0].items.length === 4, 'a later message');
  assert.equal(windows[1].items.length, 0);
  assert.equal(parley.conversation('12'), null);
  assert.ok(peer.calls.filter((call) => call === 'GET /conversations/12').length <= 1);
  assert.deepEqual(faults, []);
  for (const window of windows) window.close();
  parley.close();
});

test('a topic that is gone does not keep the other viewed topics from catching up', async () => {
  const messageOf = (id, seq) => ({ ...created(seq), id: `${id}${seq}`, stream: `conversation:${id}`, data: say(seq, { id: `${id}${seq}`, conversation_id: id }) });
  const { peer, connect, parley } = await opened({
    answers: Object.fromEntries(['98', '99'].flatMap((id) => [
      [`GET /conversations/${id}`, { id, kind: 'topic', revision: 1, last_seq: 1 }],
      [`GET /conversations/${id}/messages`, page(1, 1, { conversation_id: id })],
    ])),
  });
  await connect();
  await isLive(parley);
  const windows = ['98', '99'].map((id) => parley.window(id, () => {}));
  for (const window of windows) await window.latest();
  peer.socket.tell(messageOf('98', 2), messageOf('99', 2));
  await until(() => windows.every(({ items }) => items.length === 2), 'the messages');
  peer.socket.drop();
  for (const name of ['GET /conversations/98', 'GET /conversations/98/messages']) delete peer.answers[name];
  peer.answers['GET /streams/conversation:98/events'] = () => Response.json({ status: 410, code: 'gone' }, { status: 410 });
  peer.answers['GET /streams/conversation:99/events'] = { data: [messageOf('99', 3)], next: null, cursor: 'aa.993' };
  await connect(2);
  await until(() => windows[1].items.length === 3, 'the missed message');
  for (const window of windows) window.close();
  parley.close();
});

test('an event of an unrelated stream moves no cursor', async () => {
  const { peer, connect, parley } = await opened({ answers: { 'GET /conversations/99': { id: '99', kind: 'topic', revision: 1, last_seq: 1 } } });
  await connect();
  await isLive(parley);
  peer.socket.tell({ ...created(1), id: '50', stream: 'conversation:99', data: say(1, { conversation_id: '99' }) });
  await until(() => parley.mirror.streams.has('conversation:99'), 'the event');
  assert.equal(parley.mirror.cursor, 'aa.0');
  parley.close();
});

test('conversations left out of a snapshot are fetched by pages, and the inbox too', async () => {
  const more = { ...snapshot().conversations[0], id: '13' };
  const waits = { id: '300', kind: 'mention', conversation_id: '12', message_id: '101', read_at: null };
  const { connect, parley } = await opened({
    answers: {
      'GET /snapshot': snapshot(0, { more_conversations: true }),
      'GET /conversations': ({ next }) =>
        next ? { data: [more], next: null, previous: 'y' } : { data: snapshot().conversations, next: 'x', previous: null },
      'GET /inbox': { data: [waits], next: null, previous: null, unread: { all: 1 } },
    },
  });
  await connect();
  await isLive(parley);
  assert.deepEqual(parley.conversations.map(({ id }) => id).sort(), ['12', '13']);
  await until(() => parley.mirror.value('inbox')?.unread.all === 1, 'the inbox');
  assert.equal(parley.mirror.inbox.get('300').kind, 'mention');
});

test('a client without notifications never asks for them', async () => {
  const { peer, connect, parley } = await opened({ parley: { notifications: false } });
  await connect();
  await isLive(parley);
  const data = { id: '300', kind: 'mention', conversation_id: '12', message_id: '101', read_at: null };
  const stream = 'user:7';
  peer.socket.tell({ stream, offset: 1, id: '1', event: 'notification.created', data });
  await until(() => parley.mirror.lastEvent === 1, 'the event');
  parley.renew('user:7');
  await until(() => peer.calls.includes('GET /users/7'), 'a later request');
  assert.equal(peer.calls.includes('GET /inbox'), false);
  assert.equal(parley.mirror.inbox.size, 0);
});

test('signals are emitted and not stored', async () => {
  const { peer, connect, parley } = await opened();
  await connect();
  await isLive(parley);
  parley.subscribe('presence');
  const emitted = [];
  for (const kind of ['typing', 'presence', 'forumActivity']) parley.on(kind, (detail) => emitted.push([kind, detail.user_id ?? detail.forum_id]));
  peer.socket.tell(
    { event: 'typing', stream: 'conversation:12', data: { conversation_id: '12', user_id: '8', typing: true } },
    { event: 'presence', data: { user_id: '8', presence: 'online', last_seen_at: null } },
    { event: 'forum.activity', stream: 'forum:3', data: { forum_id: '3', conversation_id: '5', last_message_id: '9' } },
  );
  assert.deepEqual(emitted, [['typing', '8'], ['presence', '8'], ['forumActivity', '3']]);
  parley.close();
});

test('presence is known while subscribed and connected', async () => {
  const { peer, connect, parley } = await opened();
  await connect();
  await isLive(parley);
  const end = parley.subscribe('presence');
  assert.deepEqual(peer.socket.commands.at(-1), { id: 2, do: 'subscribe', topics: [{ topic: 'presence' }] });
  const online = { user_id: '8', presence: 'online', last_seen_at: null };
  peer.socket.tell({ event: 'presence', data: online });
  assert.deepEqual(parley.presenceOf('8'), online);
  assert.equal(parley.presenceOf('9'), null);
  const emitted = [];
  parley.on('presence', (presence) => emitted.push(presence));
  peer.socket.drop();
  assert.equal(parley.presenceOf('8'), null);
  await connect(2);
  await until(() => peer.socket.commands.some((it) => it.do === 'subscribe'), 'presence to be subscribed again');
  peer.socket.tell({ event: 'presence', data: online });
  end();
  assert.equal(parley.presenceOf('8'), null, 'it has no subscriber any more');
  // Events in flight are ignored.
  peer.socket.tell({ event: 'presence', data: online });
  assert.equal(parley.presenceOf('8'), null);
  assert.deepEqual(emitted, [null, online, null]);
});

/** A `BroadcastChannel` of one browser. */
function channelType() {
  const channels = new Set();
  return class {
    constructor() {
      channels.add(this);
    }
    postMessage(data) {
      for (const other of channels) if (other !== this) other.onmessage?.({ data });
    }
    close() {
      channels.delete(this);
    }
  };
}

test('a hidden tab sends away only if the visible tab stays closed', async () => {
  const Channel = channelType();
  const { peer, connect, parley } = await opened({ parley: { awayAfter: 20, BroadcastChannel: Channel } });
  await connect();
  await isLive(parley);
  const said = () => peer.socket.commands.filter((it) => it.do === 'presence').map((it) => it.state);
  const other = new Channel();
  const look = (isSeen, isLeaving = false) => other.postMessage({ kind: 'tab', tab: 'other', topics: [], isSeen, isLeaving });
  look(true);
  parley.visibility.set(false);
  await until(() => !parley.visibility.isVisible, 'the tab to be hidden');
  assert.deepEqual(said(), []);
  // A reload: closed and visible again.
  look(false, true);
  assert.deepEqual(said(), []);
  look(true);
  look(false, true);
  await until(() => said().length > 0, 'a presence command');
  assert.deepEqual(said(), ['away']);
  look(true);
  assert.deepEqual(said(), ['away', 'online']);
  // A tab that reports itself hidden has waited already.
  look(false);
  assert.deepEqual(said(), ['away', 'online', 'away']);
});

test('a tab that opens beside the leading one learns the state of the connection', async () => {
  const { store, locks, BroadcastChannel } = device();
  const tabs = { store, parley: { locks, BroadcastChannel } };
  const first = await opened(tabs);
  await first.connect();
  await isLive(first.parley);
  const second = await opened(tabs);
  await isLive(second.parley);
  first.peer.socket.drop();
  await until(() => second.parley.state.connection !== 'live', 'the end of the connection');
});

test('a user that a tab wants before it leads is fetched', async () => {
  const { store, locks, BroadcastChannel } = device();
  // A browser gives a lock later.
  const later = {
    request: async (...lock) => {
      await new Promise(setImmediate);
      return locks.request(...lock);
    },
  };
  const answers = { 'GET /users/99': { id: '99', name: 'eve', revision: 1 } };
  const { parley } = await opened({ store, answers, parley: { locks: later, BroadcastChannel } });
  assert.equal(parley.sync, undefined);
  assert.equal(parley.user('99'), null);
  await until(() => parley.mirror.users.get('99')?.name === 'eve', 'the user');
});

test('a new leader reads changes that the last one stored and did not broadcast', async () => {
  const { store, locks, BroadcastChannel } = device({ isLost: () => true });
  const both = { store, event: 60, answers: { 'GET /conversations/12/messages': page(60) }, parley: { locks, BroadcastChannel } };
  const first = await opened(both);
  await first.connect();
  await isLive(first.parley);
  const second = await opened(both);
  assert.equal(second.parley.tabs.isLeader, false);
  const window = second.parley.window('12', () => {});
  await window.latest();
  const last = window.items.at(-1).message.seq;
  first.peer.socket.tell(created(last + 1));
  await until(() => first.parley.mirror.cursor === `aa.${last + 1}`, 'the event in the first tab');
  assert.equal(window.items.at(-1).message.seq, last);
  first.parley.close();
  await until(() => window.items.at(-1).message.seq === last + 1, 'the missed change');
  assert.equal(second.parley.mirror.cursor, `aa.${last + 1}`);
  assert.equal(second.parley.tabs.isLeader, true);
});

test('with a new leader, a tab reads missed changes and keeps its own', async () => {
  const { store, locks, BroadcastChannel } = device({ isLost: ({ kind }) => kind === 'changes' });
  const tabs = { store, event: 60, answers: { 'GET /conversations/12/messages': page(60) }, parley: { locks, BroadcastChannel } };
  const first = await opened(tabs);
  await first.connect();
  await isLive(first.parley);
  const second = await opened(tabs);
  const third = await opened(tabs);
  const window = third.parley.window('12', () => {});
  await window.latest();
  const last = window.items.at(-1).message.seq;
  first.peer.socket.tell(created(last + 1));
  await until(() => first.parley.mirror.cursor === `aa.${last + 1}`, 'the event in the first tab');
  third.parley.mirror.users.set('99', { id: '99', name: 'eve' });
  assert.equal(window.items.at(-1).message.seq, last);
  first.parley.close();
  await until(() => window.items.at(-1).message.seq === last + 1, 'the missed change');
  assert.equal(second.parley.tabs.isLeader, true);
  assert.equal(third.parley.tabs.isLeader, false);
  assert.equal(third.parley.mirror.cursor, `aa.${last + 1}`);
  assert.equal(third.parley.mirror.users.get('99').name, 'eve');
});

test('the write of a tab that closed before it announced it is sent by the leader and shown by every tab', async () => {
  const { store, locks, BroadcastChannel } = device();
  const posted = [];
  const tabs = { parley: { locks, BroadcastChannel } };
  const first = await opened({ ...tabs, store });
  await first.connect();
  await isLive(first.parley);
  first.peer.answers['POST /conversations/12/messages'] = () => new Promise(() => posted.push('message'));
  let second;
  const closing = {
    ...store,
    update: async (...transition) => {
      const changes = await store.update(...transition);
      if (changes.some(({ table }) => table === 'outbox')) second.parley.close();
      return changes;
    },
  };
  second = await opened({ ...tabs, store: closing });
  const third = await opened({ ...tabs, store });
  await second.parley.send('12', { text: 'last words' });
  await until(() => posted.length === 1, 'the leader to send it');
  await until(() => third.parley.operations().length === 1, 'the third tab to show it');
});

test('a broadcast during a disk read is newer than the read', async () => {
  const { store, locks, BroadcastChannel } = device();
  let isPaused = false;
  const ends = [];
  const slow = {
    ...store,
    async list(table, ...more) {
      const rows = await store.list(table, ...more);
      if (isPaused && table === 'messages') await new Promise((resolve) => ends.push(resolve));
      return rows;
    },
  };
  const tabs = { event: 60, answers: { 'GET /conversations/12/messages': page(60) }, parley: { locks, BroadcastChannel } };
  const first = await opened({ ...tabs, store });
  await first.connect();
  await isLive(first.parley);
  const second = await opened({ ...tabs, store: slow });
  const window = second.parley.window('12', () => {});
  await window.latest();
  const last = window.items.at(-1).message;
  isPaused = true;
  const read = window.unannounced();
  await until(() => ends.length > 0, 'the disk read');
  first.peer.socket.tell({ ...created(61), event: 'message.updated', data: { ...last, text: 'better', revision: 2 } });
  await until(() => window.items.at(-1).message.text === 'better', 'the broadcast');
  ends.shift()();
  assert.deepEqual((await read)(), []);
});

test('a new leader fetches users requested during its disk read, and drops a crashed tab', async () => {
  const { store, locks, BroadcastChannel, tell } = device();
  let isPaused = false;
  const ends = [];
  const slow = {
    ...store,
    async list(table, ...more) {
      if (isPaused) await new Promise((resolve) => ends.push(resolve));
      return store.list(table, ...more);
    },
  };
  globalThis.document = { visibilityState: 'hidden', addEventListener() {}, removeEventListener() {} };
  try {
    const tabs = { answers: { 'GET /users/99': { id: '99', name: 'eve', revision: 1 } }, parley: { locks, BroadcastChannel } };
    const first = await opened({ ...tabs, store });
    await first.connect();
    await isLive(first.parley);
    const second = await opened({ ...tabs, store: slow });
    tell({ kind: 'tab', tab: 'crashed', topics: ['presence'], isSeen: true, isInFront: true, isLeaving: false });
    assert.equal(second.parley.isInFront, true);
    isPaused = true;
    first.parley.close();
    await until(() => ends.length > 0, 'the disk read');
    assert.equal(second.parley.isInFront, false);
    assert.equal(second.parley.user('99'), null);
    isPaused = false;
    for (const end of ends) end();
    await until(() => second.parley.user('99')?.name === 'eve', 'the user');
  } finally {
    delete globalThis.document;
  }
});

test('ready resolves with the first snapshot, at once with a cache, and rejects without a session', async () => {
  const store = memoryStore();
  const { parley } = await opened({ store });
  assert.equal(parley.me, null);
  await parley.ready;
  assert.equal(parley.me.id, me.id);
  parley.close();
  const again = await opened({ store });
  assert.equal(again.parley.me.id, me.id);
  await again.parley.ready;
  const refused = () => Response.json({ status: 401, code: 'unauthenticated' }, { status: 401 });
  const out = await opened({ answers: { 'GET /snapshot': refused, 'GET /users/me': refused } });
  await assert.rejects(out.parley.ready, { code: 'unauthenticated' });
});

test('a page of an origin that the server refuses gets that error, and opens its cache', async (t) => {
  globalThis.location = { origin: 'http://page' };
  t.after(() => delete globalThis.location);
  let isReachable = true;
  const fetch = async (address) => {
    if (isReachable && address === 'http://peer/js/parley/problem.js') return new Response('');
    throw new TypeError('Failed to fetch');
  };
  const refused = await opened({ parley: { fetch } });
  await assert.rejects(refused.parley.ready, { code: 'origin_not_allowed', isTemporary: true });
  await assert.rejects(refused.parley.ready, { code: 'origin_not_allowed' });
  assert.equal(refused.parley.state.connection, 'offline');

  const store = memoryStore();
  const before = await opened({ store });
  await before.parley.ready;
  before.parley.close();
  const { parley, faults } = await opened({ store, parley: { fetch } });
  assert.equal(parley.me.id, me.id);
  await parley.ready;
  await parley.send('12', { text: 'later' });
  await until(() => faults.some(({ code }) => code === 'origin_not_allowed'), 'the fault');
  await until(() => parley.operations()[0].tries > 1, 'another try');
  // The browser may have hidden the answer of a request that the server has accepted.
  assert.equal(parley.operations()[0].unanswered, true);
  assert.deepEqual([parley.state.waiting, parley.state.failed], [1, 0]);

  isReachable = false;
  await assert.rejects(parley.client.calls.getServer(), { code: 'network' });
});

test('an object is fetched again with the next connection if its response could not be stored', async () => {
  let isFull = false;
  const disk = memoryStore();
  const store = { ...disk, update: (...transition) => (isFull ? Promise.reject(new Error('disk')) : disk.update(...transition)) };
  const { peer, parley, connect, faults } = await opened({ store });
  await connect();
  await isLive(parley);
  peer.answers['GET /conversations/99'] = { id: '99', kind: 'topic', revision: 1, last_seq: 1 };
  isFull = true;
  parley.renew('conversation:99');
  await until(() => faults.some(({ message }) => message === 'disk'), 'the fault');
  isFull = false;
  peer.socket.drop();
  await connect(2);
  await until(() => parley.conversation('99'), 'the topic');
});

test('users that are wanted at once are fetched in one request', async () => {
  const users = (ids) => ids.split(',').filter((id) => id !== '98').map((id) => ({ id, name: `u${id}`, revision: 1 }));
  const { connect, parley, peer } = await opened({ answers: { 'GET /users': ({ ids }) => ({ data: users(ids), next: null, previous: null }) } });
  await connect();
  await isLive(parley);
  for (const id of ['97', '98', '99']) assert.equal(parley.user(id), null);
  await until(() => parley.user('99')?.name === 'u99' && parley.user('97')?.name === 'u97', 'the users');
  assert.equal(peer.calls.filter((call) => call.startsWith('GET /users') && call !== 'GET /users/me').length, 1);
});

test('a user that the server omits is dropped from the cache, and not fetched again at each change of it', async () => {
  const asked = [];
  let isThere = true;
  const answer = (ids) => ids.filter((id) => id !== '98' || isThere).map((id) => ({ id, name: `u${id}`, revision: 1 }));
  const { connect, parley, store } = await opened({
    answers: {
      'GET /users': ({ ids }) => {
        asked.push(ids);
        return { data: answer(ids.split(',')), next: null, previous: null };
      },
      'GET /users/98': () => {
        asked.push('98');
        return isThere ? answer(['98'])[0] : Response.json({ status: 404, code: 'not_found' }, { status: 404 });
      },
      'GET /users/97': () => answer(['97'])[0],
    },
  });
  await connect();
  await isLive(parley);
  for (const id of ['97', '98']) parley.user(id);
  await until(() => parley.user('98')?.name === 'u98', 'the users');
  isThere = false;
  for (const id of ['97', '98']) parley.renew(`user:${id}`);
  await until(() => !parley.mirror.users.has('98'), 'the user to be dropped');
  assert.equal(await store.get('users', '98'), undefined);
  // Reads like a view that draws its users at each change.
  let changes = 0;
  parley.on('change', () => {
    changes++;
    parley.user('98');
  });
  const before = asked.length;
  for (let round = 1; round <= 3; round++) {
    assert.equal(parley.user('98'), null);
    await parley.setDraft('12', { text: `draft ${round}` });
  }
  parley.renew('user:97');
  await until(() => changes > 3, 'the other user');
  assert.equal(asked.length, before);
  // An app or an event asks all the same.
  isThere = true;
  parley.renew('user:98');
  await until(() => parley.user('98')?.name === 'u98', 'the user');
});

const names = async (parley, conversation) => (await parley.draftFiles(conversation)).map(({ name }) => name);
const filesOf = async (store) => (await store.list('files')).length;
const plan = () => new File(['two beds'], 'plan.txt', { type: 'text/plain' });

test('the files of a draft are stored with it and freed with it', async () => {
  const { parley, store } = await opened();
  const [one, other] = [plan(), new File(['seeds'], 'list.txt')];
  assert.equal(await parley.setDraft('12', { text: '' }, [one, other]), true);
  assert.deepEqual(await names(parley, '12'), ['plan.txt', 'list.txt']);
  // Without files in the call they stay; the same files are not stored again.
  await parley.setDraft('12', { text: 'The plan' });
  await parley.setDraft('12', { text: 'The plan.' }, [one, other]);
  assert.equal(await filesOf(store), 2);
  await parley.setDraft('12', { text: 'The plan' }, [one]);
  assert.equal(await filesOf(store), 1);
  parley.close();

  const again = await opened({ store });
  const [file] = await again.parley.draftFiles('12');
  assert.equal(file.name, 'plan.txt');
  assert.equal(file.type, 'text/plain');
  assert.equal(await file.text(), 'two beds');
  assert.equal(again.parley.draft('12').text, 'The plan');
  await again.parley.setDraft('12', { text: 'The plan' }, [file]);
  assert.equal(await filesOf(store), 1);
  await again.parley.setDraft('12', null);
  assert.equal(await filesOf(store), 0);
  assert.deepEqual(await again.parley.draftFiles('12'), []);
});

test('the files of all drafts have a limit, and the text stays without them', async () => {
  const { parley, store } = await opened({ parley: { draftBytes: 10 } });
  assert.equal(await parley.setDraft('12', { text: 'One' }, [plan()]), true);
  assert.equal(await parley.setDraft('13', { text: 'Two' }, [plan()]), false);
  assert.equal(parley.draft('13').text, 'Two');
  assert.deepEqual(await names(parley, '13'), []);
  assert.deepEqual(await names(parley, '12'), ['plan.txt']);
  assert.equal(await filesOf(store), 1);
  // A sent or dropped draft makes room.
  await parley.setDraft('12', null);
  assert.equal(await parley.setDraft('13', { text: 'Two' }, [plan()]), true);
});

test('drafts move with their files, also where the limit has no room for a copy', async () => {
  const { parley, store } = await opened({ parley: { draftBytes: 20 } });
  await parley.setDraft('12', { text: 'The plan' }, [plan()]);
  await parley.setDraft('12 title', { text: 'Beds' });
  await parley.setDraft('13', { text: 'Replaced' }, [new File(['seeds'], 'list.txt')]);
  const moves = [['12', '13'], ['12 title', '13 title']];
  await parley.moveDrafts(moves);
  assert.deepEqual(await names(parley, '13'), ['plan.txt']);
  assert.deepEqual([parley.draft('12'), parley.draft('12 title')], [null, null]);
  assert.deepEqual([parley.draft('13').text, parley.draft('13 title').text], ['The plan', 'Beds']);
  assert.equal(await filesOf(store), 1);
  // A draft that is not there leaves none.
  await parley.moveDrafts(moves);
  assert.deepEqual([parley.draft('13'), parley.draft('13 title')], [null, null]);
  assert.equal(await filesOf(store), 0);
  assert.deepEqual(await store.list('drafts'), []);
});

test('quick writes of a draft store the last, one after the other', async () => {
  const store = memoryStore();
  const ends = [];
  let writes = 0;
  const slow = {
    ...store,
    update: async (keys, decide) => {
      const changes = await store.update(keys, decide);
      if (!changes.some(({ table }) => table === 'drafts')) return changes;
      writes++;
      await new Promise((resolve) => ends.push(resolve));
      return changes;
    },
  };
  const { parley } = await opened({ store: slow });
  const writing = ['h', 'ha', 'hal', 'half'].map((text) => parley.setDraft('12', { text }));
  assert.equal(parley.draft('12').text, 'half', 'it is shown at once');
  for (const which of ['first', 'last']) {
    await until(() => ends.length > 0, `the ${which} write`);
    ends.shift()();
  }
  await Promise.all(writing);
  assert.equal(writes, 2);
  assert.equal((await store.get('drafts', '12')).value.text, 'half');
});

test('a hidden app is away after a while, also after a reconnect', async () => {
  const { peer, connect, parley } = await opened({ parley: { awayAfter: 5 } });
  await connect();
  await isLive(parley);
  parley.subscribe('presence');
  const said = () => peer.socket.commands.filter((it) => it.do === 'presence').map((it) => it.state);
  // A short time in the background does not count.
  parley.visibility.set(false);
  parley.visibility.set(true);
  parley.visibility.set(false);
  await until(() => said().length > 0, 'a presence command');
  assert.deepEqual(said(), ['away']);
  assert.equal(peer.socket.commands.filter((it) => it.do === 'unsubscribe').at(-1).topics[0], 'presence');
  peer.socket.drop();
  await connect(2);
  await until(() => said().length > 0, 'another presence command');
  assert.deepEqual(said(), ['away']);
  parley.visibility.set(true);
  assert.deepEqual(said(), ['away', 'online']);
  assert.equal(peer.socket.commands.at(-2).do, 'subscribe');
});

test('the conversations on the screen of visible tabs are told, also after a reconnect', async () => {
  const Channel = channelType();
  const { peer, connect, parley } = await opened({ parley: { BroadcastChannel: Channel } });
  await connect();
  await isLive(parley);
  const said = () => peer.socket.commands.filter((it) => it.do === 'presence').map(({ state, conversation_ids }) => [state, conversation_ids]);
  const window = parley.window('12', () => {});
  assert.deepEqual(said(), [['online', ['12']]]);
  const other = new Channel();
  const look = (topics, isInFront) => other.postMessage({ kind: 'tab', tab: 'other', topics, isSeen: true, isInFront, isLeaving: false });
  look(['conversation:9', 'conversation:12', 'presence'], true);
  // A tab in the background shows nothing.
  look(['conversation:9'], false);
  assert.deepEqual(said().slice(1), [['online', ['12', '9']], ['online', ['12']]]);
  peer.socket.drop();
  await connect(2);
  await until(() => said().length > 0, 'another presence command');
  assert.deepEqual(said(), [['online', ['12']]]);
  window.close();
  assert.deepEqual(said().at(-1), ['online', undefined]);
});

test('closing or reloading the only tab does not send away', async () => {
  const listeners = {};
  globalThis.addEventListener = (name, listener) => (listeners[name] = listener);
  try {
    const { peer, connect, parley } = await opened();
    await connect();
    await isLive(parley);
    parley.subscribe('presence');
    await until(() => peer.socket.commands.some((it) => it.do === 'subscribe'), 'presence to be subscribed');
    listeners.pagehide({ type: 'pagehide' });
    await until(() => peer.socket.commands.some((it) => it.do === 'unsubscribe'), 'presence to be unsubscribed');
    assert.deepEqual(peer.socket.commands.filter((it) => it.do === 'presence'), []);
    // Restored from the back/forward cache, it is subscribed as before.
    listeners.pageshow({ type: 'pageshow' });
    assert.deepEqual(peer.socket.commands.at(-1).topics, [{ topic: 'presence' }]);
    assert.deepEqual(peer.socket.commands.filter((it) => it.do === 'presence'), []);
  } finally {
    delete globalThis.addEventListener;
  }
});

test('showing presence again is sent at once', async () => {
  const { peer, connect, parley } = await opened({ answers: { 'GET /users/me': { ...me, show_presence: false } } });
  await connect();
  await isLive(parley);
  const mine = (revision, shown) => ({
    event: 'user.updated', id: String(revision), stream: 'site', offset: revision, actor_id: '7', at: '', data: { ...me, revision, show_presence: shown },
  });
  peer.socket.tell(mine(2, false), mine(3, true));
  await until(() => peer.socket.commands.some((it) => it.do === 'presence'), 'a presence command');
  assert.equal(peer.socket.commands.find((it) => it.do === 'presence').state, 'online');
});

test('a window shows new messages, fills a gap first, and counts messages below the view', async () => {
  const { peer, connect, parley } = await opened({ event: 60, answers: { 'GET /conversations/12/messages': page(60) } });
  await connect();
  await isLive(parley);
  const window = parley.window('12', () => {}, { size: 60, page: 30 });
  await window.latest();
  peer.socket.tell(created(61));
  await until(() => window.items.at(-1).message.seq === 61, 'the message');
  await window.older();
  await window.older();
  assert.equal(window.isAtNewest, false);
  peer.socket.tell(created(62));
  await until(() => window.beyond > 0 && parley.mirror.cursor === 'aa.62', 'the count');
  assert.equal(window.items.at(-1).message.seq < 61, true);
  while (!window.isAtNewest) await window.newer();
  assert.equal(window.items.at(-1).message.seq, 62);
  window.close();
  parley.close();
});

/** A live client with the window of a topic that has a message more than the window could fetch. */
async function openedBehind(last = 3) {
  const pageTo = (end) => page(end, end, { conversation_id: '99' });
  const row = (end) => ({ id: '99', kind: 'topic', revision: 1, last_seq: end });
  const unavailable = () => Response.json({ code: 'unavailable' }, { status: 503 });
  const { peer, parley, connect } = await opened({
    answers: {
      'GET /conversations/99': row(last),
      'GET /conversations/99/messages': pageTo(last),
      'GET /streams/conversation:99/events': { data: [], next: null, cursor: 'aa.52' },
    },
  });
  await connect();
  await isLive(parley);
  const window = parley.window('99', () => {});
  await window.latest();
  await until(() => parley.conversation('99'), 'the topic');
  Object.assign(peer.answers, { 'GET /conversations/99': row(last + 1), 'GET /conversations/99/messages': unavailable });
  parley.renew('conversation:99');
  await until(() => window.problem, 'the failure');
  const answerTo = (end) => Object.assign(peer.answers, { 'GET /conversations/99': row(end), 'GET /conversations/99/messages': pageTo(end) });
  const shown = () => window.items.map(({ message }) => message.seq);
  return { peer, parley, connect, window, answerTo, shown, unavailable };
}

test('a window that could not fetch a message shows it and the ones after it with the next change', async () => {
  const { peer, parley, window, answerTo, shown } = await openedBehind();
  const sent = { conversation_id: '99', author_id: '7' };
  peer.answers['POST /conversations/99/messages'] = ({ body }) => say(5, { ...sent, client_id: body.client_id });
  answerTo(5);
  await parley.send('99', { text: 'mine' });
  await until(() => shown().length === 5, 'the messages');
  assert.deepEqual(shown(), [1, 2, 3, 4, 5]);
  assert.equal(window.isAtNewest, true);
  window.close();
  parley.close();
});

test('a window at the end of the cached messages shows unsent ones, and the newest page once there is a network', async () => {
  const topic = { id: '99', kind: 'topic', revision: 1, last_seq: 500 };
  const pages = page(500, 500, { conversation_id: '99' });
  const { peer, parley, connect } = await opened({ answers: { 'GET /conversations/99': topic, 'GET /conversations/99/messages': pages } });
  await connect();
  await isLive(parley);
  await parley.pages.fetch('99', { order: 'asc', limit: 50 });
  parley.renew('conversation:99');
  await until(() => parley.conversation('99'), 'the topic');
  const unavailable = () => Response.json({ code: 'unavailable' }, { status: 503 });
  Object.assign(peer.answers, { 'GET /conversations/99/messages': unavailable, 'POST /conversations/99/messages': unavailable });
  const window = parley.window('99', () => {});
  await window.latest();
  const operation = await parley.send('99', { text: 'mine' });
  assert.equal(window.items.at(-1).key, `c${operation.id}`);
  const before = peer.calls.length;
  const sent = { conversation_id: '99', author_id: '7', client_id: operation.id };
  const own = say(501, sent);
  const newest = (query) => {
    const answer = page(501, 501, { conversation_id: '99' })(query);
    return { ...answer, data: answer.data.map((message) => (message.id === own.id ? own : message)) };
  };
  Object.assign(peer.answers, { 'GET /conversations/99/messages': newest, 'POST /conversations/99/messages': own });
  await parley.retry(operation.id);
  await until(() => window.items.at(-1).message.seq === 501 && window.items.length === 50, 'the newest page');
  assert.equal(window.isAtNewest, true);
  assert.ok(peer.calls.slice(before).filter((call) => call === 'GET /conversations/99/messages').length <= 2);
  window.close();
  parley.close();
});

test('a window whose messages were removed opens again when the user is added again', async () => {
  const [group] = snapshot(3).conversations;
  const { peer, parley, connect } = await opened({ event: 3, answers: { 'GET /conversations/12/messages': page(3) } });
  await connect();
  await isLive(parley);
  const window = parley.window('12', () => {});
  await window.latest();
  assert.equal(window.isAtOldest, true);
  const event = { stream: 'user:7', actor_id: '8', at: '' };
  peer.socket.tell({ ...event, event: 'conversation.removed', id: '4', offset: 1, data: { id: '12' } });
  await until(() => window.items.length === 0, 'the removal');
  assert.equal(window.isAtOldest, false);
  peer.answers['GET /conversations/12'] = group;
  peer.socket.tell({ ...event, event: 'conversation.created', id: '5', offset: 2, data: { ...group, revision: 2 } });
  await until(() => window.items.length === 3, 'the messages');
  assert.equal(window.isAtNewest, true);
  window.close();
  parley.close();
});

test('a window whose messages are of another history shows those of the restored server', async () => {
  const group = snapshot(8).conversations[0];
  const { peer, parley, connect } = await opened({ event: 5, answers: { 'GET /conversations/12/messages': page(5) } });
  await connect();
  await isLive(parley);
  const window = parley.window('12', () => {});
  await window.latest();
  assert.equal(window.items.length, 5);
  const over = { text: 'restored', created_at: '2026-01-01T00:00:00.000Z' };
  Object.assign(peer.answers, {
    'GET /snapshot': snapshot(8),
    'GET /conversations/12': group,
    'GET /conversations/12/messages': page(8, 8, over),
    'GET /conversations/12/digest': () => Response.json({ code: 'invalid' }, { status: 400 }),
    'GET /messages': { data: Array.from({ length: 8 }, (_, index) => say(index + 1, over)) },
  });
  peer.socket.tell({ event: 'reset', reason: 'rewound' });
  await connect(2);
  await isLive(parley);
  await until(() => window.items.length === 8, 'the messages');
  assert.ok(window.items.every(({ message }) => message.text === 'restored'));
  window.close();
  parley.close();
});

test('a window that opened without a network shows the messages once there is one', async () => {
  const { peer, parley, connect } = await opened({ event: 5 });
  await connect();
  await isLive(parley);
  const offline = () => Response.json({ code: 'unavailable' }, { status: 503 });
  const asked = [];
  for (const [count, open] of [(it) => it.latest(), (it) => it.around({ id: '103' }), (it) => it.around({ seq: 3 })].entries()) {
    peer.socket.drop();
    peer.answers['GET /conversations/12/messages'] = offline;
    await drop(parley.pages, '12', 1, 5);
    const window = parley.window('12', () => {});
    window.isSticking = false;
    await open(window);
    assert.equal(window.problem.isTemporary, true);
    assert.equal(window.items.length, 0);
    peer.answers['GET /conversations/12/messages'] = ({ around, ...query }) => {
      asked.push(around);
      return page(5)(query);
    };
    await connect(count + 2);
    await until(() => window.items.length === 5, 'the messages');
    assert.equal(window.problem, null);
    window.close();
  }
  assert.ok(asked.includes('103'));
  parley.close();
});

test('a window repeats failed fetches when the connection is back', async () => {
  const { peer, parley, connect, window, answerTo, shown } = await openedBehind();
  // The stream has an offset, and no event follows.
  peer.socket.tell({
    event: 'action.added', id: '52', stream: 'conversation:99', offset: 9, actor_id: '8', at: '', data: { message_id: '101', actions: {} },
  });
  await until(() => parley.mirror.streams.has('conversation:99'), 'the event');
  peer.socket.drop();
  answerTo(4);
  await connect(2);
  await until(() => shown().length === 4, 'the message');
  assert.equal(window.isAtNewest, true);
  window.close();
  parley.close();
});

test('a page of older messages that failed does not move the window when the connection is back', async () => {
  const { peer, parley, connect } = await opened({ event: 60, answers: { 'GET /conversations/12/messages': page(60) } });
  await connect();
  await isLive(parley);
  const window = parley.window('12', () => {}, { page: 20 });
  await window.latest();
  await window.older();
  peer.socket.drop();
  peer.answers['GET /conversations/12/messages'] = () => Response.json({ code: 'unavailable' }, { status: 503 });
  await window.older();
  assert.equal(window.problem.isTemporary, true);
  await connect(2);
  await isLive(parley);
  assert.equal(window.items[0].message.seq, 21);
  assert.equal(window.items.length, 40);
  window.close();
  parley.close();
});

test('a message that arrives while a window reads the cache is shown', async () => {
  let during = null;
  const disk = memoryStore();
  const store = {
    ...disk,
    async list(table, ...range) {
      const next = table === 'messages' ? during : null;
      if (next) during = null;
      await next?.();
      return disk.list(table, ...range);
    },
  };
  const { peer, parley, connect } = await opened({ event: 60, store, answers: { 'GET /conversations/12/messages': page(60) } });
  await connect();
  await isLive(parley);
  await parley.pages.fetch('12', { limit: 60 });
  let last = 60;
  const arrives = async () => {
    last += 1;
    peer.socket.tell(created(last));
    await until(() => parley.mirror.cursor === `aa.${last}`, 'the event');
  };
  const window = parley.window('12', () => {}, { page: 40 });
  const calls = peer.calls.length;
  const newest = () => window.items.at(-1).message.seq;
  during = arrives;
  await window.latest();
  await until(() => newest() === 61, 'the message of before the first page');
  during = arrives;
  await window.around({ seq: 55 });
  await until(() => newest() === 62, 'the message of before the messages around one');
  await window.around({ seq: 30 });
  assert.equal(newest(), 50);
  during = arrives;
  await window.newer();
  await until(() => newest() === 63, 'the message of before the newer ones');
  assert.equal(window.isAtNewest, true);
  assert.equal(peer.calls.length, calls);
  window.close();
  parley.close();
});

test('a page of older or newer messages is shown although the message at the end of the window changes meanwhile', async () => {
  let id = 100;
  const { peer, parley, connect } = await opened({ event: 100 });
  await connect();
  await isLive(parley);
  // The likes stand on the messages at both ends of the window.
  const pages = page(100);
  peer.answers['GET /conversations/12/messages'] = async (query) => {
    const ends = [window.items[0], window.items.at(-1)].filter(Boolean);
    for (const { message } of ends) {
      id += 1;
      peer.socket.tell({
        event: 'action.added', id: String(id), stream: 'conversation:12', offset: id, actor_id: '8', at: '',
        data: { message_id: message.id, actions: { like: { count: id } } },
      });
    }
    await until(() => parley.mirror.cursor === `aa.${id}`, 'the likes');
    return pages(query);
  };
  const window = parley.window('12', () => {}, { page: 20, size: 40 });
  const ends = () => [window.items[0].message.seq, window.items.at(-1).message.seq];
  await window.latest();
  assert.deepEqual(ends(), [81, 100]);
  await window.older();
  assert.deepEqual(ends(), [61, 100]);
  await window.older();
  assert.deepEqual(ends(), [41, 80]);
  await parley.pages.forget('12', 81, 100);
  await window.newer();
  assert.deepEqual(ends(), [61, 100]);
  assert.equal(window.items.at(-21).message.actions.like.count > 0, true);
  window.close();
  parley.close();
});

test('a window that opened before the first snapshot knows the first unread message', async () => {
  const [group] = snapshot(5).conversations;
  let answer;
  const { parley } = await opened({
    answers: { 'GET /snapshot': () => new Promise((resolve) => (answer = resolve)), 'GET /conversations/12/messages': page(5) },
  });
  const window = parley.window('12', () => {});
  await window.latest();
  assert.equal(window.firstUnread, null);
  await until(() => answer, 'the request');
  answer(snapshot(5, { conversations: [{ ...group, read_up_to: 2, unread_count: 3 }] }));
  await until(() => window.firstUnread === 3, 'the first unread message');
  await parley.markRead(say(5));
  assert.equal(window.firstUnread, 3);
  window.close();
  parley.close();
});

test('newer messages of a filtered window are looked for in several pages', async () => {
  const { parley, peer, connect } = await opened({ event: 300, answers: { 'GET /conversations/12/messages': page(300) } });
  await connect();
  await isLive(parley);
  await parley.pages.fetch('12', { order: 'asc', limit: 50 });
  const isIncluded = ({ seq }) => seq < 30 || seq > 180;
  const window = parley.window('12', () => {}, { isIncluded, page: 20 });
  await window.around({ seq: 20 });
  assert.equal(window.items.at(-1).message.seq, 29);
  await window.newer();
  assert.equal(window.items.at(-1).message.seq > 180, true);
  assert.equal(window.isAtNewest, false);
  while (!window.isAtNewest) await window.newer();
  const shown = window.items.map(({ message }) => message.seq);
  assert.deepEqual(shown, Array.from({ length: 300 }, (_, index) => index + 1).filter((seq) => seq >= shown[0] && isIncluded({ seq })));
  assert.ok(peer.calls.length < 40);
  window.close();
  parley.close();
});

test('a late cached response is dropped', async () => {
  const { parley } = await opened();
  const results = [];
  const note = (answer, isCached) => results.push([answer, isCached]);
  let release;
  const late = new Promise((resolve) => (release = resolve));
  await parley.both({ cached: () => late, fresh: async () => 'fresh' }, note);
  release('cached');
  // `both` awaits the promise too, and did so first.
  await late;
  assert.deepEqual(results, [['fresh', false]]);
  const fresh = async () => {
    await until(() => results.length === 2, 'the cached response');
    return 'fresh';
  };
  await parley.both({ cached: async () => 'cached', fresh }, note);
  assert.deepEqual(results, [['fresh', false], ['cached', true], ['fresh', false]]);
});

test('a cache that is slow or fails delays and hides no fresh response', async () => {
  const { parley, faults } = await opened();
  const results = [];
  const note = (answer, isCached) => results.push([answer, isCached]);
  const fresh = async () => 'fresh';
  assert.equal(await parley.both({ cached: () => new Promise(() => {}), fresh }, note), 'fresh');
  assert.equal(await parley.both({ cached: () => Promise.reject(new Error('disk')), fresh }, note), 'fresh');
  assert.deepEqual(results, [['fresh', false], ['fresh', false]]);
  await until(() => faults.length > 0, 'the fault');
  assert.deepEqual(faults.map(({ message }) => message), ['disk']);
  const late = parley.both({ cached: async () => 'cached', fresh: () => Promise.reject(new Error('offline')) }, note);
  await assert.rejects(late, { message: 'offline' });
  assert.deepEqual(results.at(-1), ['cached', true]);
});

test('a window shows fetched messages although they cannot be stored or read', async () => {
  for (const fails of ['update', 'list', 'get']) {
    let isFull = false;
    const store = memoryStore();
    const broken = {
      ...store,
      [fails]: (...parameters) => {
        const isAffected = isFull && (fails === 'update' || ['messages', 'history'].includes(parameters[0]));
        return isAffected ? Promise.reject(new DOMException('full', 'QuotaExceededError')) : store[fails](...parameters);
      },
    };
    const { parley, connect, faults } = await opened({ event: 60, store: broken, answers: { 'GET /conversations/12/messages': page(60) } });
    await connect();
    await isLive(parley);
    if (fails === 'list') await parley.pages.fetch('12', { limit: 5 });
    isFull = true;
    const window = parley.window('12', () => {}, { page: 30 });
    await window.latest();
    assert.deepEqual(window.items.map(({ message }) => message.seq).slice(-3), [58, 59, 60], fails);
    assert.equal(faults[0]?.name, 'QuotaExceededError', fails);
    isFull = false;
    parley.close();
  }
});
