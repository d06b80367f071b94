// Queries that are answered from the cache, then from the server.

import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';

import {
  CachedThenFresh, Parley, conversation, conversations, forum, forums, memoryStore, message, messages, user, users,
} from '../../../Public/js/parley/parley.js';
import { Daemon, WebSocket } from './daemon.mjs';

let daemon;
let ada;

before(async () => {
  daemon = await new Daemon().start();
  ada = await daemon.setUp();
});
after(() => daemon.remove());

const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

async function opened() {
  const network = { isUp: true };
  const fetch = (address, options) => (network.isUp ? globalThis.fetch(address, options) : Promise.reject(new TypeError('no network')));
  const faults = [];
  const parley = await Parley.open({
    url: daemon.url, token: ada.token, store: memoryStore(), fetch, live: { WebSocket }, BroadcastChannel: null,
  });
  parley.on('fault', (fault) => faults.push(fault));
  all.push(parley);
  await parley.ready;
  return { parley, network, faults };
}

/** The answers of a query, and the problem that ended it. */
async function answers(query) {
  const found = [];
  try {
    for await (const { value, isFresh } of query) found.push([isFresh, value]);
  } catch (problem) {
    found.push(problem.code ?? problem.message);
  }
  return found;
}

/** The server's answer comes after the reading of the cache. */
const fresh = () => new Promise((resolve) => setTimeout(resolve, 1, 'fresh'));
const once = (value) => ({ cached: async () => value, fresh });

test('the cached answer comes first, and never after the fresh one', async () => {
  const { parley, network, faults } = await opened();
  assert.deepEqual(await answers(new CachedThenFresh(parley, once('cached'))), [[false, 'cached'], [true, 'fresh']]);
  assert.deepEqual(await answers(new CachedThenFresh(parley, once(null))), [[true, 'fresh']]);
  assert.equal(await new CachedThenFresh(parley, once('cached')).fresh(), 'fresh');
  const never = { cached: () => new Promise(() => {}), fresh: async () => 'fresh' };
  assert.deepEqual(await answers(new CachedThenFresh(parley, never)), [[true, 'fresh']]);
  const broken = { cached: async () => Promise.reject(new Error('disk')), fresh };
  assert.deepEqual(await answers(new CachedThenFresh(parley, broken)), [[true, 'fresh']]);
  assert.deepEqual(faults.map((fault) => fault.message), ['disk']);
  network.isUp = false;
  assert.equal((await answers(new CachedThenFresh(parley, { ...once('cached'), fresh: async () => parley.client.calls.getServer() }))).length, 2);
});

test('each query is answered twice, and offline from the cache', async () => {
  const { parley, network } = await opened();
  const { calls } = ada.client;
  const { id: garden, room_id: room } = await calls.createForum({ body: { title: 'Reads', visibility: 'public' } });
  const posted = [];
  for (const text of ['one', 'two', 'three']) posted.push(await calls.postMessage({ id: room, body: { text } }));
  const [first, second, third] = posted.map(({ id }) => id);
  const me = parley.me.id;
  const ids = (found) => found.map(({ id }) => id);
  assert.equal((await user(parley, me).fresh()).name, parley.me.name);
  assert.deepEqual([...(await users(parley, [me, '999999']).fresh()).keys()], [me]);
  assert.equal((await forum(parley, garden).fresh()).title, 'Reads');
  assert.ok(ids(await forums(parley).fresh()).includes(garden));
  assert.equal((await conversation(parley, room).fresh()).id, room);
  assert.ok(ids(await conversations(parley).fresh()).includes(room));
  assert.deepEqual(ids(await messages(parley, room, { limit: 2 }).fresh()), [third, second]);
  assert.deepEqual(ids(await messages(parley, room, { before: second }).fresh()), [first]);
  assert.equal((await message(parley, third).fresh()).text, 'three');
  network.isUp = false;
  await parley.setAction(await parley.store.get('messages@id', third), 'like');
  const offline = async (query, read = (value) => value) => {
    const found = await answers(query);
    assert.equal(found.length, 2, JSON.stringify(found));
    assert.equal(found[1], 'network');
    return read(found[0][1]);
  };
  assert.equal((await offline(user(parley, me))).id, me);
  assert.deepEqual([...(await offline(users(parley, [me]))).keys()], [me]);
  assert.equal((await offline(forum(parley, garden))).id, garden);
  assert.equal((await offline(conversation(parley, room))).id, room);
  assert.deepEqual(await offline(messages(parley, room), ids), [third, second, first]);
  assert.deepEqual(await offline(messages(parley, room, { before: third, limit: 1 }), ids), [second]);
  // With the pending operation of the outbox.
  assert.equal((await offline(message(parley, third))).actions.like.count, 1);
});

test('a thing that is gone is a problem, and leaves the cache', async () => {
  const { parley } = await opened();
  assert.deepEqual(await answers(message(parley, '999999')), ['not_found']);
  assert.deepEqual(await answers(conversation(parley, '999999')), ['not_found']);
  assert.deepEqual(await answers(messages(parley, '999999')), ['not_found']);
});
