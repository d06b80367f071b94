// Following along, with a peer that does what it is told: what a daemon does only when something has gone wrong.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test, { afterEach } from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { digestLine } from '../../../Public/js/parley/verify.js';
import { sha256 } from '../../../Public/js/parley/sha256.js';
import { until } from './until.mjs';
import { Peer, created, me, page, say, snapshot } from './peer.mjs';

globalThis.crypto ??= webcrypto;

// A test that fails leaves nothing open, or Node would wait for it.
const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

/** A client of the peer, with its hello answered as live from `cursor`, unless the test does that. */
async function opened({
  event = 0, store = memoryStore(), answers = {}, hello = (command) => ({ complete: true, cursor: command.cursor }), parley: options = {}, ...live
} = {}) {
  const peer = new Peer();
  peer.answers = { 'GET /snapshot': snapshot(event), 'GET /users/me': me, ...answers };
  peer.onCommand = (command, socket) => {
    if (command.do === 'hello' && hello) socket.tell({ re: command.id, ok: true, user_id: '7', ...hello(command) });
    if (['subscribe', 'unsubscribe', 'presence'].includes(command.do)) socket.tell({ re: command.id, ok: true, complete: true });
  };
  const parley = await Parley.open({
    url: 'http://peer', store, fetch: peer.fetch, live: { WebSocket: peer.WebSocket, pause: () => 1, ...live }, BroadcastChannel: null,
    ...options,
  });
  all.push(parley);
  parley.client.tries = 1;
  const faults = [];
  parley.on('fault', (fault) => faults.push(fault));
  const connect = async (count = 1) => {
    await until(() => peer.sockets.length >= count, 'a connection');
    await peer.socket.open();
  };
  return { peer, parley, store, connect, faults };
}

/** Several tabs of one device; what `isLost` says does not arrive. */
function device({ isLost = () => false } = {}) {
  let leader = Promise.resolve();
  let isFree = true;
  const channels = new Set();
  return {
    store: memoryStore(),
    tell(message) {
      for (const channel of channels) channel.onmessage({ data: message });
    },
    locks: {
      request(_, { ifAvailable }, work) {
        if (ifAvailable && !isFree) return Promise.resolve(work(null));
        isFree = false;
        leader = leader.then(() => work({}));
        return leader;
      },
    },
    BroadcastChannel: class {
      constructor() {
        channels.add(this);
      }

      postMessage(message) {
        if (isLost(message)) return;
        for (const channel of channels) if (channel !== this) queueMicrotask(() => channel.onmessage({ data: structuredClone(message) }));
      }

      close() {
        channels.delete(this);
      }
    },
  };
}

const seqs = async (store) => (await store.list('messages')).map(({ seq }) => seq);
const isLive = (parley) => until(() => parley.state.connection === 'live', 'the connection to be live');

test('a snapshot comes first, then events from its cursor', async () => {
  const { peer, parley, store, connect, faults } = await opened({ event: 5 });
  await connect();
  assert.deepEqual(peer.socket.protocols, ['parley.v1']);
  assert.equal(peer.socket.url, 'ws://peer/api/v1/realtime');
  assert.deepEqual(peer.socket.commands[0], { id: 1, do: 'hello', cursor: 'aa.5', topics: ['me'] });
  await isLive(parley);
  peer.socket.tell(created(6), created(7));
  await until(() => parley.mirror.cursor === 'aa.7', 'the cursor to move');
  assert.deepEqual(await seqs(store), [6, 7]);
  assert.equal(parley.conversations[0].unread_count, 2);
  assert.deepEqual(faults, []);
  parley.close();
});

test('a cut connection comes back from the cursor, and what comes twice is kept once', async () => {
  const { peer, parley, store, connect } = await opened();
  await connect();
  peer.socket.tell(created(1), created(2));
  await until(() => parley.mirror.cursor === 'aa.2', 'two messages');
  peer.socket.drop();
  assert.equal(parley.state.connection, 'offline');
  await connect(2);
  assert.equal(peer.socket.commands[0].cursor, 'aa.2');
  peer.socket.tell(created(2), created(3));
  await until(() => parley.mirror.cursor === 'aa.3', 'the third');
  assert.deepEqual(await seqs(store), [1, 2, 3]);
  assert.equal(parley.conversations[0].unread_count, 3);
  parley.close();
});

