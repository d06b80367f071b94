// Message durability: no message is lost, doubled or out of order, through crashes, disconnects and restores.
//
// The last test draws schedules of the outbox from seeds. PARLEY_SCHEDULES=N runs N new ones, PARLEY_SCHEDULE=SEED repeats one.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test, { afterEach } from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { Mirror } from '../../../Public/js/parley/mirror.js';
import { Outbox } from '../../../Public/js/parley/outbox.js';
import { Problem } from '../../../Public/js/parley/problem.js';
import { Rows, mergeMessage, sourcesOf, position, reduce } from '../../../Public/js/parley/reducer.js';
import { put } from '../../../Public/js/parley/store.js';
import { upload } from '../../../Public/js/parley/upload.js';
import { until } from './until.mjs';
import { Peer, created, me, page, say, snapshot } from './peer.mjs';

globalThis.crypto ??= webcrypto;

const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

/** A client of a scripted peer, connected and live. */
async function opened({ event = 0, store = memoryStore(), answers = {}, fetch } = {}) {
  const peer = new Peer();
  peer.answers = { 'GET /snapshot': snapshot(event), 'GET /users/me': me, ...answers };
  peer.onCommand = (command, socket) => socket.tell({ re: command.id, ok: true, user_id: '7', complete: true, cursor: command.cursor });
  const parley = await Parley.open({
    url: 'http://peer', store, fetch: fetch?.(peer) ?? peer.fetch, live: { WebSocket: peer.WebSocket, pause: () => 1 }, BroadcastChannel: null,
  });
  all.push(parley);
  parley.client.tries = 1;
  parley.outbox.pause = () => 1;
  await until(() => peer.sockets.length > 0, 'a connection');
  await peer.socket.open();
  await until(() => parley.state.connection === 'live', 'the connection to be live');
  return { peer, parley, store };
}

const context = { me: '7', generation: 0, isMuted: () => false };

/** Applies events to a store; returns their outcomes. */
async function applyAll(store, events) {
  const outcomes = [];
  for (const event of events) {
    const sources = sourcesOf(event, context);
    await store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      outcomes.push(reduce(rows, event, context));
      return rows.changes;
    });
  }
  return outcomes;
}

const withConversation = async (over = {}) => {
  const store = memoryStore();
  const row = { id: '12', kind: 'group', role: 'member', revision: 1, last_seq: 0, read_up_to: 0, unread_count: 0, known: 0, ...over };
  await store.update([], () => [put('conversations', row)]);
  return store;
};

/** An outbox alone, with its store; it sends only when `start` is called. */
function outboxOf(store, calls = {}, { now = { generation: 0, cursor: 0, me: '7' }, emit, client } = {}) {
  const mirror = new Mirror();
  const outbox = new Outbox({
    client: { calls, ...client }, store, mirror, now: () => now ?? { generation: mirror.generation, start: mirror.start, cursor: mirror.lastEvent, me: '7' },
    emit: (kind, detail) => emit?.(kind, detail), pause: () => 1, publish: (changes) => mirror.apply(changes),
  });
  outbox.load = async () => {
    await mirror.load(store);
    return outbox;
  };
  return outbox;
}

const send = (outbox, text, over = {}) => outbox.add({ kind: 'send', conversation_id: '12', body: { text }, ...over });
const kindsIn = async (store) => (await store.list('outbox')).sort((a, b) => a.order - b.order).map(({ kind }) => kind);
const offline = () => Promise.reject(new Problem({ code: 'network' }));

test('an old restoration of a message that was read again recounts the unread messages', async () => {
  const store = await withConversation({ last_seq: 1, unread_count: 0 });
  const row = mergeMessage(undefined, say(1, { revision: 3 }), position(0, 9));
  await store.update([], () => [put('messages', row)]);
  const event = (name, id, over) => ({ ...created(id, over), event: name, data: say(1, over) });
  const [outcome] = await applyAll(store, [event('message.restored', 8, { revision: 3 })]);
  assert.deepEqual(outcome.recount, ['12']);
});

test('muting and blocking a user recount the unread messages', async () => {
  const relation = (id, over) => ({ event: 'relation.changed', id: String(id), stream: 'user:7', offset: id, data: { user_id: '8', ...over } });
  const store = await withConversation();
  const outcomes = await applyAll(store, [relation(1, { mute: true }), relation(2, { mute: true, follow: true }), relation(3, { block: false, mute: false })]);
  assert.deepEqual(outcomes.map(({ recount }) => recount), [['*'], [], ['*']]);

  const { peer, parley } = await opened();
  peer.socket.tell(created(1), created(2));
  await until(() => parley.conversation('12').unread_count === 2, 'two unread messages');
  peer.socket.tell({ ...relation(1, { block: true }), id: '3' });
  await until(() => parley.conversation('12').unread_count === 0, 'none that counts');
});

test('a response never replaces newer actions, and newer actions never keep an older text', () => {
  const held = { ...mergeMessage(undefined, say(1, { actions: { like: { count: 2 } } }), position(0, 5)), actions_known: position(0, 12) };
  const edited = mergeMessage(held, say(1, { revision: 2, text: 'edited', actions: { like: { count: 1 } } }), position(0, 10));
  assert.deepEqual([edited.text, edited.actions.like.count], ['edited', 2]);
  const forced = mergeMessage(held, say(1, { text: 'repaired', actions: {} }), position(0, 10), { isForced: true });
  assert.deepEqual([forced.text, forced.actions.like.count, forced.actions_known], ['repaired', 2, position(0, 12)]);
  const newer = { ...held, revision: 3, text: 'newest', known: position(0, 11) };
  const acted = mergeMessage(newer, say(1, { revision: 2, text: 'older', actions: { like: { count: 3 } } }), position(0, 13));
  assert.deepEqual([acted.text, acted.actions.like.count], ['newest', 3]);
  const restored = mergeMessage(undefined, say(1, { revision: 1 }), position(1, 3));
  assert.equal(mergeMessage(restored, say(1, { revision: 9, text: 'earlier history' }), position(0, 900)), restored);
});

