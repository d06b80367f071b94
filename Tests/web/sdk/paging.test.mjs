// Lists against the daemon: each item once, in both directions.

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';

import { Client } from '../../../Public/js/parley/client.js';
import { Daemon } from './daemon.mjs';

let daemon;
let client;
let room;

before(async () => {
  daemon = await new Daemon().start();
  const { token } = await daemon.setUp();
  client = new Client({ url: daemon.url, token });
  room = (await client.calls.createConversation({ body: { kind: 'channel', type: 'com.example.notes', title: 'garden' } })).id;
  for (let seq = 1; seq <= 1_000; seq += 50) {
    const texts = Array.from({ length: 50 }, (_, index) => `message ${seq + index}`);
    await Promise.all(texts.map((text) => client.calls.postMessage({ id: room, body: { text } })));
  }
});
after(() => daemon.remove());

/** All pages of a list from the first one on, in both directions. */
async function walk(call, request) {
  const first = await call(request);
  let { data, next, previous } = first;
  while (next !== null) {
    const page = await call({ ...request, query: { ...request.query, next } });
    assert.ok(page.data.length > 0 && page.previous !== null);
    data = [...data, ...page.data];
    ({ next } = page);
  }
  while (previous !== null) {
    const page = await call({ ...request, query: { ...request.query, previous } });
    assert.ok(page.data.length > 0 && page.next !== null);
    data = [...page.data, ...data];
    ({ previous } = page);
  }
  return data;
}

test('a thousand messages are paged from any bound in both directions, each once', async () => {
  const { listMessages } = client.calls;
  const all = Array.from({ length: 1_000 }, (_, index) => index + 1);
  const { data } = await listMessages({ id: room, query: { order: 'asc', limit: 200 } });
  const { id, created_at: time } = data[122];
  const bounds = [{}, { before: id }, { after: id }, { around: id }, { at_time: time }, { before_time: time }, { after_time: time }];
  for (const bound of bounds) {
    for (const limit of [7, 50, 200]) {
      for (const order of ['asc', 'desc']) {
        const found = await walk(listMessages, { id: room, query: { ...bound, order, limit } });
        const seqs = found.map(({ seq }) => seq);
        assert.deepEqual(order === 'asc' ? seqs : seqs.reverse(), all, JSON.stringify({ ...bound, order, limit }));
      }
    }
  }
  const single = await walk(listMessages, { id: room, query: { around: id, order: 'asc', limit: 1 } });
  assert.deepEqual(single.map(({ seq }) => seq), all);
});

test('other lists are paged in both directions, each item once', async () => {
  for (let number = 0; number < 5; number++) await client.calls.createForum({ body: { title: `Forum ${number}` } });
  const { data } = await client.calls.listForums({});
  for (const limit of [1, 2, 200]) {
    assert.deepEqual((await walk(client.calls.listForums, { query: { limit } })).map(({ id }) => id), data.map(({ id }) => id));
  }
  const found = await walk(client.calls.searchMessages, { query: { q: 'message', limit: 200 } });
  assert.equal(new Set(found.map(({ message }) => message.id)).size, 1_000);
});
