// The data on a shared device: after each end of a session, and after each return.

import assert from 'node:assert/strict';
import { webcrypto } from 'node:crypto';
import test, { afterEach } from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { put, tables } from '../../../Public/js/parley/store.js';
import { until } from './until.mjs';
import { Peer, created, me, page, say, snapshot } from './peer.mjs';

globalThis.crypto ??= webcrypto;

const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

const refusal = { status: 401, code: 'unauthenticated' };
const grace = { ...me, id: '9', name: 'grace' };

/** Opens the copy as this user, or without a session. */
async function opened(store, user, { reset, answers = {}, problem = refusal } = {}) {
  const peer = new Peer();
  const refused = () => Response.json(problem, { status: 401 });
  peer.answers = user
    ? { 'GET /users/me': user, 'GET /snapshot': snapshot(1, { me: user, offsets: {} }), ...answers }
    : { 'GET /users/me': refused, 'GET /snapshot': refused };
  peer.onCommand = (command, socket) => {
    const isReset = reset && command.cursor === 'aa.1';
    if (!user) socket.tell({ re: command.id, problem });
    else if (isReset) socket.tell({ re: command.id, ok: true, user_id: user.id, complete: false, reset: true, reason: reset });
    else if (command.do === 'hello') socket.tell({ re: command.id, ok: true, user_id: user.id, complete: true, cursor: command.cursor });
  };
  const parley = await Parley.open({
    url: 'http://peer', store, fetch: peer.fetch, live: { WebSocket: peer.WebSocket, pause: () => 1 }, BroadcastChannel: null,
  });
  all.push(parley);
  parley.client.tries = 1;
  parley.outbox.pause = () => 1;
  const ended = [];
  for (const kind of ['signedOut', 'accountChanged']) parley.on(kind, () => ended.push(kind));
  const connect = async (count = 1) => {
    await until(() => peer.sockets.length >= count, 'a connection');
    await peer.socket.open();
  };
  return { peer, parley, connect, ended };
}

const isLive = (parley) => until(() => parley.state.connection === 'live', 'the connection to be live');

/** A live session of ada with a message, a draft, a lost message, and a message and a file that wait. */
async function begun(store) {
  const session = await opened(store, me);
  await session.connect();
  await isLive(session.parley);
  session.peer.socket.tell({ ...created(2, { text: 'private words' }), offset: 2 });
  await until(() => session.parley.mirror.cursor === 'aa.2', 'the message');
  session.parley.outbox.stop();
  await session.parley.send('12', { text: 'unsent words' }, [new Blob(['a file'])]);
  await session.parley.setDraft('12', { text: 'half a thought' });
  await store.update([], () => [
    put('site', { name: 'lost', value: [say(9, { author_id: '7', client_id: 'lost', text: 'lost words' })] }),
    put('site', { name: 'cursor', value: 'aa.1' }),
  ]);
  return session;
}

/** All rows of the copy, as a reader of the disk sees them. */
const read = async (store) =>
  Object.fromEntries(await Promise.all(Object.keys(tables).map(async (table) => [table, await store.list(table)])));

const isShown = (parley) => [
  parley.me, parley.conversations.length, parley.operations().length, parley.lost.length, parley.draft('12'),
];
const nothing = [null, 0, 0, 0, null];

/** Ada's unsent work is back, and is sent. */
async function isBack(store, answers) {
  const posted = [];
  const { parley, connect } = await opened(store, me, {
    answers: {
      'POST /files': { id: '900' }, ...answers,
      'POST /conversations/12/messages': () => posted.push('post') && say(3, { author_id: '7', client_id: 'x' }),
    },
  });
  await connect();
  await isLive(parley);
  await until(() => posted.length > 0, 'the unsent message');
  await until(() => parley.operations().length === 0, 'the answer');
  assert.deepEqual(parley.lost.map(({ text }) => text), ['lost words']);
  assert.equal(parley.draft('12').text, 'half a thought');
}