test('a star does not hide an earlier action event of another stream', async () => {
  const store = await withConversation();
  const action = (id, offset, stream, actions) => ({
    event: 'action.added', id: String(id), stream, offset, actor_id: '8', data: { message_id: '101', actions },
  });
  await applyAll(store, [
    created(1), action(12, 1, 'user:7', { star: { count: 1 } }), action(11, 2, 'conversation:12', { like: { count: 4 } }),
  ]);
  const { actions } = await store.get('messages', ['12', 1]);
  assert.deepEqual(actions, { like: { count: 4 }, star: { count: 1, mine: true } });
});

test('an own action is fetched again if another action arrives during the request', async () => {
  const action = (id, actor, count) => ({
    event: 'action.added', id: String(id), stream: 'conversation:12', offset: id, actor_id: actor,
    data: { message_id: '101', actions: { like: { count } } },
  });
  let calls = 0;
  const { peer, parley, store } = await opened();
  peer.answers['GET /messages/101'] = async () => {
    if (++calls === 1) {
      peer.socket.tell(action(3, '8', 2));
      await until(() => parley.mirror.cursor === 'aa.3', 'the other action');
    }
    return say(1, { actions: { like: { count: 2, mine: true } } });
  };
  peer.socket.tell(created(1), action(2, '7', 1));
  await until(async () => (await store.get('messages', ['12', 1]))?.actions.like?.mine, 'the own action');
  assert.equal(calls, 2);
});

test('dropping an unsent message drops its changes and no other message', async () => {
  const store = memoryStore();
  const outbox = outboxOf(store);
  const first = await send(outbox, 'first');
  await send(outbox, 'reply', { target: first.id });
  await outbox.add({ kind: 'set_action', conversation_id: '12', target: first.id, body: { type: 'like' } });
  await outbox.add({ kind: 'delete', conversation_id: '12', target: first.id });
  assert.deepEqual((await store.list('outbox')).map(({ body }) => body.text), ['reply']);
});

test('a try is stored as begun before its request', async () => {
  const store = memoryStore();
  const outbox = outboxOf(store, {
    postMessage: async ({ body }) => {
      const row = await store.get('outbox', body.client_id);
      seen.push([row.tries, row.unanswered]);
      return new Promise(() => {});
    },
  });
  const seen = [];
  const operation = await send(outbox, 'first');
  outbox.start();
  await until(() => seen.length === 1, 'the request');
  outbox.stop();
  assert.deepEqual(seen, [[1, true]]);

  // The app crashed: another process opens the store.
  const reopened = await outboxOf(store).load();
  await reopened.add({ kind: 'edit', conversation_id: '12', target: operation.id, body: { text: 'second' } });
  assert.deepEqual(await kindsIn(store), ['send', 'edit']);
  assert.equal((await store.get('outbox', operation.id)).body.text, 'first');
  await reopened.cancel(operation.id);
  assert.deepEqual(await kindsIn(store), ['send', 'delete']);
});

test('a refused message was never sent, one without an answer may be', async () => {
  for (const [problem, isEdited] of [[{ status: 422, code: 'invalid' }, true], [{ code: 'network' }, false]]) {
    const store = memoryStore();
    const outbox = outboxOf(store, { postMessage: () => Promise.reject(new Problem(problem)) });
    const operation = await send(outbox, 'first');
    outbox.start();
    await until(async () => (await store.get('outbox', operation.id)).tries > (isEdited ? 0 : 1), 'a try');
    if (isEdited) await until(async () => (await store.get('outbox', operation.id)).state === 'failed', 'the refusal');
    outbox.stop();
    await outbox.add({ kind: 'edit', conversation_id: '12', target: operation.id, body: { text: 'second' } });
    assert.equal((await store.get('outbox', operation.id)).body.text, isEdited ? 'second' : 'first');
  }
});

test('a message that was tried offline and then rejected is repaired by an edit', async () => {
  const store = memoryStore();
  const sent = [];
  let tries = 0;
  const outbox = outboxOf(store, {
    postMessage: async ({ body }) => {
      tries += 1;
      if (tries === 1) return offline();
      if (body.text.length > 5) throw new Problem({ status: 400, code: 'invalid' });
      sent.push(body.text);
      return say(1, { client_id: body.client_id, author_id: '7' });
    },
  });
  const operation = await send(outbox, 'too long');
  outbox.start();
  await until(async () => (await store.get('outbox', operation.id)).state === 'failed', 'the refusal');
  await outbox.add({ kind: 'edit', conversation_id: '12', target: operation.id, body: { text: 'ok' } });
  await outbox.retry(operation.id);
  await until(async () => (await store.list('outbox')).length === 0, 'the repaired message');
  outbox.stop();
  assert.deepEqual(sent, ['ok']);
});

test('a failed action does not stop a new one', async () => {
  const store = memoryStore();
  let requests = 0;
  const outbox = outboxOf(store, {
    setAction: async () => {
      requests += 1;
      if (requests === 1) throw new Problem({ status: 403, code: 'forbidden' });
      return say(1);
    },
  });
  const like = () => outbox.add({ kind: 'set_action', conversation_id: '12', message_id: '101', body: { type: 'like' } });
  const first = await like();
  outbox.start();
  await until(async () => (await store.get('outbox', first.id)).state === 'failed', 'the refusal');
  await like();
  await until(async () => (await store.list('outbox')).length === 0, 'the second request');
  outbox.stop();
  assert.equal(requests, 2);
});