test('the same person opens what was held and goes on from there', async () => {
  const store = memoryStore();
  const first = await opened({ store });
  await first.connect();
  first.peer.socket.tell(created(1));
  await until(() => first.parley.mirror.cursor === 'aa.1', 'a message');
  first.parley.close();
  const second = await opened({ store });
  await second.connect();
  assert.equal(second.peer.socket.commands[0].cursor, 'aa.1');
  assert.ok(!second.peer.calls.includes('GET /snapshot'));
  second.parley.close();
});

test('somebody else who has signed in since is not shown what is held', async () => {
  const store = memoryStore();
  const first = await opened({ store });
  await first.connect();
  await isLive(first.parley);
  first.parley.close();
  const peer = new Peer();
  peer.answers = { 'GET /users/me': { ...me, id: '9', name: 'grace' } };
  const parley = await Parley.open({ url: 'http://peer', store, fetch: peer.fetch, live: { WebSocket: peer.WebSocket }, BroadcastChannel: null });
  const changed = await new Promise((resolve) => parley.on('accountChanged', resolve));
  assert.equal(changed.name, 'grace');
  assert.equal(peer.sockets.length, 0);
  parley.close();
});

test('a hole between two offsets is pulled before anything goes on', async () => {
  const { peer, parley, store, connect } = await opened({
    answers: {
      'GET /streams/conversation:12/events': ({ after_offset: after }) => ({
        data: [created(Number(after) + 1)], more: Number(after) + 1 < 4, last_offset: 4, next: null, cursor: 'aa.4',
      }),
    },
  });
  await connect();
  await isLive(parley);
  peer.socket.tell(created(1), created(5), created(6));
  await until(() => parley.mirror.cursor === 'aa.6', 'all of them');
  assert.deepEqual(await seqs(store), [1, 2, 3, 4, 5, 6]);
  parley.close();
});

test('where the log is trimmed, the conversation is compared and mended', async () => {
  const lines = (from, to) => Array.from({ length: to - from + 1 }, (_, place) => digestLine(say(from + place))).join('');
  const { peer, parley, store, connect } = await opened({
    answers: {
      'GET /streams/conversation:12/events': () => Response.json({ status: 410, code: 'gone' }, { status: 410 }),
      'GET /conversations/12': snapshot(6).conversations[0],
      'GET /conversations/12/messages': page(6),
      'GET /conversations/12/digest': ({ from_seq: from, to_seq: to }) => ({
        cursor: 'aa.6', digest: '', parts: [{ from_seq: Number(from), to_seq: Number(to), digest: sha256(lines(Number(from), Number(to))) }],
      }),
    },
  });
  await connect();
  await isLive(parley);
  const window = parley.window('12', () => {});
  await window.latest();
  peer.socket.tell(created(1, { text: 'something else' }), created(6));
  await until(() => parley.mirror.cursor === 'aa.6', 'the cursor to move');
  await until(async () => (await seqs(store)).length === 6, 'the rest');
  assert.equal((await store.get('messages', ['12', 1])).text, 'message 1');
  window.close();
  parley.close();
});

