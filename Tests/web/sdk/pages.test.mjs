// Pages of the history, the window over them, and verification, against the daemon.

import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { Daemon, WebSocket } from './daemon.mjs';
import { until } from './until.mjs';

let daemon;
let ada;
let garden;

before(async () => {
  daemon = await new Daemon().start();
  ada = await daemon.setUp();
  garden = await ada.client.calls.createConversation({ body: { kind: 'channel', type: 'com.example.notes', title: 'garden' } });
  for (let number = 1; number <= 430; number++) {
    await ada.client.calls.postMessage({ id: garden.id, body: { text: `seed ${number}`, machine_only: number % 50 === 0 } });
  }
});
after(() => daemon.remove());

// Close all clients, also those of failed tests, or Node would not exit.
const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

const open = async (store = memoryStore(), fetch = globalThis.fetch) => {
  const parley = await Parley.open({ url: daemon.url, token: ada.token, store, fetch, live: { WebSocket }, BroadcastChannel: null });
  all.push(parley);
  return parley;
};

const seqs = (window) => window.items.map(({ message }) => message.seq);
const range = (from, to) =>
  Array.from({ length: to - from + 1 }, (_, index) => from + index).filter((seq) => seq % 50 !== 0);

test('a window opens at the newest message and moves up and down without gaps', async () => {
  const parley = await open();
  const window = parley.window(garden.id, () => {}, { size: 120, page: 40 });
  await window.latest();
  assert.deepEqual(seqs(window), range(391, 430));
  for (let step = 0; step < 3; step++) await window.older();
  assert.deepEqual(seqs(window), range(271, 390), 'the newest are dropped for older ones');
  assert.equal(window.isAtNewest, false);
  assert.equal(window.beyond, 40);
  while (!window.isAtOldest) await window.older();
  assert.equal(seqs(window)[0], 1);
  while (!window.isAtNewest) await window.newer();
  assert.equal(seqs(window).at(-1), 430);
  window.close();
  parley.close();
});

test('a filtered window counts and shows only the messages of its filter', async () => {
  const parley = await open();
  const isIncluded = (message) => message.seq % 7 === 0;
  const some = (from, to) => range(from, to).filter((seq) => seq % 7 === 0);
  const window = parley.window(garden.id, () => {}, { size: 45, page: 20, isIncluded });
  await window.latest();
  assert.deepEqual(seqs(window), some(seqs(window)[0], 430));
  assert.ok(seqs(window).length >= 20 && seqs(window).length < 30, String(seqs(window)));
  const [first] = seqs(window);
  await window.older();
  const next = seqs(window)[0];
  assert.deepEqual(seqs(window), some(next, 430).slice(0, 45));
  assert.ok(some(next, first - 1).length >= 20);
  while (!window.isAtOldest) await window.older();
  assert.deepEqual(seqs(window), some(1, 430).slice(0, 45), 'the newest are dropped beyond the size');
  while (!window.isAtNewest) await window.newer();
  assert.deepEqual(seqs(window), some(1, 430).slice(-45));
  window.close();
  parley.close();
});

test('a window opens around a message, from the cache if possible', async () => {
  let calls = 0;
  const counting = (...call) => {
    if (String(call[0]).includes('/messages')) calls++;
    return fetch(...call);
  };
  const parley = await open(memoryStore(), counting);
  const window = parley.window(garden.id, () => {}, { page: 40 });
  const [message] = (await parley.pages.fetch(garden.id, { limit: 200 })).messages;
  calls = 0;
  await window.around({ id: String(message.id) });
  assert.ok(seqs(window).includes(message.seq));
  await window.around({ seq: 330 });
  assert.deepEqual(seqs(window), range(310, 350));
  assert.equal(calls <= 1, true);
  window.close();
  parley.close();
});

test('a window around a message fetches the neighbours that the cache lacks', async () => {
  const seventh = (await ada.client.calls.listMessages({ id: garden.id, query: { order: 'asc', limit: 7 } })).data[6].id;
  for (const query of [{ order: 'asc', limit: 1 }, { around: seventh, limit: 3 }, { limit: 1 }]) {
    const parley = await open();
    await until(() => parley.state.connection === 'live', 'the connection');
    const [message] = (await parley.pages.fetch(garden.id, query)).messages;
    const window = parley.window(garden.id, () => {}, { page: 40 });
    await window.around({ seq: message.seq });
    const shown = seqs(window);
    assert.ok(shown.includes(message.seq) && shown.length >= 20, `${JSON.stringify(query)}: ${shown}`);
    window.close();
    parley.close();
  }
});