test('an unreadable answer confirms nothing', async () => {
  const { parley, store } = await opened({
    fetch: (peer) => (address, options) =>
      options.method === 'POST' ? Promise.resolve(new Response('<html>Sign in to this network</html>')) : peer.fetch(address, options),
  });
  const operation = await parley.send('12', { text: 'seeds' });
  await until(() => parley.operations()[0]?.tries > 1, 'a second try');
  assert.equal((await store.get('outbox', operation.id)).state, 'pending');
});

test('a change of an unsent message gets its id when the event or the answer arrives, also after a reset', async () => {
  const store = await withConversation();
  const outbox = outboxOf(store, { postMessage: offline });
  const operation = await send(outbox, 'first');
  outbox.start();
  await until(async () => (await store.get('outbox', operation.id)).tries > 0, 'a try');
  outbox.stop();
  await outbox.add({ kind: 'delete', conversation_id: '12', target: operation.id });
  await applyAll(store, [created(1, { author_id: '7', client_id: operation.id })]);
  const [deletion] = await store.list('outbox');
  assert.deepEqual([deletion.kind, deletion.message_id, deletion.target], ['delete', '101', undefined]);
});

test('files of a message that arrived as an event are removed', async () => {
  const store = await withConversation();
  const operation = await outboxOf(store).add({ kind: 'send', conversation_id: '12', body: {} }, [new Blob(['x'])]);
  assert.equal((await store.list('files')).length, 1);
  await applyAll(store, [created(1, { author_id: '7', client_id: operation.id })]);
  assert.deepEqual(await store.list('files'), []);
});

test('the greatest read position wins in the cache and in the outbox', async () => {
  const store = await withConversation({ last_seq: 9, unread_count: 9 });
  const outbox = outboxOf(store);
  for (const seq of [5, 8, 3]) await outbox.markRead(say(seq));
  assert.equal((await store.get('conversations', '12')).read_up_to, 8);
  assert.deepEqual((await store.list('outbox')).map(({ seq, body }) => [seq, body.message_id]), [[8, '108']]);
  // A restore has moved the position back; the queued one still wins.
  await store.update([], () => [put('conversations', { id: '12', last_seq: 9, read_up_to: 2, unread_count: 7 })]);
  await outbox.markRead(say(6));
  assert.deepEqual((await store.list('outbox')).map(({ seq }) => seq), [8]);
});

test('a read position that the server refuses is taken back, and the conversation is fetched once', async () => {
  const row = { ...snapshot(5).conversations[0], read_up_to: 2, delivered_up_to: 2, unread_count: 3 };
  const { peer, parley } = await opened({ answers: { 'GET /snapshot': snapshot(5, { conversations: [row] }), 'GET /conversations/12': row } });
  await parley.markRead(say(4));
  assert.equal(parley.conversation('12').read_up_to, 4);
  await until(() => parley.conversation('12').read_up_to === 2, 'the position of the server');
  assert.equal(parley.conversation('12').unread_count, 3);
  await until(() => !parley.mirror.value('wanted')?.length, 'the end of the requests');
  const count = peer.calls.filter((call) => call === 'GET /conversations/12').length;
  assert.ok(count <= 3, `${count} requests`);
  peer.answers['PUT /conversations/12/read'] = { read_up_to: 5, delivered_up_to: 5, unread_count: 0 };
  await parley.markRead(say(5));
  await until(() => parley.operations().length === 0, 'the answer');
  assert.equal(parley.conversation('12').unread_count, 0);
});

test('a message sent ahead of earlier events leaves a hole, which the window fills', async () => {
  const { peer, parley, store } = await opened({ event: 0 });
  peer.socket.tell(created(1), created(2));
  await until(() => parley.mirror.cursor === 'aa.2', 'two messages');
  const window = parley.window('12', () => {});
  let isUp = false;
  peer.answers['GET /conversations/12/messages'] = (query) =>
    isUp ? page(5)(query) : Response.json({ code: 'unavailable' }, { status: 503 });
  peer.answers['GET /conversations/12'] = snapshot(5).conversations[0];
  await window.latest();
  await new Promise(setImmediate);
  peer.answers['POST /conversations/12/messages'] = () => say(5, { author_id: '7', client_id: 'mine' });
  await parley.outbox.add({ kind: 'send', conversation_id: '12', id: 'mine', body: { text: 'ahead' } });
  await until(() => parley.operations().length === 0, 'the answer');
  assert.deepEqual((await store.get('history', '12')).held, [[1, 2], [5, 5]]);
  window.close();
  isUp = true;
  const reopened = parley.window('12', () => {});
  await reopened.latest();
  assert.deepEqual(reopened.items.map(({ message }) => message.seq), [1, 2, 3, 4, 5]);
  assert.equal(reopened.isAtNewest, true);
  reopened.close();
});

test('a deleted message of another user is not unread any more, cached or not', async () => {
  for (const isCached of [true, false]) {
    const { peer, parley, store } = await opened({ event: 5 });
    peer.socket.tell(created(6), created(7));
    await until(() => parley.mirror.cursor === 'aa.7', 'the messages');
    assert.equal(parley.conversation('12').unread_count, 2);
    if (!isCached) await store.update([], () => [{ table: 'messages', key: ['12', 6] }, { table: 'history', key: '12' }]);
    const tombstone = say(6, { text: '', deleted: true, revision: 2 });
    const unread = { ...snapshot(7).conversations[0], read_up_to: 5, delivered_up_to: 5, unread_count: 1 };
    Object.assign(peer.answers, { 'DELETE /messages/106': tombstone, 'GET /conversations/12': unread });
    await parley.delete(say(6));
    await until(() => parley.operations().length === 0, 'the answer');
    peer.socket.tell({ event: 'message.deleted', id: '8', stream: 'conversation:12', offset: 8, actor_id: '7', at: '', data: tombstone });
    await until(() => parley.mirror.cursor === 'aa.8' && parley.conversation('12').unread_count === 1, 'the count');
    parley.close();
  }
});

