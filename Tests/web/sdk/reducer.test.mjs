// The reducer cases that Swift runs too.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Rows, mergeMessage, position, putMe, reduce, sourcesOf } from '../../../Public/js/parley/reducer.js';
import { memoryStore, put } from '../../../Public/js/parley/store.js';

const cases = JSON.parse(readFileSync(new URL('../../Contract/reducer.json', import.meta.url), 'utf8'));
const context = { me: '1', generation: 0, isMuted: () => false };

function message({ seq, id = 1000 + seq, author = 2, revision = 1, text = 'x', machine_only = false, actions = {}, mine = [], moved_from }) {
  const counts = Object.entries(actions).map(([type, count]) => [type, { count, ...(mine.includes(type) ? { mine: true } : {}) }]);
  return {
    id: String(id), conversation_id: '12', author_id: String(author), client_id: null, seq, revision, machine_only,
    previous_message: seq > 1 ? String(999 + seq) : null, created_at: '', attachments: [], reply_to: null,
    ...(moved_from ? { moved_from: String(moved_from) } : {}),
    ...(text === null ? { deleted: true, deletion: 'author' } : { deleted: false, text, actions: Object.fromEntries(counts) }),
  };
}

/** The event in the API's form; hidden without content. */
function eventOf(step) {
  const { event, offset, kind, by = 2 } = step;
  const isOwn = ['read_position.updated', 'conversation.removed'].includes(kind);
  const about = { id: String(event), stream: isOwn ? 'user:1' : 'conversation:12', offset, actor_id: String(by) };
  if (step.message) return { ...about, event: kind, data: message(step.message) };
  if (step.actions) {
    const { actions } = message({ seq: step.actions.seq, actions: step.actions.counts });
    return { ...about, event: kind, data: { message_id: String(1000 + step.actions.seq), actions } };
  }
  if (step.participant) {
    const { user, role } = step.participant;
    return { ...about, event: kind, data: { conversation_id: '12', user_id: String(user), ...(role ? { role } : {}) } };
  }
  if (kind === 'conversation.removed') return { ...about, event: kind, data: { id: '12' } };
  if (kind === 'read_position.updated') {
    const { read_up_to } = step;
    return { ...about, event: kind, data: { conversation_id: '12', read_up_to, delivered_up_to: read_up_to } };
  }
  return { ...about, event: 'hidden' };
}

test('the cases have unique names', () => {
  assert.equal(new Set(cases.map(({ name }) => name)).size, cases.length);
});

for (const { name, conversation = {}, steps, after } of cases) {
  test(name, async () => {
    const { unread = 0, read_up_to = 0, last_seq = 0 } = conversation;
    const store = memoryStore();
    const participants = [{ user_id: '1', role: 'admin' }, { user_id: '2', role: 'member' }];
    await store.update([], () => [
      put('conversations', { id: '12', kind: 'group', role: 'admin', revision: 1, last_seq, read_up_to, unread_count: unread, participants, known: 100 }),
      put('streams', { name: 'conversation:12', offset: 10 }), put('streams', { name: 'user:1', offset: 6 }),
    ]);
    for (const step of steps) {
      const event = step.event === undefined ? null : eventOf(step);
      const view = event ? null : message(step.message);
      const sources = event ? sourcesOf(event, context) : [['messages', ['12', view.seq]]];
      let outcome;
      await store.update(sources, (found) => {
        const rows = new Rows(sources, found);
        if (event) outcome = reduce(rows, event, context);
        else rows.put('messages', mergeMessage(found[0], view, position(0, step.response)));
        return rows.changes;
      });
      if (step.result) assert.equal(outcome.result, step.result);
      if (step.needs) assert.deepEqual(outcome.refetch.filter((need) => need.startsWith('message:')), step.needs);
    }
    const held = await store.get('conversations', '12');
    assert.equal(held === undefined, after.is_gone === true);
    if (after.is_gone) {
      assert.deepEqual([await store.list('messages'), await store.get('streams', 'conversation:12')], [[], undefined]);
      return;
    }
    if (after.offset !== undefined) assert.equal((await store.get('streams', 'conversation:12')).offset, after.offset);
    if (after.unread !== undefined) assert.equal(held.unread_count, after.unread);
    if (after.last_seq !== undefined) assert.equal(held.last_seq, after.last_seq);
    if (after.read_up_to !== undefined) assert.equal(held.read_up_to, after.read_up_to);
    if (after.participants) assert.deepEqual(Object.fromEntries(held.participants.map((one) => [one.user_id, one.role])), after.participants);
    for (const [seq, expected] of Object.entries(after.messages ?? {})) {
      const found = await store.get('messages', ['12', Number(seq)]);
      if (expected === null) assert.equal(found, undefined);
      else assert.equal(found.deleted ? null : found.text, expected.text);
      const actions = Object.entries(found?.actions ?? {});
      if (expected?.actions) assert.deepEqual(Object.fromEntries(actions.map(([type, { count }]) => [type, count])), expected.actions);
      if (expected?.mine) assert.deepEqual(actions.filter(([, { mine }]) => mine).map(([type]) => type), expected.mine);
    }
  });
}