const ways = {
  'a revoked session, a ban or an erasure': async (store) => {
    const { peer, parley, ended } = await begun(store);
    peer.socket.drop(4501, 'session_ended');
    assert.deepEqual(ended, ['signedOut']);
    return parley;
  },
  'another user\'s sign-in': async (store) => {
    (await begun(store)).parley.close();
    const { parley, ended } = await opened(store, grace);
    await until(() => ended.length > 0, 'the other user');
    assert.deepEqual(ended, ['accountChanged']);
    return parley;
  },
  'another user\'s sign-in during the connection': async (store) => {
    const { peer, parley, ended, connect } = await begun(store);
    peer.onCommand = (command, socket) => socket.tell({ re: command.id, ok: true, user_id: '9', complete: true, cursor: 'aa.1' });
    peer.socket.drop();
    await connect(2);
    await until(() => ended.length > 0, 'the other user');
    return parley;
  },
  'a revocation while the device was offline': async (store) => {
    const { parley } = await begun(store);
    parley.close();
    const later = await opened(store, null, { problem: { status: 401, code: 'session_ended' } });
    await until(() => later.ended.length > 0, 'the end');
    return later.parley;
  },
  'a revocation while the connection was lost': async (store) => {
    const { peer, parley, ended, connect } = await begun(store);
    peer.onCommand = (command, socket) => socket.tell({ re: command.id, problem: { status: 401, code: 'session_ended' } });
    peer.socket.drop();
    await connect(2);
    await until(() => ended.length > 0, 'the end');
    return parley;
  },
  'another user\'s sign-in at a locked copy': async (store) => {
    const { peer, parley } = await begun(store);
    peer.socket.drop(4500, 'unauthenticated');
    await until(async () => (await store.get('site', 'locked')) !== undefined, 'the lock');
    parley.close();
    const other = await opened(store, grace);
    await until(() => other.ended.length > 0, 'the other user');
    return other.parley;
  },
};

for (const [name, leave] of Object.entries(ways)) {
  test(`${name} erases the copy and seals unsent operations`, async () => {
    const store = memoryStore();
    const parley = await leave(store);
    await until(() => parley.me === null, 'the erasure');
    assert.deepEqual(isShown(parley), nothing);
    const { sealed, ...rest } = await read(store);
    assert.deepEqual(Object.values(rest).flat(), []);
    assert.equal(JSON.stringify(sealed).includes('private words'), false);
    assert.deepEqual(sealed.map(({ user_id, operations, files, drafts, lost }) => [user_id, operations.length, files.length, drafts.length, lost.length]),
      [['7', 1, 1, 1, 1]]);

    // Another user neither sees nor sends it.
    const other = await opened(store, grace);
    await other.connect();
    await isLive(other.parley);
    assert.deepEqual(isShown(other.parley).slice(2), [0, 0, null]);
    assert.equal(other.peer.calls.some((call) => call.startsWith('POST')), false);
    await other.parley.signOut();
    assert.equal((await store.list('sealed')).length, 1);
    assert.deepEqual(await store.list('conversations'), []);

    await isBack(store);
    assert.deepEqual(await store.list('sealed'), []);
  });
}

test('an expired session locks the copy until the same user signs in', async () => {
  const store = memoryStore();
  const { peer, parley, ended } = await begun(store);
  peer.socket.drop(4500, 'unauthenticated');
  assert.deepEqual(ended, ['signedOut']);
  await until(async () => (await store.get('site', 'locked')) !== undefined, 'the lock');
  assert.deepEqual(isShown(parley), nothing);
  // Nothing is shown or written without the session, also offline.
  const without = await opened(store, null);
  await until(() => without.ended.length > 0, 'the refusal');
  assert.deepEqual(isShown(without.parley), nothing);
  await assert.rejects(without.parley.send('12', { text: 'of a stranger' }));
  without.parley.close();
  const offline = await Parley.open({ url: 'http://peer', store, fetch: () => Promise.reject(new TypeError('no network')), BroadcastChannel: null });
  all.push(offline);
  await until(() => offline.state.connection === 'offline', 'the network to be missing');
  assert.deepEqual(isShown(offline), nothing);
  offline.close();
  assert.equal((await store.list('messages')).length, 1);

  await isBack(store);
  assert.equal(await store.get('site', 'locked'), undefined);
});

test('a session ended by a restore is continued by its user, and lost messages are sent again', async () => {
  const store = memoryStore();
  const { peer } = await begun(store);
  peer.socket.drop(4500, 'unauthenticated');
  await until(async () => (await store.get('site', 'locked')) !== undefined, 'the lock');
  const posted = [];
  const session = await opened(store, me, {
    reset: 'epoch',
    answers: {
      'GET /snapshot': snapshot(1, { cursor: 'bb.1' }), 'GET /conversations/12': snapshot(1).conversations[0],
      'GET /conversations/12/messages': (query) => ({ ...page(1)(query), cursor: 'bb.1' }), 'POST /files': { id: '900' },
      'POST /conversations/12/messages': () => posted.push('post') && say(1 + posted.length, { author_id: '7', client_id: `${posted.length}` }),
    },
  });
  await session.connect();
  await session.connect(2);
  await isLive(session.parley);
  assert.deepEqual(session.parley.lost.map(({ text }) => text), ['lost words']);
  await session.parley.sendLost();
  await until(() => session.parley.operations().length === 0, 'both messages');
  assert.equal(posted.length, 2);
});