test('on reset the outbox and drafts stay, the rest is compared, and the cursor moves last', async () => {
  let isReset = true;
  const lines = Array.from({ length: 3 }, (_, place) => digestLine(say(place + 1))).join('');
  const { peer, parley, store, connect, faults } = await opened({
    hello: (command) => (command.cursor === 'aa.3' && isReset ? { complete: false, reset: true, reason: 'epoch' } : { complete: true, cursor: command.cursor }),
    answers: {
      'GET /conversations/12': snapshot(3).conversations[0],
      'GET /conversations/12/messages': page(3, 1),
      'GET /conversations/12/digest': { cursor: 'bb.1', digest: '', parts: [{ from_seq: 1, to_seq: 3, digest: sha256(lines) }] },
    },
  });
  await connect();
  peer.socket.tell(created(1), created(2, { text: 'from the old history', revision: 4 }), created(3));
  await until(() => parley.mirror.cursor === 'aa.3', 'three messages');
  await parley.setDraft('12', { text: 'half a thought' });
  parley.outbox.stop();
  await parley.send('12', { text: 'unsent' });
  const resets = [];
  parley.on('reset', (reset) => resets.push([reset.reason, parley.mirror.cursor]));
  peer.answers['GET /snapshot'] = snapshot(3, { cursor: 'bb.1' });
  peer.answers['GET /conversations/12/messages'] = (query) => ({ ...page(3)(query), cursor: 'bb.1' });
  peer.socket.drop();
  await connect(2);
  await connect(3);
  isReset = false;
  await isLive(parley);
  assert.deepEqual(resets, [['epoch', 'bb.1']]);
  const second = await store.get('messages', ['12', 2]);
  assert.deepEqual([second.text, second.revision], ['message 2', 1]);
  assert.equal(parley.draft('12').text, 'half a thought');
  assert.equal(parley.state.waiting, 1);
  assert.deepEqual(faults, []);
  parley.close();
});

test('what only this device still has after a restore can be said again', async () => {
  const { peer, parley, store, connect, faults } = await opened({
    hello: (command) =>
      command.cursor === 'aa.3' ? { complete: false, reset: true, reason: 'epoch' } : { complete: true, cursor: command.cursor },
    answers: {
      'GET /conversations/12': { ...snapshot(1).conversations[0] },
      'GET /conversations/12/digest': { cursor: 'bb.1', digest: '', parts: [{ from_seq: 1, to_seq: 1, digest: sha256(digestLine(say(1))) }] },
      'GET /conversations/12/messages': (query) => ({ ...page(1)(query), cursor: 'bb.1' }),
    },
  });
  await connect();
  peer.socket.tell(created(1), created(2), created(3, { author_id: '7', client_id: 'mine', text: 'after the backup' }));
  await until(() => parley.mirror.cursor === 'aa.3', 'three messages');
  peer.answers['GET /snapshot'] = snapshot(1, { cursor: 'bb.1' });
  peer.socket.drop();
  await connect(2);
  await connect(3);
  await isLive(parley);
  assert.deepEqual(await seqs(store), [1]);
  assert.deepEqual(parley.lost.map(({ text }) => text), ['after the backup']);
  parley.outbox.stop();
  await parley.sendLost();
  assert.deepEqual(parley.lost, []);
  assert.deepEqual(parley.operations().map(({ id, body }) => [id, body.text]), [['mine', 'after the backup']]);
  assert.deepEqual(faults, []);
});

test('what somebody else says after a restore does not take away what was said in its place', async () => {
  const theirs = say(2, { created_at: '2026-11-22T09:00:00Z', text: 'after the restore' });
  const { peer, parley, store, connect, faults } = await opened({
    hello: (command) =>
      command.cursor === 'aa.3' ? { complete: false, reset: true, reason: 'epoch' } : { complete: true, cursor: command.cursor },
    answers: {
      'GET /conversations/12': snapshot(2).conversations[0],
      'GET /conversations/12/digest': {
        cursor: 'bb.2', digest: '', parts: [{ from_seq: 1, to_seq: 2, digest: sha256(digestLine(say(1)) + digestLine(theirs)) }],
      },
      'GET /conversations/12/messages': (query) => ({ ...page(2)(query), data: [theirs, say(1)], cursor: 'bb.2' }),
    },
  });
  await connect();
  const own = { author_id: '7', client_id: 'first', text: 'in its place', created_at: '2026-11-22T08:00:00Z' };
  peer.socket.tell(created(1), created(2, own), created(3, { ...own, client_id: 'second', text: 'behind it', created_at: '2026-11-22T08:30:00Z' }));
  await until(() => parley.mirror.cursor === 'aa.3', 'three messages');
  peer.answers['GET /snapshot'] = snapshot(2, { cursor: 'bb.2' });
  const resets = [];
  parley.on('reset', ({ mended, lost }) => resets.push({ mended, lost }));
  peer.socket.drop();
  await connect(2);
  await connect(3);
  await isLive(parley);
  assert.deepEqual(await seqs(store), [1, 2]);
  assert.equal((await store.get('messages', ['12', 2])).text, 'after the restore');
  assert.deepEqual(parley.lost.map(({ text }) => text), ['in its place', 'behind it']);
  assert.deepEqual(resets, [{ mended: 1, lost: 2 }]);
  parley.outbox.stop();
  await parley.sendLost();
  assert.deepEqual(parley.operations().map(({ id, body }) => [id, body.text]), [['first', 'in its place'], ['second', 'behind it']]);
  assert.deepEqual(faults, []);
});

