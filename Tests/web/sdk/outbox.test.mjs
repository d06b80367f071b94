// The outbox against the daemon: messages written offline, over connections that break.

import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { Daemon, WebSocket } from './daemon.mjs';
import { until } from './until.mjs';

let daemon;
let ada;

before(async () => {
  daemon = await new Daemon().start();
  ada = await daemon.setUp();
});
after(() => daemon.remove());

// Close all clients, also those of failed tests, or Node would not exit.
const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

const open = async (store, fetch = globalThis.fetch) => {
  const parley = await Parley.open({ url: daemon.url, token: ada.token, store, fetch, live: { WebSocket }, BroadcastChannel: null });
  all.push(parley);
  return parley;
};

/** A network that can be cut, and that loses some responses after the server has acted. */
function network(loses = () => false) {
  const state = { isUp: true, calls: 0 };
  state.fetch = async (address, options) => {
    if (!state.isUp) throw new TypeError('no network');
    const answer = await fetch(address, options);
    if (options.method === 'POST' && loses(++state.calls)) {
      await answer.text();
      throw new TypeError('cut off');
    }
    return answer;
  };
  return state;
}

async function conversation(title) {
  return ada.client.calls.createConversation({ body: { kind: 'channel', type: 'com.example.notes', title } });
}

async function texts(id) {
  const all = [];
  let next;
  while (next !== null) {
    const page = await ada.client.calls.listMessages({ id, query: { limit: 200, next, include_machine: true } });
    all.unshift(...page.data.reverse());
    next = page.next;
  }
  return all.map(({ text }) => text);
}

test('500 offline messages arrive once and in order, with every third response lost', async () => {
  const { id } = await conversation('garden');
  const net = network((call) => call % 3 === 0);
  net.isUp = false;
  const store = memoryStore();
  let parley = await open(store, net.fetch);
  parley.outbox.pause = () => 1;
  const wanted = Array.from({ length: 500 }, (_, number) => `seed ${number}`);
  for (const text of wanted) await parley.send(id, { text });
  assert.equal(parley.state.waiting, 500);
  parley.close();

  parley = await open(store, net.fetch);
  parley.outbox.pause = () => 1;
  assert.equal(parley.state.waiting, 500, 'they survive the page');
  net.isUp = true;
  parley.outbox.kick({ isBack: true });
  await until(() => parley.state.waiting === 0, 'the outbox to be empty', 60_000);
  assert.deepEqual(await texts(id), wanted);
  parley.close();
});

test('conversations do not block one another', async () => {
  const [slow, quick] = [await conversation('slow'), await conversation('quick')];
  const net = network();
  const parley = await open(memoryStore(), async (address, options) => {
    if (String(address).includes(`/${slow.id}/messages`) && options.method === 'POST') throw new TypeError('no network');
    return net.fetch(address, options);
  });
  await parley.send(slow.id, { text: 'one' });
  await parley.send(quick.id, { text: 'two' });
  await until(() => parley.operations({ conversation: quick.id }).length === 0, 'the quick one');
  assert.deepEqual(await texts(quick.id), ['two']);
  assert.equal(parley.state.waiting, 1);
  parley.close();
});

test('a refused message waits for the user with its reason and blocks no other', async () => {
  const { id } = await conversation('refusals');
  const parley = await open(memoryStore());
  const failures = [];
  parley.on('failed', ({ problem }) => failures.push(problem.code));
  const long = await parley.send(id, { text: 'x'.repeat(16_001) });
  await parley.send(id, { text: 'short' });
  await until(() => parley.state.waiting === 0, 'the second message to be sent');
  assert.deepEqual(failures, ['invalid']);
  const [operation] = parley.operations({ conversation: id });
  assert.deepEqual([operation.id, operation.state, operation.reason.errors[0].field], [long.id, 'failed', 'text']);
  await parley.edit({ id: null, client_id: long.id, conversation_id: id }, { text: 'shorter' });
  await parley.retry(long.id);
  await until(() => parley.operations({ conversation: id }).length === 0, 'the retry');
  assert.deepEqual(await texts(id), ['short', 'shorter']);
  parley.close();
});