test('a message that arrives during the request of the newest page stays in the window', async () => {
  const { peer, parley } = await opened({ event: 3 });
  peer.answers['GET /conversations/12/messages'] = async (query) => {
    const answer = page(3)(query);
    peer.socket.tell(created(4));
    await until(() => parley.mirror.cursor === 'aa.4', 'the event');
    return answer;
  };
  const window = parley.window('12', () => {});
  await window.latest();
  assert.deepEqual(window.items.map(({ message }) => message.seq), [1, 2, 3, 4]);
  window.close();
});

test('a message in the slot of a message of the earlier history sets it aside', async () => {
  const store = await withConversation();
  await applyAll(store, [created(1, { author_id: '7', client_id: 'before', text: 'before the restore' })]);
  const outbox = outboxOf(store, {
    postMessage: async ({ body }) => say(1, { id: '150', author_id: '7', client_id: body.client_id, text: 'after it' }),
  });
  await send(outbox, 'after it');
  outbox.start();
  await until(async () => (await store.list('outbox')).length === 0, 'the answer');
  outbox.stop();
  assert.equal((await store.get('messages', ['12', 1])).text, 'after it');
  assert.deepEqual((await store.get('site', 'lost')).value.map(({ text }) => text), ['before the restore']);
});

test('an answer of the earlier history confirms nothing after a reset', async () => {
  const store = await withConversation();
  const now = { generation: 0, cursor: 5, me: '7' };
  let calls = 0;
  const outbox = outboxOf(store, {
    postMessage: async ({ body }) => {
      if (++calls === 1) {
        now.generation = 1;
        await store.update([], () => [put('site', { name: 'generation', value: 1 })]);
      }
      return say(calls, { author_id: '7', client_id: body.client_id });
    },
  }, { now });
  await send(outbox, 'seeds');
  outbox.start();
  await until(async () => (await store.list('outbox')).length === 0, 'the second answer');
  outbox.stop();
  assert.equal(calls, 2);
  assert.deepEqual((await store.list('messages')).map(({ seq }) => seq), [2]);
});

test('an answer from before a restart of the server confirms nothing', async () => {
  const store = await withConversation({ last_seq: 1, unread_count: 1 });
  await store.update([], () => [put('site', { name: 'start', value: 's1' })]);
  const calls = [];
  /** The server restarts between its first answer of a kind and the arrival of the answer. */
  const answering = (kind, answer) => async (options) => {
    calls.push(kind);
    if (calls.filter((one) => one === kind).length === 1) {
      await store.update([], () => [put('site', { name: 'start', value: `after ${kind}` })]);
    }
    return answer(options);
  };
  const outbox = await outboxOf(store, {
    postMessage: answering('post', ({ body }) => say(2, { author_id: '7', client_id: body.client_id })),
    markRead: answering('read', () => ({ read_up_to: 1, delivered_up_to: 1, unread_count: 0 })),
  }, { now: null }).load();
  await send(outbox, 'seeds');
  outbox.start();
  await until(async () => (await store.list('outbox')).length === 0, 'the second answer to the post');
  await outbox.markRead(say(1));
  await until(async () => (await store.list('outbox')).length === 0, 'the second answer to the read position');
  outbox.stop();
  assert.deepEqual(calls, ['post', 'post', 'read', 'read']);
});

test('a page from before a restart of the server is fetched again', async () => {
  const lost = say(2, { id: '900', text: 'lost', author_id: '7', client_id: 'mine' });
  const { peer, parley, store } = await opened({ answers: { 'GET /snapshot': snapshot(1, { cursor: 'aa.s1.1' }) } });
  const pageOf = (messages, cursor) => ({ data: messages, cursor, latest_seq: messages.length, skipped: [], next: null, previous: null });
  let calls = 0;
  peer.answers['GET /conversations/12/messages'] = async () => {
    if (++calls > 1) return pageOf([say(1)], 'aa.s2.1');
    // The server goes on from a copy without the second message, and the client follows it first.
    await store.update([], () => [put('site', { name: 'start', value: 's2' })]);
    return pageOf([say(1), lost], 'aa.s1.2');
  };
  const { messages } = await parley.pages.fetch('12', {});
  assert.deepEqual([calls, messages.map(({ id }) => id)], [2, ['101']]);
  assert.deepEqual((await store.list('messages')).map(({ id }) => id), ['101']);
  // This tab had not heard of the restart.
  assert.equal(parley.mirror.start, 's2');
});

test('a thing that is fetched during a restart of the server is fetched again', async () => {
  const { peer, parley, store } = await opened({ answers: { 'GET /snapshot': snapshot(1, { cursor: 'aa.s1.1' }) } });
  let calls = 0;
  peer.answers['GET /conversations/12'] = async () => {
    if (++calls === 1) parley.mirror.apply(await store.update([], () => [put('site', { name: 'start', value: 's2' })]));
    return { ...snapshot(1).conversations[0], title: `title ${calls}`, revision: 9 - calls };
  };
  parley.renew('conversation:12');
  await until(() => parley.conversation('12').title !== undefined, 'the conversation');
  assert.equal(parley.conversation('12').title, 'title 2');
  assert.equal((await store.get('conversations', '12')).title, 'title 2');
});