test('an interrupted reset begins anew, because the cursor has not moved', async () => {
  const { peer, parley, connect } = await opened({
    hello: (command) => (command.cursor === 'aa.1' ? { complete: false, reset: true, reason: 'trimmed' } : { complete: true, cursor: command.cursor }),
    answers: {
      'GET /conversations/12': snapshot(1).conversations[0],
      'GET /conversations/12/digest': () => Response.json({ status: 503, code: 'unavailable' }, { status: 503 }),
    },
  });
  await connect();
  peer.socket.tell(created(1));
  await until(() => parley.mirror.cursor === 'aa.1', 'a message');
  peer.socket.drop();
  await connect(2);
  await connect(3);
  assert.equal(parley.mirror.cursor, 'aa.1');
  assert.equal(peer.socket.commands[0].cursor, 'aa.1');
  parley.close();
});

test('a stream that lags is asked for again and pulled, and the cursor waits for it', async () => {
  let isHeldBack = true;
  const { peer, parley, store, connect } = await opened({
    answers: {
      'GET /streams/conversation:12/events': async () => {
        await until(() => !isHeldBack, 'the test');
        return { data: [created(2), created(3)], more: false, last_offset: 3, next: null, cursor: 'aa.3' };
      },
    },
  });
  await connect();
  await isLive(parley);
  peer.socket.tell(created(1), { event: 'lagging', stream: 'conversation:12', last_offset: 1 });
  peer.socket.tell({ event: 'settings.updated', id: '9', stream: 'site', offset: 1, data: { name: 'Meadow', revision: 2 } });
  await until(() => peer.calls.includes('GET /streams/conversation:12/events'), 'the pull');
  assert.deepEqual(peer.socket.commands.find((command) => command.do === 'subscribe').topics, [{ topic: 'conversation:12' }]);
  assert.equal(parley.mirror.cursor, 'aa.1');
  isHeldBack = false;
  await until(() => parley.settings.name === 'Meadow', 'what came behind');
  assert.deepEqual(await seqs(store), [1, 2, 3]);
  assert.equal(parley.mirror.cursor, 'aa.9');
  parley.close();
});

test('silence is noticed, and ends in a new connection', async () => {
  const { peer, connect, parley } = await opened({ quiet: 20, patience: 20 });
  await connect();
  await until(() => peer.sockets[0].commands.some((command) => command.do === 'ping'), 'a ping');
  await until(() => peer.sockets.length > 1, 'another connection');
  assert.equal(peer.sockets[0].readyState, 3);
  parley.close();
});

test('a close that says so is final, and one that does not is not', async () => {
  const { peer, connect, parley } = await opened();
  const out = [];
  parley.on('signedOut', (reason) => out.push(reason.code));
  await connect();
  peer.socket.drop(4000, 'too_slow');
  await connect(2);
  peer.socket.drop(4501, 'session_ended');
  assert.equal(parley.state.connection, 'stopped');
  assert.deepEqual(out, ['session_ended']);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(peer.sockets.length, 2);
  parley.close();
});