test('signing out erases everything without unsent operations', async () => {
  const store = memoryStore();
  const session = await opened(store, me);
  await session.connect();
  await isLive(session.parley);
  await session.parley.signOut();
  assert.deepEqual(Object.values(await read(store)).flat(), []);
});

test('signing out leaves drafts and lost messages for their user, and erases discarded ones', async () => {
  const store = memoryStore();
  const { parley } = await begun(store);
  await parley.setDraft('13', { text: 'half an answer' }, [new File(['a plan'], 'plan.txt')]);
  await parley.signOut({ isForced: true });
  const { sealed, ...others } = await read(store);
  assert.deepEqual(Object.values(others).flat(), []);
  assert.equal(sealed.length, 1);
  assert.deepEqual(sealed[0].operations, []);
  assert.equal(sealed[0].files.length, 1, 'the file of the draft');
  const other = await opened(store, grace);
  await other.connect();
  await isLive(other.parley);
  assert.equal(other.parley.draft('13'), null);
  other.parley.close();
  await other.parley.erase();
  const session = await opened(store, me);
  await session.connect();
  await isLive(session.parley);
  await until(() => session.parley.draft('13'), 'the draft');
  assert.equal(session.parley.draft('13').text, 'half an answer');
  assert.deepEqual((await session.parley.draftFiles('13')).map(({ name }) => name), ['plan.txt']);
  assert.deepEqual(session.parley.lost.map(({ text }) => text), ['lost words']);
  assert.deepEqual(session.parley.operations(), []);
});

test('without room for its file a draft keeps its text, and signing out still erases the copy', async () => {
  const store = memoryStore();
  const { parley } = await begun(store);
  const { update } = store;
  store.update = (sources, decide, options) =>
    update.call(store, sources, (found) => {
      const changes = decide(found);
      if (changes.some(({ table, row }) => table === 'files' && row)) throw new DOMException('no room', 'QuotaExceededError');
      return changes;
    }, options);
  assert.equal(await parley.setDraft('13', { text: 'half an answer' }, [new File(['a plan'], 'plan.txt')]), false);
  assert.equal((await store.get('drafts', '13')).value.text, 'half an answer');
  await parley.signOut({ isForced: true });
  const { sealed: _, ...others } = await read(store);
  assert.deepEqual(Object.values(others).flat(), []);
});

test('a sign-out ends without an answer of the database', async (t) => {
  const memory = memoryStore();
  const { parley } = await begun(memory);
  const faults = [];
  parley.on('fault', (fault) => faults.push(fault.name));
  memory.update = () => new Promise(() => {});
  parley.store.update = memory.update;
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let isOut = false;
  const leaving = parley.signOut({ isForced: true }).then(() => (isOut = true));
  for (let seconds = 0; seconds < 30 && !isOut; seconds++) {
    t.mock.timers.tick(1_000);
    await new Promise(setImmediate);
  }
  assert.ok(isOut);
  await leaving;
  assert.deepEqual(faults, ['TimeoutError']);
});

test('a departure erases the drafts', async () => {
  const store = memoryStore();
  const { parley } = await begun(store);
  await parley.signOut({ isForced: true, isForGood: true });
  assert.deepEqual(Object.values(await read(store)).flat(), []);
});

test('an answer that arrives during the erasure is not written', async () => {
  const memory = memoryStore();
  let erasure = null;
  // The erasure becomes durable later.
  const store = {
    ...memory,
    update: async (...transition) => {
      const changes = await memory.update(...transition);
      if (erasure && changes.some((change) => 'from' in change)) await erasure;
      return changes;
    },
  };
  const session = await opened(store, me);
  await session.connect();
  await isLive(session.parley);
  const faults = [];
  session.parley.on('fault', (fault) => faults.push(fault));
  let [isDurable, isAnswered] = [false, false];
  erasure = until(() => isDurable, 'the test');
  session.peer.answers['GET /conversations/12/messages'] = async (query) => {
    await until(() => isAnswered, 'the test');
    return page(1)(query);
  };
  const reading = session.parley.pages.fetch('12', {});
  const leaving = session.parley.signOut();
  await until(async () => (await memory.list('conversations')).length === 0, 'the erasure');
  isAnswered = true;
  await assert.rejects(reading, { name: 'AbortError' });
  isDurable = true;
  await leaving;
  assert.deepEqual(Object.values(await read(memory)).flat(), []);
  assert.deepEqual(faults, []);
});
