// Tests without server or browser: reducer, history, digests, the outbox's overlay, list differences.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { Client } from '../../../Public/js/parley/client.js';
import { missing, rangeAt, rangesOf, withRange, withoutRange } from '../../../Public/js/parley/history.js';
import { compareIds, moveCursor, readCursor } from '../../../Public/js/parley/ids.js';
import { withOperations } from '../../../Public/js/parley/outbox.js';
import { Rows, mergeMessage, sourcesOf, position, reduce } from '../../../Public/js/parley/reducer.js';
import { fold, matchesQuery, readQuery } from '../../../Public/js/parley/search.js';
import { wordForms } from '../../../Public/js/parley/wordforms.js';
import { sha256 } from '../../../Public/js/parley/sha256.js';
import { memoryStore } from '../../../Public/js/parley/store.js';
import { backOff } from '../../../Public/js/parley/time.js';
import { digestLine } from '../../../Public/js/parley/verify.js';
import { difference } from '../../../Public/js/parley/window.js';

const context = { me: '7', generation: 0, isMuted: (author) => author === '66' };

/** Applies events one by one to a store, as a client does. */
async function applyAll(store, events, to = context) {
  const outcomes = [];
  for (const event of events) {
    const sources = sourcesOf(event, context);
    await store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      outcomes.push(reduce(rows, event, to));
      return rows.changes;
    });
  }
  return outcomes;
}

const say = (id, seq, over = {}) => ({
  id: String(100 + seq), conversation_id: '12', author_id: '8', client_id: null, seq,
  previous_message: seq === 1 ? null : String(99 + seq), text: `message ${seq}`, entities: {}, annotations: [],
  attachments: [], reply_to: null, machine_only: false, created_at: '', sent_at: null, edited_at: null, revision: 1,
  deleted: false, actions: {}, ...over,
});
const created = (id, seq, over) => ({
  event: 'message.created', id: String(id), stream: 'conversation:12', offset: id, actor_id: '8', data: say(id, seq, over),
});
const held = async (over = {}) => {
  const store = memoryStore();
  const row = { id: '12', kind: 'group', role: 'member', revision: 1, last_seq: 0, read_up_to: 0, unread_count: 0, known: 0, ...over };
  await store.update([], () => [{ table: 'conversations', key: '12', row }]);
  return store;
};

test('ids are compared by length, then as text', () => {
  assert.deepEqual(['10', '9', '100', '11'].sort(compareIds), ['9', '10', '11', '100']);
});

test('a cursor has an epoch, a start and an event', () => {
  const cursor = '9f86d081884c7d65.2n9c41zu7yjqk.88123';
  assert.deepEqual(readCursor(cursor), { epoch: '9f86d081884c7d65', start: '2n9c41zu7yjqk', id: 88123 });
  assert.equal(moveCursor(cursor, 88124), '9f86d081884c7d65.2n9c41zu7yjqk.88124');
  // Stored by an older client.
  assert.deepEqual(readCursor('9f86d081884c7d65.88123'), { epoch: '9f86d081884c7d65', start: '', id: 88123 });
});

test('pauses double, stay under a bound, and differ', () => {
  assert.deepEqual([1, 2, 3, 4, 99].map((tries) => backOff(tries, { random: () => 1 })), [500, 1000, 2000, 4000, 30000]);
  assert.equal(backOff(3, { random: () => 0 }), 1000);
});

test('messages are stored and counted', async () => {
  const store = await held();
  await applyAll(store, [created(1, 1), created(2, 2), created(3, 3, { author_id: '7' }), created(4, 4, { author_id: '66' })]);
  const conversation = await store.get('conversations', '12');
  assert.equal(conversation.last_seq, 4);
  assert.equal(conversation.last_message.id, '104');
  assert.equal(conversation.unread_count, 2);
  assert.deepEqual((await store.get('history', '12')).held, [[1, 4]]);
  assert.equal((await store.get('messages@id', '102')).text, 'message 2');
});

test('a repeated or late event has no effect', async () => {
  const store = await held();
  const edit = { ...created(2, 1, { text: 'edited', revision: 2 }), event: 'message.edited' };
  await applyAll(store, [created(1, 1), edit]);
  const before = await store.list('messages');
  const outcomes = await applyAll(store, [created(1, 1), edit]);
  assert.deepEqual(outcomes.map(({ result }) => result), ['known', 'known']);
  assert.deepEqual(await store.list('messages'), before);
  assert.equal((await store.get('conversations', '12')).unread_count, 1);
});