test('what is looked at is followed beside one\'s own, and no longer than it is looked at', async () => {
  const { peer, connect, parley } = await opened();
  await connect();
  await isLive(parley);
  const subscribed = (name) => peer.socket.commands.filter((command) => command.do === name).map(({ topics }) => topics);
  const end = parley.follow('forum:3');
  const again = parley.follow('forum:3');
  await until(() => subscribed('subscribe').length === 1, 'the subscription');
  end();
  assert.deepEqual(subscribed('unsubscribe'), []);
  again();
  assert.deepEqual(subscribed('subscribe'), [[{ topic: 'forum:3' }]]);
  assert.deepEqual(subscribed('unsubscribe'), [['forum:3']]);
  const own = parley.window('12', () => {});
  assert.equal(subscribed('subscribe').length, 1, 'one\'s own is followed anyway');
  own.close();
  parley.close();
});

test('what lies in another stream moves the cursor of nobody', async () => {
  const { peer, connect, parley } = await opened({ answers: { 'GET /conversations/99': { id: '99', kind: 'topic', revision: 1, last_seq: 1 } } });
  await connect();
  await isLive(parley);
  peer.socket.tell({ ...created(1), id: '50', stream: 'conversation:99', data: say(1, { conversation_id: '99' }) });
  await until(() => parley.mirror.streams.has('conversation:99'), 'the event');
  assert.equal(parley.mirror.cursor, 'aa.0');
  parley.close();
});

test('what a snapshot has left out is fetched by pages, and the inbox beside it', async () => {
  const more = { ...snapshot().conversations[0], id: '13' };
  const waits = { id: '300', kind: 'mention', conversation_id: '12', message_id: '101', read_at: null };
  const { connect, parley } = await opened({
    answers: {
      'GET /snapshot': snapshot(0, { more_conversations: true }),
      'GET /conversations': ({ next }) =>
        next ? { data: [more], more: false, next: null } : { data: snapshot().conversations, more: true, next: 'x' },
      'GET /inbox': { data: [waits], more: false, next: null, unread: { all: 1 } },
    },
  });
  await connect();
  await isLive(parley);
  assert.deepEqual(parley.conversations.map(({ id }) => id).sort(), ['12', '13']);
  await until(() => parley.mirror.value('inbox')?.unread.all === 1, 'the inbox');
  assert.equal(parley.mirror.inbox.get('300').kind, 'mention');
});

test('signals are told and kept nowhere', async () => {
  const { peer, connect, parley } = await opened();
  await connect();
  await isLive(parley);
  parley.follow('presence');
  const told = [];
  for (const kind of ['typing', 'presence', 'forumActivity']) parley.on(kind, (detail) => told.push([kind, detail.user_id ?? detail.forum_id]));
  peer.socket.tell(
    { event: 'typing', stream: 'conversation:12', data: { conversation_id: '12', user_id: '8', typing: true } },
    { event: 'presence', data: { user_id: '8', presence: 'online', last_seen_at: null } },
    { event: 'forum.activity', stream: 'forum:3', data: { forum_id: '3', conversation_id: '5', last_message_id: '9' } },
  );
  assert.deepEqual(told, [['typing', '8'], ['presence', '8'], ['forumActivity', '3']]);
  parley.close();
});

test('who is here is known while it is followed, and nothing of it without a connection', async () => {
  const { peer, connect, parley } = await opened();
  await connect();
  await isLive(parley);
  const end = parley.follow('presence');
  assert.deepEqual(peer.socket.commands.at(-1), { id: 2, do: 'subscribe', topics: [{ topic: 'presence' }] });
  const online = { user_id: '8', presence: 'online', last_seen_at: null };
  peer.socket.tell({ event: 'presence', data: online });
  assert.deepEqual(parley.presenceOf('8'), online);
  assert.equal(parley.presenceOf('9'), null);
  const told = [];
  parley.on('presence', (said) => told.push(said));
  peer.socket.drop();
  assert.equal(parley.presenceOf('8'), null);
  await connect(2);
  await until(() => peer.socket.commands.some((it) => it.do === 'subscribe'), 'it to be followed again');
  peer.socket.tell({ event: 'presence', data: online });
  end();
  assert.equal(parley.presenceOf('8'), null, 'nobody follows it any longer');
  // What was on its way is of no use.
  peer.socket.tell({ event: 'presence', data: online });
  assert.equal(parley.presenceOf('8'), null);
  assert.deepEqual(told, [null, online, null]);
});