test('an unsent message is edited and deleted locally', async () => {
  const { id } = await conversation('drafts');
  const net = network();
  net.isUp = false;
  const parley = await open(memoryStore(), net.fetch);
  parley.outbox.stop();
  const unsentMessage = await parley.send(id, { text: 'first' });
  const gone = await parley.send(id, { text: 'second' });
  const unsent = (operation) => ({ id: null, client_id: operation.id, conversation_id: id });
  await parley.edit(unsent(unsentMessage), { text: 'better' });
  await parley.delete(unsent(gone));
  assert.equal(parley.operations({ conversation: id }).length, 1);
  net.isUp = true;
  parley.outbox.start();
  await until(() => parley.state.waiting === 0, 'the outbox to be empty');
  assert.deepEqual(await texts(id), ['better']);
  parley.close();
});

test('an action on an unsent message is sent after the message', async () => {
  const { id } = await conversation('actions');
  const net = network();
  net.isUp = false;
  const parley = await open(memoryStore(), net.fetch);
  parley.outbox.pause = () => 1;
  const operation = await parley.send(id, { text: 'pizza' });
  await until(() => parley.operations()[0].tries > 0, 'a try');
  await parley.setAction({ id: null, client_id: operation.id, conversation_id: id }, 'like');
  net.isUp = true;
  parley.outbox.kick({ isBack: true });
  await until(() => parley.state.waiting === 0, 'the outbox to be empty');
  const [message] = (await ada.client.calls.listMessages({ id })).data;
  assert.equal(message.actions.like.count, 1);
  parley.close();
});

test('cancelling a message cancels its other operations', async () => {
  const { id } = await conversation('cancelled');
  const net = network();
  net.isUp = false;
  const parley = await open(memoryStore(), net.fetch);
  const operation = await parley.send(id, { text: 'pizza' });
  await until(() => parley.operations()[0].tries > 0, 'a try');
  await parley.setAction({ id: null, client_id: operation.id, conversation_id: id }, 'like');
  await parley.cancel(operation.id);
  assert.deepEqual(parley.operations().map(({ kind }) => kind), ['send', 'delete'], 'a try has begun');
  net.isUp = true;
  parley.outbox.kick({ isBack: true });
  await until(() => parley.operations().length === 0, 'the outbox to be empty');
  assert.deepEqual((await ada.client.calls.listMessages({ id })).data.map(({ deleted }) => deleted), [true]);
  parley.close();
});

test('signing out is refused while operations wait, unless it is forced', async () => {
  const { id } = await conversation('leaving');
  const net = network();
  net.isUp = false;
  const store = memoryStore();
  const parley = await open(store, net.fetch);
  await parley.send(id, { text: 'pizza' });
  await assert.rejects(parley.signOut(), { code: 'unsent', params: { count: 1 } });
  await parley.signOut({ isForced: true });
  assert.deepEqual(await store.list('outbox'), []);
});

test('a held deletion is shown, and sent at its end unless it is taken back', async () => {
  const { id } = await conversation('regrets');
  const net = network();
  const parley = await open(memoryStore(), net.fetch);
  const sent = async (text) => {
    await parley.send(id, { text });
    await until(() => parley.state.waiting === 0, 'the message to be sent');
    const page = await ada.client.calls.listMessages({ id, query: { limit: 1, include_machine: true } });
    return page.data[0];
  };
  const window = parley.window(id, () => {});
  await window.latest();
  const shown = (message) => window.items.find((it) => it.message.id === message.id)?.message.text;
  const kept = await sent('keep me');
  await until(() => shown(kept) === 'keep me', 'the message');

  // An edit that waits for the network survives.
  parley.outbox.stop();
  await parley.edit(kept, { text: 'keep me, please' });
  const first = await parley.delete(kept, { heldFor: 50_000 });
  assert.equal(shown(kept), '');
  assert.equal(await parley.endHold(first, { isTakenBack: true }), true);
  assert.equal(shown(kept), 'keep me, please');
  assert.equal(await parley.endHold(first), false, 'it is held no more');
  parley.outbox.start();
  await until(() => parley.state.waiting === 0, 'the edit');
  assert.deepEqual(await texts(id), ['keep me, please']);

  // Sent before its end, in place of the edit.
  parley.outbox.stop();
  await parley.edit(kept, { text: 'no' });
  const second = await parley.delete(kept, { heldFor: 50_000 });
  assert.equal(await parley.endHold(second), true);
  assert.deepEqual(parley.operations().map(({ kind }) => kind), ['delete']);
  parley.outbox.start();
  await until(() => parley.state.waiting === 0, 'the deletion');
  assert.deepEqual(await texts(id), [undefined]);
  assert.equal(await parley.endHold(second, { isTakenBack: true }), false, 'too late');

  // No tab ends the hold, as after a crash.
  const other = await sent('forget me');
  await parley.delete(other, { heldFor: 300 });
  assert.deepEqual(await texts(id), [undefined, 'forget me']);
  await until(() => parley.state.waiting === 0, 'the end of the hold');
  assert.deepEqual(await texts(id), [undefined, undefined]);
  parley.close();
});