test('a tombstone has no text and is not unread', async () => {
  const store = await held();
  const tombstone = say(1, 1, { revision: 2, deleted: true, deletion: 'author' });
  for (const name of ['text', 'entities', 'annotations', 'attachments', 'actions']) delete tombstone[name];
  await applyAll(store, [created(1, 1), { ...created(2, 1), event: 'message.deleted', data: tombstone }]);
  const message = await store.get('messages', ['12', 1]);
  assert.equal(message.text, undefined);
  assert.equal(message.deleted, true);
  assert.equal((await store.get('conversations', '12')).unread_count, 0);
});

test('after a change of epoch, the server\'s copy wins at any revision', () => {
  const old = mergeMessage(undefined, say(1, 1, { revision: 9, text: 'nine' }), position(0, 900));
  assert.equal(mergeMessage(old, say(1, 1, { revision: 1, text: 'one' }), position(1, 3)).text, 'one');
});

test('action events have all counts, the newest wins, and my own actions stay', async () => {
  const store = await held();
  const action = (id, actions, over = {}) => ({
    event: 'action.added', id: String(id), stream: 'conversation:12', offset: id, actor_id: '8',
    data: { message_id: '101', actions }, ...over,
  });
  await applyAll(store, [created(1, 1)]);
  await store.update([['messages', ['12', 1]]], ([row]) => [
    { table: 'messages', key: ['12', 1], row: { ...row, actions: { like: { count: 1, mine: true } }, actions_known: 1 } },
  ]);
  await applyAll(store, [action(2, { like: { count: 2 } })]);
  const star = action(1, { star: { count: 1 } }, { id: '3', stream: 'user:7', actor_id: '7' });
  await applyAll(store, [star, action(3, { like: { count: 1 }, 'reaction:👍': { count: 1 } }, { id: '4' })]);
  assert.deepEqual((await store.get('messages', ['12', 1])).actions, {
    like: { count: 1, mine: true }, 'reaction:👍': { count: 1 }, star: { count: 1, mine: true },
  });
  const own = await applyAll(store, [action(4, {}, { id: '5', actor_id: '7' })]);
  assert.deepEqual(own[0].refetch, ['message:101']);
});

test('a read position never moves back, and at the newest message none is unread', async () => {
  const store = await held();
  await applyAll(store, [created(1, 1), created(2, 2), created(3, 3)]);
  const readPosition = (id, read) => ({
    event: 'read_position.updated', id: String(id), stream: 'user:7', offset: id, actor_id: '7',
    data: { conversation_id: '12', read_up_to: read, delivered_up_to: read },
  });
  const [some] = await applyAll(store, [readPosition(4, 2)]);
  assert.deepEqual(some.recount, ['12']);
  await applyAll(store, [readPosition(5, 3), readPosition(6, 1)]);
  const { read_up_to: read, unread_count: unread } = await store.get('conversations', '12');
  assert.deepEqual([read, unread], [3, 0]);
});

test('a conversation without access is removed', async () => {
  const store = await held();
  await applyAll(store, [
    created(1, 1),
    { event: 'receipt.updated', id: '2', stream: 'conversation:12', offset: 2,
      data: { conversation_id: '12', user_id: '8', read_up_to: 1, delivered_up_to: 1 } },
    { event: 'conversation.removed', id: '3', stream: 'user:7', offset: 1, data: { id: '12' } },
  ]);
  for (const table of ['conversations', 'messages', 'history', 'receipts']) assert.deepEqual(await store.list(table), []);
  assert.equal(await store.get('streams', 'conversation:12'), undefined);
});

test('a participant is counted once, with repeated events', async () => {
  const store = await held({ participants: [{ user_id: '7', role: 'admin' }], participant_count: 1 });
  const participantEvent = (id, event, role) => ({
    event, id: String(id), stream: 'conversation:12', offset: id, data: { conversation_id: '12', user_id: '8', ...role },
  });
  await applyAll(store, [
    participantEvent(1, 'participant.joined', { role: 'member' }),
    participantEvent(2, 'participant.changed', { role: 'admin' }),
  ]);
  assert.deepEqual((await store.get('conversations', '12')).participants, [
    { user_id: '7', role: 'admin' }, { user_id: '8', role: 'admin' },
  ]);
  await applyAll(store, [participantEvent(3, 'participant.left', {})]);
  assert.equal((await store.get('conversations', '12')).participant_count, 1);
});

test('a forum known only by its id is requested', async () => {
  const store = await held();
  const [outcome] = await applyAll(store, [{ event: 'forum.updated', id: '1', stream: 'site', offset: 1, data: { id: '3' } }]);
  assert.deepEqual(outcome.refetch, ['forum:3']);
});