test('the totals and the own vote of a poll arrive in two streams', async () => {
  const store = memoryStore();
  const poll = (/** @type {number[]} */ ...votes) => ({
    options: votes.map((count, index) => ({ text: `option ${index}`, votes: count })),
    choices: 1, anonymous: true, closes_at: null, voters: votes.reduce((sum, count) => sum + count),
  });
  const view = { ...message({ seq: 1 }), poll: { ...poll(1, 0), mine: [] } };
  await store.update([], () => [
    put('messages', mergeMessage(undefined, view, 90)),
    put('streams', { name: 'conversation:12', offset: 10 }), put('streams', { name: 'user:1', offset: 6 }),
  ]);
  const receive = async (/** @type {any} */ event) => {
    const sources = sourcesOf(event, context);
    await store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      reduce(rows, event, context);
      return rows.changes;
    });
    return (await store.get('messages', ['12', 1])).poll;
  };
  const about = { event: 'poll.updated', actor_id: null };
  const own = { ...about, id: '102', stream: 'user:1', offset: 7, data: { message_id: '1001', mine: [1] } };
  assert.deepEqual(await receive(own), { ...poll(1, 0), mine: [1] });
  const totals = { ...about, id: '101', stream: 'conversation:12', offset: 11, data: { message_id: '1001', poll: poll(1, 1) } };
  assert.deepEqual(await receive(totals), { ...poll(1, 1), mine: [1] });
  const held = await store.get('messages', ['12', 1]);
  // An answer from before the events.
  assert.deepEqual(mergeMessage(held, view, 100).poll, { ...poll(1, 1), mine: [1] });
  // An edit has the totals, and not the user's vote.
  const edited = { ...message({ seq: 1, revision: 2, text: 'y' }), poll: poll(2, 1) };
  assert.deepEqual(mergeMessage(held, edited, 110, { isEvent: true }).poll, { ...poll(2, 1), mine: [1] });
  assert.deepEqual(mergeMessage(held, { ...view, poll: { ...poll(2, 0), mine: [0] } }, 120).poll, { ...poll(2, 0), mine: [0] });
});

test('the last silence and the last group of the signed-in user end', () => {
  let row = { value: { id: '7', revision: 1, preferences: {}, groups: ['3'], silences: [{ forum_id: null }], known: 1 } };
  const rows = { get: () => row, put: (_, it) => (row = it) };
  putMe(rows, { id: '7', revision: 2 }, 2);
  assert.deepEqual([row.value.groups, row.value.silences], [undefined, [{ forum_id: null }]]);
  putMe(rows, { id: '7', revision: 3, preferences: {} }, 3);
  assert.equal(row.value.silences, undefined);
});