test('a hidden tab says that somebody is away only when the tab that they looked at stays gone', async () => {
  const channels = new Set();
  class Channel {
    constructor() {
      channels.add(this);
    }
    postMessage(data) {
      for (const other of channels) if (other !== this) other.onmessage?.({ data });
    }
    close() {
      channels.delete(this);
    }
  }
  const { peer, connect, parley } = await opened({ parley: { awayAfter: 20, BroadcastChannel: Channel } });
  await connect();
  await isLive(parley);
  const said = () => peer.socket.commands.filter((it) => it.do === 'presence').map((it) => it.state);
  const other = new Channel();
  const look = (isSeen, isLeaving = false) => other.postMessage({ kind: 'look', tab: 'other', topics: [], isSeen, isLeaving });
  look(true);
  parley.looking.set(false);
  await until(() => !parley.looking.isLooking, 'it to look elsewhere');
  assert.deepEqual(said(), []);
  // Loaded anew: gone, and here again.
  look(false, true);
  assert.deepEqual(said(), []);
  look(true);
  look(false, true);
  await until(() => said().length > 0, 'it to be told');
  assert.deepEqual(said(), ['away']);
  look(true);
  assert.deepEqual(said(), ['away', 'online']);
  // One that says that nobody looks has waited itself.
  look(false);
  assert.deepEqual(said(), ['away', 'online', 'away']);
});

test('a tab that takes over has what the one before it wrote and did not tell', async () => {
  const { store, locks, BroadcastChannel } = device({ isLost: () => true });
  const both = { store, event: 60, answers: { 'GET /conversations/12/messages': page(60) }, parley: { locks, BroadcastChannel } };
  const first = await opened(both);
  await first.connect();
  await isLive(first.parley);
  const second = await opened(both);
  assert.equal(second.parley.tabs.isLeader, false);
  const window = second.parley.window('12', () => {});
  await window.latest();
  const last = window.items.at(-1).message.seq;
  first.peer.socket.tell(created(last + 1));
  await until(() => first.parley.mirror.cursor === `aa.${last + 1}`, 'the first to have it');
  assert.equal(window.items.at(-1).message.seq, last);
  first.parley.close();
  await until(() => window.items.at(-1).message.seq === last + 1, 'what was not told');
  assert.equal(second.parley.mirror.cursor, `aa.${last + 1}`);
  assert.equal(second.parley.tabs.isLeader, true);
});

test('a tab that follows another leader from now on has what was not told, and keeps what only it has', async () => {
  const { store, locks, BroadcastChannel } = device({ isLost: ({ kind }) => kind === 'changes' });
  const tabs = { store, event: 60, answers: { 'GET /conversations/12/messages': page(60) }, parley: { locks, BroadcastChannel } };
  const first = await opened(tabs);
  await first.connect();
  await isLive(first.parley);
  const second = await opened(tabs);
  const third = await opened(tabs);
  const window = third.parley.window('12', () => {});
  await window.latest();
  const last = window.items.at(-1).message.seq;
  first.peer.socket.tell(created(last + 1));
  await until(() => first.parley.mirror.cursor === `aa.${last + 1}`, 'the first to have it');
  third.parley.mirror.people.set('99', { id: '99', name: 'eve' });
  assert.equal(window.items.at(-1).message.seq, last);
  first.parley.close();
  await until(() => window.items.at(-1).message.seq === last + 1, 'what was not told');
  assert.equal(second.parley.tabs.isLeader, true);
  assert.equal(third.parley.tabs.isLeader, false);
  assert.equal(third.parley.mirror.cursor, `aa.${last + 1}`);
  assert.equal(third.parley.mirror.people.get('99').name, 'eve');
});

