// Operations on conversations, against the daemon.

import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';

import {
  Parley, createConversation, createConversationAndWait, deleteConversationAndWait, leaveConversation, leaveConversationAndWait,
  memoryStore, updateConversation, updateConversationAndWait,
} from '../../../Public/js/parley/parley.js';
import { Daemon, WebSocket } from './daemon.mjs';
import { until } from './until.mjs';

let daemon;
let ada;

before(async () => {
  daemon = await new Daemon().start();
  ada = await daemon.setUp();
});
after(() => daemon.remove());

const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

async function opened(store = memoryStore(), isUp = true) {
  const network = { isUp, lost: 0 };
  const fetch = async (address, options) => {
    if (!network.isUp) throw new TypeError('no network');
    const answer = await globalThis.fetch(address, options);
    if ((options.method ?? 'GET') === 'GET' || network.lost === 0) return answer;
    network.lost--;
    throw new TypeError('cut off');
  };
  const parley = await Parley.open({ url: daemon.url, token: ada.token, store, fetch, live: { WebSocket }, BroadcastChannel: null });
  all.push(parley);
  await parley.ready;
  return { parley, network, store };
}

const draft = (title) => ({ kind: 'channel', type: 'com.example.notes', title });
const titles = async (title) => {
  const { data } = await ada.client.calls.listConversations({ query: { type: 'com.example.notes' } });
  return data.filter((it) => it.title === title).length;
};

test('operations are stored first and applied with their answer', async () => {
  const { parley, network } = await opened();
  network.isUp = false;
  const operation = await createConversation(parley, draft('spring'));
  assert.equal(operation.kind, 'create_conversation');
  assert.deepEqual(parley.operations().map(({ id }) => id), [operation.id]);
  const sent = new Promise((resolve) => parley.on('sent', resolve));
  network.isUp = true;
  await parley.retry(operation.id);
  const { id, conversation } = await sent;
  assert.equal(id, operation.id);
  assert.equal(parley.conversation(conversation.id).title, 'spring');
  assert.equal((await updateConversationAndWait(parley, conversation.id, { title: 'summer' })).title, 'summer');
  assert.equal(parley.conversation(conversation.id).title, 'summer');
  assert.equal(await deleteConversationAndWait(parley, conversation.id), null);
  assert.equal(parley.conversation(conversation.id), null);
  assert.deepEqual(parley.operations(), []);
});

test('a repeated operation has one effect', async () => {
  const { parley, network } = await opened();
  network.lost = 1;
  const operation = await createConversation(parley, draft('once'));
  await until(() => network.lost === 0, 'the lost answer');
  await until(() => parley.operations().every(({ unanswered }) => unanswered), 'the pause');
  const sent = new Promise((resolve) => parley.on('sent', resolve));
  await parley.retry(operation.id);
  const { conversation } = await sent;
  assert.equal(await titles('once'), 1);
  const { id, revision } = conversation;
  network.lost = 1;
  const change = await updateConversation(parley, id, { title: 'twice', if_revision: revision });
  await until(() => network.lost === 0, 'the lost answer');
  const changed = new Promise((resolve) => parley.on('sent', resolve));
  await parley.retry(change.id);
  await changed;
  assert.equal(parley.conversation(id).title, 'twice');
  await assert.rejects(updateConversationAndWait(parley, id, { title: 'thrice', if_revision: revision }), { status: 409 });
  const [failed] = parley.operations();
  assert.equal(failed.state, 'failed');
  await parley.cancel(failed.id);
  network.lost = 1;
  const departure = await leaveConversation(parley, id);
  await until(() => network.lost === 0, 'the lost answer');
  const left = new Promise((resolve) => parley.on('sent', resolve));
  await parley.retry(departure.id);
  await left;
  assert.equal(parley.conversation(id), null);
});

test('operations survive a restart and can be cancelled', async () => {
  const store = { ...memoryStore(), close: () => {} };
  const { parley, network } = await opened(store);
  const { id } = await createConversationAndWait(parley, draft('kept'));
  network.isUp = false;
  const creation = await createConversation(parley, draft('later'));
  const change = await updateConversation(parley, id, { title: 'dropped' });
  parley.close();
  const again = await opened(store, false);
  assert.deepEqual(again.parley.operations().map((op) => op.id), [creation.id, change.id]);
  await again.parley.cancel(change.id);
  assert.deepEqual(again.parley.operations().map((op) => op.id), [creation.id]);
  again.network.isUp = true;
  await again.parley.retry(creation.id);
  await until(async () => (await titles('later')) === 1, 'the conversation');
  assert.equal(await titles('dropped'), 0);
  await until(() => again.parley.operations().length === 0, 'the answer');
  await leaveConversationAndWait(again.parley, id);
  assert.equal(await titles('kept'), 0);
});