test('a lost message that the server has after all is not lost', async () => {
  const lost = (seq, over) => say(seq, { author_id: '7', client_id: `c${seq}`, ...over });
  const { peer, parley, store } = await opened();
  const change = put('site', { name: 'lost', value: [lost(1), lost(2), lost(3), lost(4)] });
  await store.update([], () => [change]);
  parley.mirror.apply([change]);
  // An event shows the first as it was; another device has sent the second again; a page shows the third.
  peer.socket.tell({ ...created(1), data: lost(1) }, { ...created(2), data: lost(2, { id: '902', created_at: '2026-11-24' }) });
  await until(() => parley.lost.length === 2, 'the events');
  peer.answers['GET /conversations/12/messages'] = { data: [lost(3)], cursor: 'aa.3', latest_seq: 3, skipped: [], next: null, previous: null };
  await parley.pages.fetch('12', {});
  assert.deepEqual(parley.lost.map(({ seq }) => seq), [4]);
  // The answer to a repeated post.
  peer.answers['POST /conversations/12/messages'] = lost(4);
  await parley.outbox.add({ kind: 'send', conversation_id: '12', id: 'c4', body: { text: 'message 4' } });
  await until(() => parley.operations().length === 0, 'the answer');
  assert.deepEqual(parley.lost, []);
});

test('a lost message of an app is set aside and sent again as such', async () => {
  const row = { type: 'com.example.row', value: { a: 1 } };
  const before = say(1, { author_id: '7', client_id: 'mine', text: '', machine_only: true, annotations: [row] });
  const { peer, parley, store } = await opened({ event: 1 });
  await store.update([], () => [put('messages', mergeMessage(undefined, before, 1))]);
  peer.socket.tell({ ...created(1, { id: '900', created_at: '2026-11-24' }), id: '2', offset: 2 });
  await until(() => parley.lost.length === 1, 'the lost message');
  const posted = [];
  peer.answers['POST /conversations/12/messages'] = () => posted.push(parley.operations()[0].body) && say(2, { ...before, id: '950', seq: 2 });
  await parley.sendLost();
  await until(() => parley.operations().length === 0, 'the answer');
  assert.deepEqual([posted[0].machine_only, posted[0].annotations], [true, [row]]);
});

test('sending lost messages keeps those that a reset adds meanwhile', async () => {
  const store = memoryStore();
  await store.update([], () => [put('site', { name: 'lost', value: [say(1, { client_id: 'mine' })] })]);
  const outbox = outboxOf(store);
  const sending = outbox.sendLost();
  await store.update([['site', 'lost']], ([row]) => [put('site', { name: 'lost', value: [...(row?.value ?? []), say(2)] })]);
  await sending;
  const found = [...(await store.list('outbox')).map(({ body }) => body.text), ...((await store.get('site', 'lost'))?.value ?? []).map(({ text }) => text)];
  assert.deepEqual(found.sort(), ['message 1', 'message 2']);
});

test('a lost message is sent as it was: with its files, annotations and reply, for programs only', async () => {
  const store = memoryStore();
  const annotations = [{ type: 'com.example.row', value: { amount: 7 } }];
  const lost = say(1, { client_id: 'mine', machine_only: true, annotations, attachments: ['700'], reply_to: '99' });
  await store.update([], () => [put('site', { name: 'lost', value: [lost, say(2)] })]);
  await outboxOf(store).sendLost();
  const [row, plain] = (await store.list('outbox')).map(({ body }) => body).sort((a, b) => (a.text < b.text ? -1 : 1));
  assert.deepEqual(row, {
    text: 'message 1', annotations, attachments: ['700'], reply_to: '99', machine_only: true,
  });
  assert.deepEqual(Object.keys(plain).sort(), ['annotations', 'attachments', 'text']);
});

test('during a reset an answer is not newer than the events after it', async () => {
  const { parley, store } = await opened({ event: 900 });
  await store.update([], () => []);
  parley.mirror.apply([put('site', { name: 'generation', value: 1 }), put('site', { name: 'epoch', value: 'bb' })]);
  assert.equal(parley.mirror.position, position(1, 0));
});

/** A client whose upload waits for `upload.end()`. */
function uploading() {
  const upload = { isBegun: false, end: null };
  upload.client = {
    request: (method, path, { signal }) => new Promise((resolve, reject) => {
      upload.isBegun = true;
      upload.end = () => resolve({ status: 201, body: { id: '900' } });
      signal.addEventListener('abort', () => reject(new DOMException('aborted', 'AbortError')));
    }),
  };
  return upload;
}

test('a message that is dropped during its upload is not posted', async () => {
  for (const [act, isHere] of [['cancel', true], ['delete', true], ['cancel', false], ['delete', false]]) {
    const store = memoryStore();
    const upload = uploading();
    const posts = [];
    const calls = { postMessage: async ({ body }) => posts.push(body.client_id) && say(posts.length, body) };
    const outbox = outboxOf(store, calls, { client: upload.client });
    const operation = await outbox.add({ kind: 'send', conversation_id: '12', body: {} }, [new Blob(['x'])]);
    const later = await send(outbox, 'later');
    outbox.start();
    await until(() => upload.isBegun, 'the upload');
    assert.equal((await store.get('outbox', operation.id)).unanswered, false);
    // The user may drop it in another tab.
    const tab = isHere ? outbox : await outboxOf(store).load();
    if (act === 'cancel') await tab.cancel(operation.id);
    else await tab.add({ kind: 'delete', conversation_id: '12', target: operation.id });
    if (!isHere) upload.end();
    await until(async () => (await store.list('outbox')).length === 0, 'the later message');
    outbox.stop();
    assert.deepEqual([posts, await store.list('files')], [[later.id], []], `${act}, ${isHere ? 'here' : 'in another tab'}`);
  }
});

