// Answers that are kept for use offline.

import assert from 'node:assert/strict';
import test from 'node:test';

import { anyStart, keepAnswer, keptAnswer, showAnswer } from '../../../Public/js/parley/answers.js';
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
  const shown = [];
  const loading = showAnswer(parley, 'members', () => new Promise((resolve) => (arrive = resolve)), (it) => shown.push(it), assert.fail);
  parley.mirror.start = 'b';
  arrive({ data: [] });
  await loading;
  assert.deepEqual(shown, [{ data: [] }]);
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

test('a kept answer is shown at once, and the one of the server after it', async () => {
  const parley = copy();
  const shown = [];
  const failures = [];
  const show = (load, of = parley) => showAnswer(of, 'members', load, (it) => shown.push(it), (it) => failures.push(it.message));
  const fail = () => Promise.reject(new Error('refused'));
  await assert.rejects(show(fail), /refused/);
  await show(async () => 1);
  await new Promise(setImmediate);
  let arrive;
  await show(() => new Promise((resolve) => (arrive = resolve)));
  assert.deepEqual(shown, [1, 1], 'before the answer');
  arrive(2);
  await new Promise(setImmediate);
  await show(fail);
  await new Promise(setImmediate);
  assert.deepEqual(shown, [1, 1, 2, 2]);
  assert.deepEqual(failures, ['refused']);
  await show(async () => 3, null);
  await assert.rejects(show(fail, null), /refused/);
  assert.deepEqual(shown.at(-1), 3);
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
