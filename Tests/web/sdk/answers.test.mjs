// Answers that are kept for use offline.

import assert from 'node:assert/strict';
import test from 'node:test';

import { anyStart, keepAnswer, keptAnswer, loadAnswer } from '../../../Public/js/parley/answers.js';
import { eraseCopy } from '../../../Public/js/parley/sealing.js';
import { memoryStore } from '../../../Public/js/parley/store.js';

const copy = () => ({ store: memoryStore(), mirror: { start: 'a' } });

/** Keeps an answer of a request of now. */
const keep = (parley, name, value) => keepAnswer(parley, name, value, parley.mirror.start);

test('an answer is kept until the server starts again', async () => {
  const parley = copy();
  assert.equal(await keptAnswer(parley, 'topics 1'), null);
  await keep(parley, 'topics 1', [{ id: '7' }]);
  await keep(parley, 'topics 2', []);
  assert.deepEqual(await keptAnswer(parley, 'topics 1'), [{ id: '7' }]);
  parley.mirror.start = 'b';
  assert.equal(await keptAnswer(parley, 'topics 1'), null);
});

test('an answer from before a restart of the server is not used, unless it outlives restarts', async () => {
  const parley = copy();
  await keep(parley, 'topics 1', []);
  await keepAnswer(parley, 'files', [], anyStart);
  let arrive;
  const loading = loadAnswer(parley, 'members', () => new Promise((resolve) => (arrive = resolve)));
  parley.mirror.start = 'b';
  arrive({ data: [] });
  assert.deepEqual(await loading, { data: [] });
  await new Promise(setImmediate);
  assert.equal(await keptAnswer(parley, 'topics 1'), null);
  assert.equal(await keptAnswer(parley, 'members'), null);
  assert.deepEqual(await keptAnswer(parley, 'files'), []);
});

test('an old answer is not used', async (t) => {
  const parley = copy();
  t.mock.timers.enable({ apis: ['Date'] });
  await keep(parley, 'topics 1', []);
  t.mock.timers.tick(29 * 86_400_000);
  assert.deepEqual(await keptAnswer(parley, 'topics 1'), []);
  t.mock.timers.tick(86_400_000);
  assert.equal(await keptAnswer(parley, 'topics 1'), null);
});

test('a kept answer is used while the server cannot be reached, and only then', async () => {
  const parley = copy();
  const fail = (isTemporary) => () => Promise.reject(Object.assign(new Error('refused'), { isTemporary }));
  await assert.rejects(loadAnswer(parley, 'members', fail(true)), /refused/);
  assert.deepEqual(await loadAnswer(parley, 'members', async () => ({ data: [1] })), { data: [1] });
  await new Promise(setImmediate);
  assert.deepEqual(await loadAnswer(parley, 'members', fail(true)), { data: [1] });
  await assert.rejects(loadAnswer(parley, 'members', fail(false)), /refused/);
  assert.deepEqual(await loadAnswer(null, 'members', async () => 2), 2);
  await assert.rejects(loadAnswer(null, 'members', fail(true)), /refused/);
});

test('of many answers the newest are kept', async (t) => {
  const parley = copy();
  t.mock.timers.enable({ apis: ['Date'] });
  for (let number = 0; number < 110; number++) {
    await keep(parley, `topics ${number}`, number);
    t.mock.timers.tick(1);
  }
  const kept = await parley.store.list('answers');
  assert.deepEqual(kept.map((it) => it.value).sort((a, b) => a - b), Array.from({ length: 100 }, (_, it) => it + 10));
});

test('the end of a session erases them', async () => {
  const parley = copy();
  await keep(parley, 'topics 1', []);
  await eraseCopy(parley.store, '1');
  assert.deepEqual(await parley.store.list('answers'), []);
});

test('a failed store keeps no response', async () => {
  const fail = () => Promise.reject(new Error('no disk'));
  const parley = { store: { get: fail, list: fail, update: fail }, mirror: { start: 'a' } };
  await keep(parley, 'topics 1', []);
  assert.equal(await keptAnswer(parley, 'topics 1'), null);
});