test('votes wait for the network, and the last one is sent', async () => {
  const { id } = await conversation('poll');
  const poll = { options: ['plums', 'pears', 'quinces'], choices: 2 };
  const asked = await ada.client.calls.postMessage({ id, body: { text: 'Which?', poll } });
  const net = network();
  const requests = [];
  const parley = await open(memoryStore(), (address, options) => {
    if (address.endsWith('/vote')) requests.push(options.body);
    return net.fetch(address, options);
  });
  const heard = [];
  parley.on('event', ({ data }) => data?.mine && heard.push(data.mine));
  const window = parley.window(id, () => {});
  await window.latest();
  net.isUp = false;
  // A try that has begun is not replaced.
  await parley.setVote(asked, [0]);
  await until(() => requests.length > 0, 'the first try');
  await parley.setVote(asked, [1]);
  await parley.setVote(asked, [2, 0]);
  assert.deepEqual(window.items[0].message.poll.mine, [2, 0]);
  assert.deepEqual(window.items[0].message.poll.options.map(({ votes }) => votes), [1, 0, 1]);
  net.isUp = true;
  parley.outbox.kick({ isBack: true });
  await until(() => parley.state.waiting === 0, 'the outbox to be empty');
  const { voters, mine } = (await ada.client.calls.getMessage({ id: asked.id })).poll;
  assert.deepEqual([voters, mine], [1, [0, 2]]);
  assert.ok(!requests.includes('{"options":[1]}'), 'a vote that was replaced is not sent');
  // An answer counts as old as its request, so the event of the first vote hides the answer to the second for a moment.
  await until(() => String(heard.at(-1)) === '0,2', 'the event of the last vote');
  await until(() => window.items[0].message.poll.mine.length === 2, 'the vote in the cache');
  await ada.client.calls.closePoll({ id: asked.id });
  const failed = new Promise((resolve) => {
    parley.on('failed', resolve);
  });
  await parley.setVote(asked, []);
  const { operation, problem } = await failed;
  assert.equal(problem.code, 'poll_closed');
  await parley.cancel(operation.id);
  assert.deepEqual(window.items[0].message.poll.mine, [0, 2]);
});

test('a poll that a restore has lost is asked again', async () => {
  const { id } = await conversation('lost');
  const parley = await open(memoryStore());
  const options = [{ text: 'plums', votes: 2 }, { text: 'pears', votes: 0 }];
  const poll = { options, choices: 1, anonymous: true, closes_at: '2026-01-01T00:00:00.000Z', voters: 2, mine: [0] };
  const lost = { id: '999999', client_id: 'lost', conversation_id: id, text: 'Which?', annotations: [], attachments: [], poll };
  await parley.store.update([], () => [{ table: 'site', key: 'lost', row: { name: 'lost', value: [lost] } }]);
  await parley.sendLost();
  await until(() => parley.state.waiting === 0, 'the message to be sent');
  const { data: [again] } = await ada.client.calls.listMessages({ id });
  const voteless = { ...poll, options: options.map((it) => ({ ...it, votes: 0 })), closes_at: null, voters: 0, mine: [] };
  assert.deepEqual(again.poll, voteless);
});