test('a sent message leaves the outbox when its event arrives', async () => {
  const store = await held();
  await store.update([], () => [{ table: 'outbox', key: 'op1', row: { id: 'op1', order: 1 } }]);
  await applyAll(store, [created(1, 1, { author_id: '7', client_id: 'op1' })]);
  assert.deepEqual(await store.list('outbox'), []);
  assert.equal((await store.get('messages@client', 'op1')).seq, 1);
});

test('an event of an unknown kind moves the offset', async () => {
  const store = await held();
  const [outcome] = await applyAll(store, [{ event: 'poll.closed', id: '1', stream: 'conversation:12', offset: 1, data: { id: '5' } }]);
  assert.equal(outcome.result, 'applied');
  assert.equal((await store.get('streams', 'conversation:12')).offset, 1);
});

test('ranges are joined and split, and list missing ones', () => {
  assert.deepEqual(withRange([[1, 3], [7, 9]], 4, 6), [[1, 9]]);
  assert.deepEqual(withRange([[1, 3]], 5, 6), [[1, 3], [5, 6]]);
  assert.deepEqual(withRange([[5, 6]], 1, 3), [[1, 3], [5, 6]]);
  assert.deepEqual(withoutRange([[1, 9]], 4, 6), [[1, 3], [7, 9]]);
  assert.deepEqual(missing([[1, 3], [5, 6]], 1, 9), [[4, 4], [7, 9]]);
  assert.deepEqual(missing([], 1, 0), []);
  assert.deepEqual(rangeAt([[1, 3], [5, 6]], 5), [5, 6]);
  assert.equal(rangeAt([[1, 3]], 4), null);
});

test('messages are neighbours if one refers to the other', () => {
  const chain = [1, 2, 4].map((seq) => say(0, seq));
  assert.deepEqual(rangesOf(chain), { ranges: [[1, 2], [4, 4]], isSound: true });
  assert.deepEqual(rangesOf([say(0, 1), say(0, 2, { previous_message: '99' })]), { ranges: [[1, 1], [2, 2]], isSound: false });
});

test('SHA-256 equals that of other implementations', () => {
  for (const text of ['', 'abc', 'x'.repeat(55), 'x'.repeat(56), 'x'.repeat(64), 'weeds 🌱\n'.repeat(1000)]) {
    assert.equal(sha256(text), createHash('sha256').update(text).digest('hex'));
  }
});

test('digests match the documented test vectors', () => {
  const description = JSON.parse(readFileSync(new URL('../../../Public/openapi.json', import.meta.url), 'utf8'));
  const { examples } = description.paths['/conversations/{id}/digest'].get.responses[200].content['application/json'];
  for (const { description: lines, value } of Object.values(examples)) assert.equal(sha256(lines), value.digest);
  const five = [
    { seq: 1, id: '101', previous_message: null, revision: 1, deleted: false, text: 'seeds', reply_to: null, attachments: [] },
    { seq: 2, id: '102', previous_message: '101', revision: 1, deleted: false, text: 'weeds 🌱\n', reply_to: '101', attachments: ['72', '71'] },
    { seq: 3, id: '103', previous_message: '102', revision: 2, deleted: true, reply_to: null },
    { seq: 4, id: '104', previous_message: '103', revision: 4, deleted: false, text: 'rakes', reply_to: null, attachments: [] },
    { seq: 5, id: '105', previous_message: '104', revision: 1, deleted: false, text: '', reply_to: null, attachments: [] },
  ];
  assert.equal(five.map(digestLine).join(''), examples.five.description);
});

test('queued operations are shown on the message', () => {
  const message = say(0, 1, { actions: { like: { count: 1 } } });
  const waits = (kind, body) => ({ kind, body, state: 'pending' });
  assert.equal(withOperations(message, [waits('edit', { text: 'new' })]).text, 'new');
  assert.deepEqual(withOperations(message, [waits('set_action', { type: 'like' })]).actions, { like: { count: 2, mine: true } });
  assert.deepEqual(withOperations(message, [waits('set_action', { type: 'like' }), waits('remove_action', { type: 'like' })]).actions, { like: { count: 1 } });
  assert.equal(withOperations(message, [waits('vote', { options: [0] })]), message, 'without a poll');
  const poll = { options: [{ text: 'a', votes: 1 }, { text: 'b', votes: 0 }], choices: 1, voters: 1, mine: [0] };
  const asked = { ...message, poll };
  const votes = (...options) => withOperations(asked, [waits('vote', { options })]).poll;
  const counts = (a, b, voters, mine) => ({ ...poll, options: [{ text: 'a', votes: a }, { text: 'b', votes: b }], voters, mine });
  assert.deepEqual([votes(1), votes(0, 1), votes()], [counts(0, 1, 1, [1]), counts(1, 1, 1, [0, 1]), counts(0, 0, 0, [])]);
  assert.equal(withOperations(message, [waits('delete', {})]).deleted, true);
  assert.equal(withOperations(message, [{ ...waits('edit', { text: 'new' }), state: 'failed' }]), message);
});

