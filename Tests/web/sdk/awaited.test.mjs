// Operations that wait for the server, against the daemon.

import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';

import {
  Parley, deleteAndWait, editAndWait, memoryStore, removeActionAndWait, retryAndWait, sendAndWait, setActionAndWait,
  setVoteAndWait,
} from '../../../Public/js/parley/parley.js';
import { Daemon, WebSocket } from './daemon.mjs';
import { until } from './until.mjs';

let daemon;
let ada;

before(async () => {
  daemon = await new Daemon().start();
  ada = await daemon.setUp();
});
after(() => daemon.remove());

// Close all clients, also those of failed tests, or Node would not exit.
const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

async function opened() {
  const network = { isUp: true, isCutAfter: false, hasPages: true };
  const fetch = async (address, options) => {
    const isPage = (options.method ?? 'GET') === 'GET' && /\/messages\?/.test(address);
    if (!network.isUp || (isPage && !network.hasPages)) throw new TypeError('no network');
    const answer = await globalThis.fetch(address, options);
    if (!network.isCutAfter || options.method !== 'POST') return answer;
    network.isCutAfter = false;
    throw new TypeError('cut off');
  };
  const cache = { isFull: false };
  const memory = memoryStore();
  const update = (...transition) => (cache.isFull ? Promise.reject(new Error('disk full')) : memory.update(...transition));
  const parley = await Parley.open({
    url: daemon.url, token: ada.token, store: { ...memory, update }, fetch, live: { WebSocket }, BroadcastChannel: null,
  });
  all.push(parley);
  await parley.ready;
  await until(() => parley.state.connection === 'live', 'the connection to be live');
  const body = { kind: 'channel', type: 'com.example.notes', title: 'garden' };
  const { id } = await ada.client.calls.createConversation({ body });
  return { parley, network, cache, id };
}

test('each operation resolves to the message that the server has', async () => {
  const { parley, id } = await opened();
  const [message] = await sendAndWait(parley, id, { text: 'pizza party!', poll: { options: ['Friday', 'Sunday'] } });
  const stored = () => ada.client.calls.getMessage({ id: message.id });
  assert.equal((await stored()).text, 'pizza party!');
  assert.equal((await setVoteAndWait(parley, message, [1])).poll.options[1].votes, 1);
  const liked = await setActionAndWait(parley, message, 'like');
  assert.equal(liked.actions.like.count, 1);
  assert.equal((await removeActionAndWait(parley, liked, 'like')).actions.like?.count ?? 0, 0);
  assert.equal(await removeActionAndWait(parley, { ...message, actions: {} }, 'like'), null);
  assert.equal((await editAndWait(parley, message, { text: 'pizza party at nine!' })).text, 'pizza party at nine!');
  assert.equal((await stored()).text, 'pizza party at nine!');
  assert.equal((await deleteAndWait(parley, message)).deleted, true);
  assert.equal((await stored()).deleted, true);
});

test('a sent message comes with the messages before it that were not cached', async () => {
  const { parley, id } = await opened();
  await sendAndWait(parley, id, { text: 'first' });
  parley.sync.live.stop();
  for (let number = 1; number <= 120; number++) {
    await ada.client.calls.postMessage({ id, body: { text: `seed ${number}` } });
  }
  const new_ = await sendAndWait(parley, id, { text: 'last' });
  assert.deepEqual(new_.map(({ text }) => text), [...Array.from({ length: 120 }, (_, index) => `seed ${index + 1}`), 'last']);
});

test('a sent message is returned also if the messages before it cannot be fetched', async () => {
  const { parley, network, id } = await opened();
  await sendAndWait(parley, id, { text: 'first' });
  parley.sync.live.stop();
  for (let number = 1; number <= 120; number++) {
    await ada.client.calls.postMessage({ id, body: { text: `seed ${number}` } });
  }
  network.hasPages = false;
  const new_ = await sendAndWait(parley, id, { text: 'last' });
  assert.equal(new_.at(-1).text, 'last');
  assert.ok(new_.length < 121 && new_.every(({ seq }, index) => seq === new_[0].seq + index));
});