test('what is told while the disk is read is newer than what is read', async () => {
  const { store, locks, BroadcastChannel } = device();
  let isHeld = false;
  const ends = [];
  const slow = {
    ...store,
    async list(table, ...more) {
      const rows = await store.list(table, ...more);
      if (isHeld && table === 'messages') await new Promise((resolve) => ends.push(resolve));
      return rows;
    },
  };
  const tabs = { event: 60, answers: { 'GET /conversations/12/messages': page(60) }, parley: { locks, BroadcastChannel } };
  const first = await opened({ ...tabs, store });
  await first.connect();
  await isLive(first.parley);
  const second = await opened({ ...tabs, store: slow });
  const window = second.parley.window('12', () => {});
  await window.latest();
  const last = window.items.at(-1).message;
  isHeld = true;
  const read = window.untold();
  await until(() => ends.length > 0, 'the disk to be read');
  first.peer.socket.tell({ ...created(61), event: 'message.updated', data: { ...last, text: 'better', revision: 2 } });
  await until(() => window.items.at(-1).message.text === 'better', 'it to be told');
  ends.shift()();
  assert.deepEqual((await read)(), []);
});

test('what is wanted while a new leader reads the disk is fetched, and of who went without a word nothing is left', async () => {
  const { store, locks, BroadcastChannel, tell } = device();
  let isHeld = false;
  const ends = [];
  const slow = {
    ...store,
    async list(table, ...more) {
      if (isHeld) await new Promise((resolve) => ends.push(resolve));
      return store.list(table, ...more);
    },
  };
  globalThis.document = { visibilityState: 'hidden', addEventListener() {}, removeEventListener() {} };
  try {
    const tabs = { answers: { 'GET /users/99': { id: '99', name: 'eve', revision: 1 } }, parley: { locks, BroadcastChannel } };
    const first = await opened({ ...tabs, store });
    await first.connect();
    await isLive(first.parley);
    const second = await opened({ ...tabs, store: slow });
    tell({ kind: 'look', tab: 'crashed', topics: ['presence'], isSeen: true, isInFront: true, isLeaving: false });
    assert.equal(second.parley.isInFront, true);
    isHeld = true;
    first.parley.close();
    await until(() => ends.length > 0, 'the disk to be read');
    assert.equal(second.parley.isInFront, false);
    assert.equal(second.parley.person('99'), null);
    isHeld = false;
    for (const end of ends) end();
    await until(() => second.parley.person('99')?.name === 'eve', 'them to be known');
  } finally {
    delete globalThis.document;
  }
});

test('of what is written quickly the last is kept, and each write waits for the one before', async () => {
  const store = memoryStore();
  const ends = [];
  let writes = 0;
  const slow = {
    ...store,
    update: async (places, decide) => {
      const changes = await store.update(places, decide);
      if (!changes.some(({ table }) => table === 'drafts')) return changes;
      writes++;
      await new Promise((resolve) => ends.push(resolve));
      return changes;
    },
  };
  const { parley } = await opened({ store: slow });
  const kept = ['h', 'ha', 'hal', 'half'].map((text) => parley.setDraft('12', { text }));
  assert.equal(parley.draft('12').text, 'half', 'it shows at once');
  for (const which of ['first', 'last']) {
    await until(() => ends.length > 0, `the ${which} write`);
    ends.shift()();
  }
  await Promise.all(kept);
  assert.equal(writes, 2);
  assert.equal((await store.get('drafts', '12')).value.text, 'half');
});