test('differences turn one list into the other, step by step', () => {
  const item = (key, source = key) => ({ key, source, state: 'sent', isMuted: false, operations: [] });
  let seed = 3;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let round = 0; round < 500; round++) {
    const make = () => {
      const keys = new Set(Array.from({ length: random(12) }, () => String(random(14))));
      return [...keys].map((key) => item(key, `${key}/${random(2)}`));
    };
    const [before, after] = [make(), make()];
    const list = [...before];
    for (const { kind, index, item } of difference(before, after)) {
      if (kind === 'remove') list.splice(index, 1);
      else if (kind === 'insert') list.splice(index, 0, item);
      else list[index] = item;
    }
    assert.deepEqual(list, after);
  }
});

test('search matches the server\'s', () => {
  const finds = (query, text) => matchesQuery(text, readQuery(query));
  assert.equal(fold('  Crème BRÛLÉE!'), 'creme brulee');
  assert.ok(finds('creme', 'Crème brûlée'));
  assert.ok(!finds('brul', 'Crème brûlée'));
  assert.ok(finds('brul*', 'Crème brûlée'));
  assert.ok(finds('"pizza party"', 'a pizza, party!'));
  assert.ok(!finds('"party pizza"', 'a pizza, party!'));
  assert.ok(!finds('pizza -party', 'a pizza party'));
  assert.ok(finds('東京', '明日は東京です'));
  assert.ok(finds('🌱', 'seeds 🌱 today'));
});

test('the store in memory returns ordered ranges and drops cleared rows', async () => {
  const store = memoryStore();
  const row = (conversation, seq) => ({ conversation_id: conversation, seq, id: `${conversation}${seq}` });
  await store.update([], () =>
    [row('1', 10), row('1', 2), row('12', 1), row('1', 3)].map((one) => ({ table: 'messages', key: [one.conversation_id, one.seq], row: one })),
  );
  const seqs = async (range) => (await store.list('messages', range)).map(({ seq }) => seq);
  assert.deepEqual(await seqs({ from: ['1', 0], to: ['1', Infinity] }), [2, 3, 10]);
  assert.deepEqual(await seqs({ from: ['1', 0], to: ['1', 9], newestFirst: true, limit: 1 }), [3]);
  await store.update([], () => [{ table: 'messages', from: ['1'], to: ['1', []] }]);
  assert.deepEqual((await store.list('messages')).map(({ id }) => id), ['121']);
});

for (const { language, word, forms } of JSON.parse(readFileSync(new URL('../../Contract/wordforms.json', import.meta.url), 'utf8'))) {
  test(`${word} has its other forms in ${language}`, () => assert.deepEqual(wordForms(word, language), forms));
}

test('a search finds the other forms of a word in a known language', () => {
  const finds = (query, language, text) => matchesQuery(text, readQuery(query, language));
  assert.ok(finds('tomato', 'en', 'Two tomatoes'));
  assert.ok(finds('Buch', 'de', 'viele Bücher'));
  assert.ok(!finds('tomato', undefined, 'Two tomatoes'));
  assert.ok(!finds('"tomato"', 'en', 'Two tomatoes'));
  assert.ok(finds('two -tomato', 'en', 'Two tomatoes'));
});

test('bounds in the wrong order are swapped', async () => {
  const asked = [];
  const client = new Client({ url: 'http://peer', fetch: async (url) => (asked.push(new URL(url).search), Response.json({ data: [] })) });
  const query = async (query) => {
    await client.calls.listMessages({ id: '12', query });
    return asked.at(-1);
  };
  assert.equal(await query({ after: '20', before: '9' }), '?after=9&before=20');
  assert.equal(await query({ after: '9', before: '20' }), '?after=9&before=20');
  assert.equal(await query({ after: '20' }), '?after=20');
  const [early, late] = ['2026-11-20T10:00:00Z', '2026-11-20T10:00:00.5Z'];
  assert.equal(new URLSearchParams(await query({ after_time: late, before_time: early })).get('after_time'), early);
  assert.equal(new URLSearchParams(await query({ after_time: early, before_time: late })).get('after_time'), early);
});