test('without a network an operation rejects and stays in the outbox', async () => {
  const { parley, network, id } = await opened();
  network.isUp = false;
  await assert.rejects(sendAndWait(parley, id, { text: 'offline' }), { code: 'network' });
  // The second one waits for the first.
  await assert.rejects(sendAndWait(parley, id, { text: 'offline, too' }), { code: 'network' });
  assert.equal(parley.state.waiting, 2);
  network.isUp = true;
  const [first] = parley.operations({ conversation: id });
  assert.equal((await retryAndWait(parley, first.id)).text, 'offline');
  await until(() => parley.state.waiting === 0, 'the outbox to be empty');
});

test('a message is stored despite a lost response', async () => {
  const { parley, network, id } = await opened();
  network.isCutAfter = true;
  const result = await sendAndWait(parley, id, { text: 'cut off' }).catch(({ code }) => code);
  assert.ok(result === 'network' || result[0].text === 'cut off');
  await until(() => parley.state.waiting === 0, 'the outbox to be empty');
  const { data } = await ada.client.calls.listMessages({ id });
  assert.deepEqual(data.map(({ text }) => text), ['cut off']);
});

test('a refused operation rejects with the problem and can be repaired', async () => {
  const { parley, id } = await opened();
  await assert.rejects(sendAndWait(parley, id, { text: 'x'.repeat(20_000) }), { field: 'text' });
  const [refused] = parley.operations({ conversation: id });
  assert.equal(refused.state, 'failed');
  const unsent = { id: null, client_id: refused.id, conversation_id: id };
  await assert.rejects(retryAndWait(parley, refused.id), { field: 'text' });
  // An action on it waits for the message, which waits for its author.
  await assert.rejects(setActionAndWait(parley, unsent, 'like'), { field: 'text' });
  await parley.edit(unsent, { text: 'short' });
  assert.equal((await retryAndWait(parley, refused.id)).text, 'short');
});

test('a waiting operation rejects when its Parley is closed, and stays in the outbox', async () => {
  const { parley, id } = await opened();
  parley.outbox.stop();
  const waiting = sendAndWait(parley, id, { text: 'later' });
  await until(() => parley.state.waiting === 1, 'the operation');
  const end = assert.rejects(waiting, { code: 'cancelled' });
  parley.close();
  await end;
  assert.equal(parley.operations({ conversation: id }).length, 1);
});

test('a waiting operation rejects when the cache cannot be written', async () => {
  const { parley, cache, id } = await opened();
  parley.outbox.stop();
  const waiting = sendAndWait(parley, id, { text: 'later' });
  await until(() => parley.state.waiting === 1, 'the operation');
  const end = assert.rejects(waiting, { code: 'not_stored' });
  cache.isFull = true;
  parley.outbox.start();
  await end;
  cache.isFull = false;
  const [{ id: name }] = parley.operations({ conversation: id });
  assert.equal((await retryAndWait(parley, name)).text, 'later');
});

test('a cancelled operation rejects, and the deletion of an unsent message resolves to null', async () => {
  const { parley, id } = await opened();
  parley.outbox.stop();
  const waiting = sendAndWait(parley, id, { text: 'never' });
  await until(() => parley.state.waiting === 1, 'the operation');
  const [{ id: name }] = parley.operations();
  const unsent = { id: null, client_id: name, conversation_id: id };
  const editing = setActionAndWait(parley, unsent, 'like');
  await until(() => parley.state.waiting === 2, 'the second operation');
  const ends = [assert.rejects(waiting, { code: 'cancelled' }), assert.rejects(editing, { code: 'cancelled' })];
  assert.equal(await deleteAndWait(parley, unsent), null);
  await Promise.all(ends);
  assert.equal((await ada.client.calls.listMessages({ id })).data.length, 0);
});
