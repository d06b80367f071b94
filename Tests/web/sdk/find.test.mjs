// Finding a message by its `seq`, through pages around an id and from a time on.

import assert from 'node:assert/strict';
import test from 'node:test';

import { find } from '../../../Public/js/parley/find.js';

const start = Date.UTC(2026, 0, 1);

/** A conversation with the server's pagination; `at` returns the creation time of a message by number. */
function conversation(count, at, from = 1) {
  const all = [];
  for (let seq = from; seq <= count; seq++)
    all.push({ id: String(1000 + seq), seq, created_at: new Date(start + at(seq)).toISOString() });
  const asked = [];
  const fetch = async ({ after, before, after_time: time, order, limit }) => {
    asked.push(limit);
    const indexOf = (id) => all.findIndex((it) => it.id === id);
    if (after) return all.slice(indexOf(after) + 1).slice(0, limit);
    if (before) return all.slice(0, indexOf(before)).slice(-limit);
    if (time) {
      const first = all.findIndex((it) => it.created_at > time);
      return first < 0 ? [] : all.slice(first, first + limit);
    }
    return order === 'asc' ? all.slice(0, limit) : all.slice(-limit);
  };
  return { all, asked, fetch, last: count };
}

const minute = 60_000;
const kinds = {
  'at an even pace': (seq) => seq * minute,
  'slowly, then in a burst': (seq) => seq ** 3,
  'at the same time': () => 0,
  'with a gap of a year': (seq) => (seq > 4_000 ? 365 * 24 * 60 * minute : 0) + seq,
  'with clocks out of step': (seq) => seq * minute + (seq % 7) * 9 * minute,
};

for (const [name, at] of Object.entries(kinds)) {
  test(`a message is found by its number among messages written ${name}`, async () => {
    for (const count of [1, 30, 450, 5_000]) {
      const seqs = [1, 2, Math.ceil(count / 3), Math.ceil(count / 2), Math.max(1, count - 1), count];
      for (const seq of new Set(seqs.filter((it) => it <= count))) {
        const { asked, fetch, last } = conversation(count, at);
        assert.equal((await find(seq, { last }, fetch))?.seq, seq, `${seq} of ${count}`);
        assert.ok(asked.length <= 2 + 12 + count / 200, `${asked.length} pages for ${seq} of ${count}`);
      }
    }
  });
}

test('with a cached message nearby one page is enough', async () => {
  const { all, asked, fetch, last } = conversation(5_000, kinds['at an even pace']);
  assert.equal((await find(2_500, { low: all[2_400 - 1], high: all[4_000 - 1], last }, fetch)).seq, 2_500);
  assert.equal((await find(2_500, { low: all[99], high: all[2_600 - 1], last }, fetch)).seq, 2_500);
  assert.deepEqual(asked, [200, 200]);
});

test('at an even pace finding a number takes few requests', async () => {
  const { asked, fetch, last } = conversation(20_000, kinds['at an even pace']);
  assert.equal((await find(9_000, { last }, fetch)).seq, 9_000);
  assert.ok(asked.length <= 5, `${asked.length}`);
});

test('a late member gets the first readable message, an empty conversation returns none', async () => {
  const late = conversation(900, kinds['at an even pace'], 600);
  assert.equal((await find(20, { last: 900 }, late.fetch)).seq, 600);
  assert.equal(await find(20, { last: 900 }, async () => []), null);
});

test('the conversation may have grown meanwhile', async () => {
  const { fetch } = conversation(1_000, kinds['at an even pace']);
  assert.equal((await find(400, { last: 500 }, fetch)).seq, 400);
});