test('a message that is edited during its upload is posted with the new text', async () => {
  const store = memoryStore();
  const upload = uploading();
  const posts = [];
  const calls = { postMessage: async ({ body }) => posts.push([body.text, body.attachments]) && say(1, body) };
  const outbox = outboxOf(store, calls, { client: upload.client });
  const operation = await outbox.add({ kind: 'send', conversation_id: '12', body: { text: 'first' } }, [new Blob(['x'])]);
  outbox.start();
  await until(() => upload.isBegun, 'the upload');
  await outbox.add({ kind: 'edit', conversation_id: '12', target: operation.id, body: { text: 'second' } });
  upload.end();
  await until(async () => (await store.list('outbox')).length === 0, 'the message');
  outbox.stop();
  assert.deepEqual(posts, [['second', ['900']]]);
});

test('an upload that fails leaves the message certainly unsent', async () => {
  const store = memoryStore();
  const outbox = outboxOf(store, {}, { client: { request: offline } });
  const operation = await outbox.add({ kind: 'send', conversation_id: '12', body: {} }, [new Blob(['x'])]);
  outbox.start();
  await until(async () => (await store.get('outbox', operation.id)).tries > 1, 'a second try');
  outbox.stop();
  await outbox.cancel(operation.id);
  assert.deepEqual(await store.list('outbox'), []);
});

test('files that a restored server has lost are uploaded again', async () => {
  for (const lost of [1, 5, 6]) {
    const store = memoryStore();
    let uploads = 0;
    const posts = [];
    const failed = [];
    const request = async () => ({ status: 201, body: { id: String(900 + ++uploads) } });
    const postMessage = async ({ body }) => {
      posts.push(body.attachments);
      if (posts.length > lost) return say(1, body);
      const errors = [{ field: 'attachments', code: 'unknown' }];
      throw new Problem({ status: 422, code: 'validation_failed', errors });
    };
    const outbox = outboxOf(store, { postMessage }, { client: { request }, emit: (kind) => kind === 'failed' && failed.push(kind) });
    const operation = await outbox.add({ kind: 'send', conversation_id: '12', body: {} }, [new Blob(['x'])]);
    outbox.start();
    await until(async () => (await store.list('outbox')).length === 0 || failed.length > 0, 'the end');
    // The user sends it again.
    if (lost === 6) await outbox.retry(operation.id);
    await until(async () => (await store.list('outbox')).length === 0, 'the message');
    outbox.stop();
    assert.deepEqual(posts.slice(0, 6), Array.from({ length: Math.min(lost + 1, 6) }, (_, index) => [String(901 + index)]));
    assert.equal(failed.length, lost === 6 ? 1 : 0);
  }
});

test('an upload in pieces that a restored server has lost begins again', async () => {
  const blob = new Blob([new Uint8Array(5 * 1024 * 1024)]);
  const [created, sent] = [[], []];
  const gone = new Problem({ status: 404, code: 'not_found' });
  const calls = {
    getUpload: async ({ id }) => { throw id === 'before' ? gone : new Error(id); },
    createUpload: async () => ({ id: `upload-${created.push('')}` }),
  };
  const request = async (method, path, { headers }) => {
    sent.push([path, headers['Upload-Offset']]);
    if (sent.length === 2) throw gone;
    const isLast = headers['Upload-Offset'] !== '0';
    return { status: isLast ? 201 : 200, body: { id: '900' }, headers: new Headers({ 'upload-offset': String(4 * 1024 * 1024) }) };
  };
  const ids = [];
  const file = await upload({ calls, request }, blob, { uploadId: 'before', onUpload: (id) => { ids.push(id); } });
  assert.equal(file.id, '900');
  assert.deepEqual(ids, ['upload-1', 'upload-2']);
  assert.deepEqual(sent.map(([path]) => path), ['/uploads/upload-1', '/uploads/upload-1', '/uploads/upload-2', '/uploads/upload-2']);
});

test('a deletion behind a refused message never waits unseen', async () => {
  for (const status of [400, 403]) {
    const store = memoryStore();
    const emitted = [];
    let tries = 0;
    const postMessage = async () => {
      if (++tries > 1) throw new Problem({ status, code: 'refused' });
      return offline();
    };
    const outbox = outboxOf(store, { postMessage }, { emit: (kind, { id }) => emitted.push(kind === 'failed' ? kind : `${kind} ${id}`) });
    const operation = await send(outbox, 'first');
    outbox.pause = () => 1_000_000;
    outbox.start();
    await until(() => emitted.includes(`waiting ${operation.id}`), 'the first try');
    await outbox.add({ kind: 'delete', conversation_id: '12', target: operation.id });
    outbox.kick({ isBack: true });
    await until(() => emitted.some((it) => it === 'failed' || it.startsWith('cancelled')), 'the refusal');
    outbox.stop();
    const held = (await store.list('outbox')).map(({ kind, state }) => `${kind} ${state}`).sort();
    // A body that the server rejects cannot be there. After a lost access it may be.
    assert.deepEqual(held, status === 400 ? [] : ['delete failed', 'send failed']);
  }
});

test('deleting a refused message that the server may have sends it again and deletes it there', async () => {
  const store = memoryStore();
  const server = { message: null, mayPost: true };
  let tries = 0;
  const outbox = outboxOf(store, {
    postMessage: async ({ body }) => {
      if (++tries === 2) throw new Problem({ status: 403, code: 'forbidden' });
      server.message ??= say(1, { author_id: '7', client_id: body.client_id });
      return tries === 1 ? offline() : server.message;
    },
    deleteMessage: async () => Object.assign(server.message, { deleted: true, revision: 2 }),
  });
  const operation = await send(outbox, 'first');
  outbox.start();
  await until(async () => (await store.get('outbox', operation.id)).state === 'failed', 'the refusal');
  await outbox.add({ kind: 'delete', conversation_id: '12', target: operation.id });
  await until(async () => (await store.list('outbox')).length === 0, 'the deletion');
  outbox.stop();
  assert.equal(server.message.deleted, true);
});