test('cached messages are shown offline after a reload', async () => {
  const store = memoryStore();
  let parley = await open(store);
  await parley.fetchAll(garden.id);
  parley.close();
  parley = await open(store, () => Promise.reject(new TypeError('no network')));
  const window = parley.window(garden.id, () => {}, { page: 50 });
  await window.latest();
  assert.deepEqual(seqs(window), range(381, 430));
  assert.equal(window.problem?.code, 'network');
  await window.older();
  assert.equal(seqs(window)[0], 331);
  window.close();
  parley.close();
});

test('a full sync fetches each page once and resumes after an interruption', async () => {
  const store = memoryStore();
  let left = 2;
  const parley = await open(store, (address, options) => {
    if (String(address).includes('/messages') && left-- <= 0) return Promise.reject(new TypeError('no network'));
    return fetch(address, options);
  });
  parley.client.tries = 1;
  await assert.rejects(parley.fetchAll(garden.id), { code: 'network' });
  assert.equal((await parley.pages.history(garden.id)).state, 'started');
  left = 100;
  await parley.fetchAll(garden.id);
  assert.deepEqual((await parley.pages.history(garden.id)).held, [[1, 430]]);
  assert.equal((await parley.pages.history(garden.id)).state, 'complete');
  assert.ok(left >= 97, 'cached pages are not fetched again');
  parley.close();
});

test('a cache is compared with the server and repaired', async () => {
  const store = memoryStore();
  const parley = await open(store);
  assert.deepEqual(await parley.proof(garden.id), { isComplete: false, through: 0, reason: 'not_cached' });
  assert.deepEqual(await parley.verify(garden.id), { checkedUpTo: 0, isComplete: false, repaired: 0, reason: 'not_cached' });
  await parley.pages.fetch(garden.id, { limit: 50 });
  assert.deepEqual(await parley.proof(garden.id), { isComplete: false, through: 0, reason: 'incomplete' });
  assert.deepEqual(await parley.verify(garden.id), { checkedUpTo: 430, isComplete: false, repaired: 0, reason: 'incomplete' });
  await parley.fetchAll(garden.id);
  assert.deepEqual(await parley.proof(garden.id), { isComplete: false, through: 0, reason: 'not_verified' });
  assert.deepEqual(await parley.verify(garden.id), { checkedUpTo: 430, isComplete: true, repaired: 0, reason: null });
  const spoil = (seq, change) =>
    store.update([['messages', [garden.id, seq]]], ([row]) => [
      { table: 'messages', key: [garden.id, seq], row: { ...row, ...change } },
    ]);
  await spoil(17, { text: 'weeds' });
  await spoil(300, { revision: 7 });
  await store.update([], () => [{ table: 'messages', key: [garden.id, 301] }]);
  const { repaired, isComplete } = await parley.verify(garden.id);
  assert.ok(repaired > 0 && repaired < 100, `${repaired} were fetched`);
  assert.equal(isComplete, true);
  assert.equal((await store.get('messages', [garden.id, 17])).text, 'seed 17');
  assert.equal((await store.get('messages', [garden.id, 300])).revision, 1);
  assert.deepEqual(await parley.verify(garden.id), { checkedUpTo: 430, isComplete: true, repaired: 0, reason: null });
  assert.deepEqual(await parley.proof(garden.id), { isComplete: true, through: 430, reason: null });
  const empty = await ada.client.calls.createConversation({ body: { kind: 'channel', type: 'com.example.notes', title: 'empty' } });
  assert.deepEqual(await parley.verify(empty.id), { checkedUpTo: 0, isComplete: true, repaired: 0, reason: 'empty' });
  assert.deepEqual(await parley.proof(empty.id), { isComplete: true, through: 0, reason: 'empty' });
  assert.deepEqual(await parley.proof('999999'), { isComplete: false, through: 0, reason: 'unknown_conversation' });
  await assert.rejects(parley.verify('999999'), { code: 'not_found' });
  parley.close();
});

test('cached messages are searched without the server', async () => {
  const parley = await open();
  await parley.fetchAll(garden.id);
  const found = await parley.searchCache({ q: '"seed 17"', conversation: garden.id });
  assert.deepEqual(found.map(({ seq }) => seq), [17]);
  assert.equal((await parley.searchCache({ q: 'seed -17', conversation: garden.id, limit: 5 })).length, 5);
  parley.close();
});