test('whoever looks elsewhere for long is away, here and after a new connection', async () => {
  const { peer, connect, parley } = await opened({ parley: { awayAfter: 5 } });
  await connect();
  await isLive(parley);
  parley.follow('presence');
  const said = () => peer.socket.commands.filter((it) => it.do === 'presence').map((it) => it.state);
  // A short look elsewhere is none.
  parley.looking.set(false);
  parley.looking.set(true);
  parley.looking.set(false);
  await until(() => said().length > 0, 'it to be told');
  assert.deepEqual(said(), ['away']);
  assert.equal(peer.socket.commands.filter((it) => it.do === 'unsubscribe').at(-1).topics[0], 'presence');
  peer.socket.drop();
  await connect(2);
  await until(() => said().length > 0, 'it to be told again');
  assert.deepEqual(said(), ['away']);
  parley.looking.set(true);
  assert.deepEqual(said(), ['away', 'online']);
  assert.equal(peer.socket.commands.at(-2).do, 'subscribe');
});

test('whoever closes or loads their only tab anew is not away for it', async () => {
  const listeners = {};
  globalThis.addEventListener = (name, listener) => (listeners[name] = listener);
  try {
    const { peer, connect, parley } = await opened();
    await connect();
    await isLive(parley);
    parley.follow('presence');
    await until(() => peer.socket.commands.some((it) => it.do === 'subscribe'), 'it to be followed');
    listeners.pagehide({ type: 'pagehide' });
    await until(() => peer.socket.commands.some((it) => it.do === 'unsubscribe'), 'it to look at nothing');
    assert.deepEqual(peer.socket.commands.filter((it) => it.do === 'presence'), []);
    // Kept by the browser and shown again, it is as before.
    listeners.pageshow({ type: 'pageshow' });
    assert.deepEqual(peer.socket.commands.at(-1).topics, [{ topic: 'presence' }]);
    assert.deepEqual(peer.socket.commands.filter((it) => it.do === 'presence'), []);
  } finally {
    delete globalThis.addEventListener;
  }
});

test('whoever shows again that they are here is told of at once', async () => {
  const { peer, connect, parley } = await opened({ answers: { 'GET /users/me': { ...me, show_presence: false } } });
  await connect();
  await isLive(parley);
  const mine = (revision, shown) => ({
    event: 'user.updated', id: String(revision), stream: 'site', offset: revision, actor_id: '7', at: '', data: { ...me, revision, show_presence: shown },
  });
  peer.socket.tell(mine(2, false), mine(3, true));
  await until(() => peer.socket.commands.some((it) => it.do === 'presence'), 'it to be told');
  assert.equal(peer.socket.commands.find((it) => it.do === 'presence').state, 'online');
});

test('a window shows what comes, fills a hole first, and counts what comes while one reads above', async () => {
  const { peer, connect, parley } = await opened({ event: 60, answers: { 'GET /conversations/12/messages': page(60) } });
  await connect();
  await isLive(parley);
  const window = parley.window('12', () => {}, { size: 60, page: 30 });
  await window.latest();
  peer.socket.tell(created(61));
  await until(() => window.items.at(-1).message.seq === 61, 'the message');
  await window.older();
  await window.older();
  assert.equal(window.isAtNewest, false);
  peer.socket.tell(created(62));
  await until(() => window.beyond > 0 && parley.mirror.cursor === 'aa.62', 'the count');
  assert.equal(window.items.at(-1).message.seq < 61, true);
  while (!window.isAtNewest) await window.newer();
  assert.equal(window.items.at(-1).message.seq, 62);
  window.close();
  parley.close();
});

test('a cached answer that comes late is dropped', async () => {
  const { parley } = await opened();
  const told = [];
  let late;
  const cached = () => new Promise((resolve) => (late = () => resolve('cached')));
  const fresh = async () => {
    setTimeout(late, 5);
    return 'fresh';
  };
  await parley.both({ cached, fresh }, (answer, isCached) => told.push([answer, isCached]));
  await parley.both({ cached: async () => 'cached', fresh: () => new Promise((resolve) => setTimeout(resolve, 5, 'fresh')) },
    (answer, isCached) => told.push([answer, isCached]));
  assert.deepEqual(told, [['fresh', false], ['cached', true], ['fresh', false]]);
  parley.close();
});