test('an answer of an earlier history makes the lane rest and read the stored history', async () => {
  const store = await withConversation();
  // Another tab stored a reset and closed before it announced it.
  await store.update([], () => [put('site', { name: 'generation', value: 1 }), put('site', { name: 'epoch', value: 'bb' })]);
  let calls = 0;
  const pauses = [];
  const postMessage = async ({ body }) => say(++calls, { author_id: '7', client_id: body.client_id });
  const outbox = outboxOf(store, { postMessage }, { now: null });
  outbox.pause = (tries) => pauses.push(tries) && 1;
  await send(outbox, 'seeds');
  outbox.start();
  await until(async () => (await store.list('outbox')).length === 0 || calls > 5, 'an answer');
  outbox.stop();
  assert.deepEqual([calls, pauses], [2, [1]]);
});

test('a lost reply keeps its reference, also to another lost message', async () => {
  const store = memoryStore();
  const lost = [
    say(1, { id: '101', client_id: 'first', author_id: '7' }),
    say(2, { id: '102', client_id: 'second', author_id: '7', reply_to: '101' }),
    say(3, { id: '103', client_id: 'third', author_id: '7', reply_to: '50' }),
    say(4, { id: '104', client_id: 'fourth', author_id: '7', reply_to: '51' }),
  ];
  await store.update([], () => [put('site', { name: 'lost', value: lost })]);
  const posts = [];
  const postMessage = async ({ body }) => {
    if (body.reply_to === '51') throw new Problem({ status: 400, code: 'invalid', errors: [{ field: 'reply_to', code: 'mismatch' }] });
    posts.push([body.client_id, body.reply_to ?? null]);
    return say(posts.length, { id: String(200 + posts.length), author_id: '7', client_id: body.client_id });
  };
  const outbox = outboxOf(store, { postMessage });
  await outbox.sendLost();
  outbox.start();
  await until(async () => (await store.list('outbox')).length === 0, 'the messages');
  outbox.stop();
  assert.deepEqual(posts.sort(), [['first', null], ['fourth', null], ['second', '201'], ['third', '50']]);
});

test('a reply to a message that the server lost is sent without the reference', async () => {
  const store = memoryStore();
  const bodies = [];
  const postMessage = async ({ body }) => {
    bodies.push([body.client_id, body.reply_to ?? null]);
    if (body.reply_to) throw new Problem({ status: 400, code: 'invalid', errors: [{ field: 'reply_to', code: 'mismatch' }] });
    return say(1, { author_id: '7', client_id: body.client_id });
  };
  const outbox = outboxOf(store, { postMessage });
  const { id } = await send(outbox, 'reply', { body: { text: 'reply', reply_to: '51' } });
  outbox.start();
  await until(async () => (await store.list('outbox')).every(({ state }) => state === 'failed'), 'the end');
  outbox.stop();
  assert.deepEqual(bodies, [[id, '51'], [id, null]]);
  assert.deepEqual(await store.list('outbox'), []);
});

test('a lane sends the operation that another tab stored before its own', async () => {
  const store = memoryStore();
  const posts = [];
  const postMessage = async ({ body }) => posts.push(body.text) && say(posts.length, { client_id: body.client_id });
  const outbox = await outboxOf(store, { postMessage }).load();
  // The other tab closed before it announced it.
  await send(await outboxOf(store).load(), 'theirs');
  await send(outbox, 'ours');
  outbox.start();
  await until(async () => (await store.list('outbox')).length === 0, 'both messages');
  outbox.stop();
  assert.deepEqual(posts, ['theirs', 'ours']);
});

// Schedules.

/** Random numbers from a seed (mulberry32). */
const drawing = (seed) => (below) => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
};

/** A server with one conversation. Requests fail before or after they are performed. */
class Server {
  messages = [];
  requests = new Set();
  read = 0;
  isKind = false;

  constructor(draw) {
    this.draw = draw;
    const call = (perform) => async (options) => {
      const fate = this.isKind ? 9 : this.draw(10);
      // A repeated post is not refused.
      const name = options.body?.client_id;
      const isRefused = fate === 2 && name !== undefined && !this.messages.some((one) => one.client_id === name);
      const request = { perform: () => structuredClone(perform(options)) };
      if (fate > 1 && !isRefused) this.requests.add(request);
      await this.pause();
      if (fate === 1) throw new Problem({ status: 503, code: 'unavailable' });
      if (isRefused) throw new Problem({ status: 422, code: 'invalid' });
      if (!this.requests.delete(request)) throw new Problem({ code: 'network' });
      const answer = request.perform();
      await this.pause();
      if (fate === 3 || fate === 4) throw new Problem({ code: 'network' });
      return answer;
    };
    this.calls = {
      postMessage: call(({ body }) => this.post(body)),
      editMessage: call(({ id, body }) => Object.assign(this.find(id), body, { revision: this.find(id).revision + 1 })),
      deleteMessage: call(({ id }) => Object.assign(this.find(id), { deleted: true, text: '', revision: this.find(id).revision + 1 })),
      setAction: call(({ id, type }) => Object.assign(this.find(id), { actions: { [type]: { count: 1, mine: true } } })),
      removeAction: call(({ id }) => Object.assign(this.find(id), { actions: {} })),
      getMessage: call(({ id }) => this.find(id)),
      markRead: call(({ body }) => {
        this.read = Math.max(this.read, this.find(body.message_id).seq);
        return { read_up_to: this.read, delivered_up_to: this.read, unread_count: 0 };
      }),
    };
  }

  /** The client crashed: a request on its way is performed now or never. */
  disconnect() {
    for (const request of this.requests) if (this.draw(2)) request.perform();
    this.requests.clear();
  }

  async pause() {
    for (let turns = this.isKind ? 0 : this.draw(4); turns > 0; turns--) await new Promise(setImmediate);
  }

  find(id) {
    return this.messages.find((one) => one.id === id);
  }

  post({ client_id: name, text }) {
    const earlier = this.messages.find((one) => one.client_id === name);
    if (earlier) return earlier;
    const message = say(this.messages.length + 1, { author_id: '7', client_id: name, text });
    this.messages.push(message);
    return message;
  }
}

/** Performs a random schedule of user actions, network faults and crashes; then compares the server with the actions. */
async function play(seed) {
  const draw = drawing(seed);
  const store = await withConversation();
  const server = new Server(draw);
  /** The messages as the user wants them, by name. */
  const wanted = new Map();
  /** The messages that were refused. They may be sent again, after later ones. */
  const refused = new Set();
  let readUpTo = 0;
  let outbox;
  let isOpen = { value: true };
  const open = async () => {
    // After a crash nothing that is in progress reaches the store.
    const own = (isOpen = { value: true });
    const guarded = {
      ...store,
      update: async (...transition) => {
        await server.pause();
        if (!own.value) throw new DOMException('closed', 'AbortError');
        const changes = await store.update(...transition);
        for (const { table, row } of changes) if (table === 'outbox' && row?.state === 'failed') refused.add(row.id);
        return changes;
      },
    };
    outbox = await outboxOf(guarded, server.calls).load();
    // No clock: the schedule says when the next try begins.
    outbox.pause = () => 1_000_000;
    outbox.start();
  };
  await open();
  let count = 0;
  const step = async () => {
    const names = [...wanted.keys()];
    const name = names[draw(names.length || 1)];
    const state = wanted.get(name);
    const sent = await store.get('messages@client', name ?? '');
    const about = { conversation_id: '12', ...(sent ? { message_id: sent.id } : { target: name }) };
    const op = state && (await store.get('outbox', name));
    const isAbsent = state && !op && !sent;
    switch (draw(9)) {
      case 0: case 1: case 2: {
        const id = `s${seed}-${++count}`;
        wanted.set(id, { text: `message ${count}`, deleted: false, liked: false });
        await send(outbox, `message ${count}`, { id });
        return;
      }
      case 3:
        if (!state || state.deleted || isAbsent) return;
        await outbox.add({ kind: 'edit', body: { text: `edited ${++count}` }, ...about });
        state.text = `edited ${count}`;
        return;
      case 4:
        if (!state || state.deleted || isAbsent) return;
        if (draw(2) && op) await outbox.cancel(name);
        else await outbox.add({ kind: 'delete', ...about });
        state.deleted = true;
        return;
      case 5:
        if (!state || state.deleted || isAbsent) return;
        state.liked = !state.liked;
        await outbox.add({ kind: state.liked ? 'set_action' : 'remove_action', body: { type: 'like' }, ...about });
        return;
      case 6:
        if (!sent) return;
        await outbox.markRead(sent);
        readUpTo = Math.max(readUpTo, sent.seq);
        return;
      case 7:
        if (op?.state !== 'failed') return;
        await outbox.retry(name);
        return;
      default: {
        isOpen.value = false;
        outbox.stop();
        server.disconnect();
        await open();
      }
    }
  };
  for (let steps = 0; steps < 40; steps++) {
    await step();
    if (draw(2)) outbox.kick({ isBack: true });
    await server.pause();
  }
  isOpen.value = false;
  outbox.stop();
  server.disconnect();
  server.isKind = true;
  await open();
  for (const { id, state } of await store.list('outbox')) {
    if (state !== 'failed') continue;
    await outbox.retry(id);
  }
  await until(async () => (await store.list('outbox')).length === 0, `an empty outbox`, 5_000);
  outbox.stop();
  const names = server.messages.map((one) => one.client_id);
  assert.equal(new Set(names).size, names.length, 'a message is doubled');
  const isInOrder = (name) => !refused.has(name);
  const inOrder = [...wanted.keys()].filter((name) => isInOrder(name) && names.includes(name));
  assert.deepEqual(names.filter(isInOrder), inOrder, 'the order');
  for (const [name, state] of wanted) {
    const message = server.messages.find((one) => one.client_id === name);
    if (state.deleted) assert.ok(!message || message.deleted, `${name} is not deleted`);
    else assert.deepEqual([message?.text, message?.deleted, message?.actions.like?.mine === true], [state.text, false, state.liked], name);
    const cached = await store.get('messages@client', name);
    if (message) assert.deepEqual([cached?.id, cached?.text, cached?.deleted], [message.id, message.text, message.deleted], `${name} in the cache`);
  }
  assert.equal(server.read, readUpTo, 'the read position');
}

/** The seeds of the schedules: fixed ones and new ones; a number of new ones, or one to repeat. */
function drawnSeeds() {
  const { PARLEY_SCHEDULE: one, PARLEY_SCHEDULES: count } = process.env;
  if (one !== undefined) return { fixed: 0, first: Number(one), count: 1 };
  const first = Math.floor(Math.random() * 2 ** 31);
  return count === undefined ? { fixed: 100, first, count: 100 } : { fixed: 0, first, count: Number(count) };
}

const { fixed, first, count } = drawnSeeds();

test(`${fixed + count} schedules of the outbox lose, double and change nothing`, async (t) => {
  t.diagnostic(`new schedules of the outbox: seeds ${first} to ${first + count - 1}`);
  const seeds = [...Array.from({ length: fixed }, (_, index) => index + 1), ...Array.from({ length: count }, (_, index) => first + index)];
  const faults = [];
  for (const seed of seeds) await play(seed >>> 0).catch((error) => faults.push(`PARLEY_SCHEDULE=${seed}: ${error.message}`));
  assert.deepEqual(faults, []);
});
