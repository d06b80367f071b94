// Sync with the daemon over cuts, restarts and restores, with concurrent writers.

import assert from 'node:assert/strict';
import { join } from 'node:path';
import test, { after, afterEach, before } from 'node:test';

import { Parley, memoryStore } from '../../../Public/js/parley/parley.js';
import { digestOf } from '../../../Public/js/parley/verify.js';
import { Daemon, WebSocket } from './daemon.mjs';
import { until } from './until.mjs';

let daemon;
let ada;
let grace;

before(async () => {
  daemon = await new Daemon().start();
  ada = await daemon.setUp();
  grace = await daemon.createUser(ada, 'grace');
});
after(() => daemon.remove());

// Close all clients, also those of failed tests, or Node would not exit.
const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

/** Sockets that a test can cut. */
class Line extends WebSocket {
  static open = new Set();

  constructor(...options) {
    super(...options);
    Line.open.add(this);
    this.on('close', () => Line.open.delete(this));
    this.on('error', () => {});
  }

  static cut() {
    for (const socket of Line.open) socket.terminate();
  }
}

const open = async (user, store = memoryStore()) => {
  const parley = await Parley.open({
    url: daemon.url, token: user.token, store, live: { WebSocket: Line, pause: () => 5 }, BroadcastChannel: null,
  });
  parley.outbox.pause = () => 5;
  all.push(parley);
  await until(() => parley.state.connection === 'live', `${user.user.name} to be connected`);
  return parley;
};

/** A group of ada and grace, with grace's request accepted. */
async function group(title) {
  const { id } = await ada.client.calls.createConversation({ body: { kind: 'group', title, participants: ['@grace'] } });
  await grace.client.calls.acceptRequest({ id });
  return id;
}

/** Checks that a cache equals the server's messages, by digest. */
async function assertEqual(parley, id) {
  const { digest, parts } = await parley.client.calls.getDigest({ id, query: { parts: 1 } });
  const messages = await parley.store.list('messages', { from: [id, 0], to: [id, Infinity] });
  assert.equal(digestOf(messages), digest, `${messages.length} of ${parts[0]?.to_seq ?? 0} are cached`);
}

test('a message, its edit and its deletion reach the other user', async () => {
  const id = await group('garden');
  const [from, to] = [await open(ada), await open(grace)];
  await until(() => to.conversation(id), 'the conversation');
  const window = to.window(id, () => {});
  await window.latest();
  await from.send(id, { text: 'seeds' });
  await from.send(id, { text: 'weeds' });
  await until(() => window.items.length === 2, 'both');
  const own = from.window(id, () => {});
  await own.latest();
  await until(() => own.items.every(({ state }) => state === 'sent'), 'both to be sent');
  await from.edit(own.items[0].message, { text: 'better seeds' });
  await from.delete(own.items[1].message);
  await from.setAction(own.items[0].message, 'like');
  await until(() => window.items[0].message.text === 'better seeds' && window.items[1].message.deleted, 'the changes');
  await until(() => window.items[0].message.actions.like?.count === 1, 'the like');
  assert.equal(to.conversation(id).unread_count, 1);
  await to.markRead(window.items[1].message);
  await until(() => to.state.waiting === 0 && to.conversation(id).unread_count === 0, 'the read position to move');
  await assertEqual(to, id);
});

test('a message is shown at once and keeps its key and position when sent', async () => {
  const id = await group('echo');
  const parley = await open(ada);
  const deltas = [];
  const window = parley.window(id, (_, steps) => deltas.push(...steps));
  await window.latest();
  await parley.send(id, { text: 'hello' });
  assert.deepEqual(window.items.map(({ state, message }) => [state, message.text]), [['pending', 'hello']]);
  await until(() => window.items[0]?.state === 'sent', 'the message to be sent');
  assert.equal(window.items.length, 1);
  assert.equal(window.items[0].message.seq, 1);
  assert.deepEqual([...new Set(deltas.map(({ kind }) => kind))], ['insert', 'replace']);
});

test('a client with many disconnects ends in the state of the server', async () => {
  const id = await group('cuts');
  const to = await open(grace);
  let written = 0;
  const write = async () => {
    for (; written < 200; written++) {
      const { id: message } = await ada.client.calls.postMessage({ id, body: { text: `seed ${written}` } });
      if (written % 7 === 0) await ada.client.calls.editMessage({ id: message, body: { text: `edited ${written}` } });
      if (written % 11 === 0) await ada.client.calls.deleteMessage({ id: message });
    }
  };
  const writing = write();
  while (written < 200) {
    await new Promise((resolve) => setTimeout(resolve, 20));
    Line.cut();
  }
  await writing;
  await until(() => to.conversation(id)?.last_seq === 200, 'the last message');
  await until(() => to.state.connection === 'live', 'the connection');
  await assertEqual(to, id);
  const { unread_count: unread } = await grace.client.calls.getConversation({ id });
  assert.equal(to.conversation(id).unread_count, unread);
});

test('two users that write offline get the same message order', async () => {
  const id = await group('order');
  const [one, other] = [await open(ada), await open(grace)];
  for (const parley of [one, other]) parley.outbox.stop();
  for (let number = 0; number < 50; number++) {
    await one.send(id, { text: `ada ${number}` });
    await other.send(id, { text: `grace ${number}` });
  }
  for (const parley of [one, other]) parley.outbox.start();
  for (const parley of [one, other]) {
    await until(() => parley.state.waiting === 0 && parley.conversation(id).last_seq === 100, 'all of them');
    await until(async () => (await parley.store.list('messages', { from: [id, 0], to: [id, Infinity] })).length === 100, 'all');
    await assertEqual(parley, id);
    const messages = await parley.store.list('messages', { from: [id, 0], to: [id, Infinity] });
    for (const name of ['ada', 'grace']) {
      const own = messages.map(({ text }) => text).filter((text) => text.startsWith(name));
      assert.deepEqual(own, Array.from({ length: 50 }, (_, number) => `${name} ${number}`));
    }
  }
});

test('a restart of the server loses no messages', async () => {
  const id = await group('restart');
  const to = await open(grace);
  const from = await open(ada);
  for (let number = 0; number < 40; number++) await from.send(id, { text: `seed ${number}` });
  await daemon.stop('SIGKILL');
  for (let number = 40; number < 60; number++) await from.send(id, { text: `seed ${number}` });
  await daemon.start();
  await until(() => from.state.waiting === 0, 'the outbox to be empty', 30_000);
  await until(() => to.conversation(id)?.last_seq === 60, 'the last message', 30_000);
  const messages = await to.store.list('messages', { from: [id, 0], to: [id, Infinity] });
  assert.deepEqual(messages.map(({ text }) => text), Array.from({ length: 60 }, (_, number) => `seed ${number}`));
  await assertEqual(to, id);
});

test('after a restore the cache equals the server, and lost messages can be sent again', async () => {
  const id = await group('restore');
  const from = await open(ada);
  const to = await open(grace);
  const say = async (text) => {
    await from.send(id, { text });
    await until(() => from.state.waiting === 0, `${text} to be sent`);
  };
  await say('before');
  await until(() => to.conversation(id)?.last_seq === 1, 'the first');
  const backup = join(daemon.folder, 'backup.tar');
  daemon.command('backup', backup);
  await say('after');
  await until(() => to.conversation(id)?.last_seq === 2, 'the second');
  const resets = new Promise((resolve) => to.on('reset', resolve));
  await daemon.stop();
  daemon.command('restore', backup, '--replace', '--keep-sessions');
  await daemon.start();
  assert.equal((await resets).reason, 'epoch');
  await until(() => from.lost.length === 1, 'the lost message');
  for (const parley of [from, to]) {
    await until(() => parley.state.connection === 'live', 'the connection');
    await assertEqual(parley, id);
  }
  await from.sendLost();
  await until(() => to.conversation(id).last_seq === 2, 'it again');
  assert.equal((await to.store.get('messages', [id, 2])).text, 'after');
  await assertEqual(to, id);
});

test('a user sees a conversation after joining and loses it by leaving', async () => {
  const { id } = await ada.client.calls.createConversation({ body: { kind: 'group', title: 'doors', participants: [] } });
  const to = await open(grace);
  await ada.client.calls.setParticipant({ id, user: '@grace', body: {} });
  await until(() => to.conversation(id)?.role === 'member', 'the conversation');
  await ada.client.calls.postMessage({ id, body: { text: 'welcome' } });
  await until(() => to.conversation(id).last_seq > 0, 'the message');
  await ada.client.calls.removeParticipant({ id, user: '@grace' });
  await until(() => !to.conversation(id), 'the conversation to be dropped');
  assert.deepEqual(await to.store.list('messages', { from: [id, 0], to: [id, Infinity] }), []);
});

test('a session revoked elsewhere ends here', async () => {
  const password = 'wool and needles';
  const { token } = await ada.client.calls.signIn({ body: { name: 'grace', password } });
  const parley = await open({ ...grace, token });
  const out = new Promise((resolve) => parley.on('signedOut', resolve));
  await parley.client.calls.revokeSession({ id: 'current' });
  assert.equal((await out).code, 'session_ended');
  assert.equal(parley.state.connection, 'stopped');
});

test('the tags of a topic follow its first message', async () => {
  const { calls } = ada.client;
  const { id: forum } = await calls.createForum({ body: { title: 'Tagged', visibility: 'public' } });
  const parley = await open(grace);
  parley.subscribe(`forum:${forum}`);
  const body = { title: 'Garlic', text: 'When? #Garlic #autumn' };
  const { id: topic, tags } = await calls.createTopic({ id: forum, body });
  assert.deepEqual(tags, ['garlic', 'autumn']);
  const held = () => parley.conversation(topic)?.tags?.join(' ');
  await until(() => held() === 'garlic autumn', 'the topic to arrive');
  const { data: [first] } = await calls.listMessages({ id: topic });
  await calls.editMessage({ id: first.id, body: { text: 'When? #garlic #spring' } });
  await until(() => held() === 'garlic spring', 'the new tags to arrive');
  Line.cut();
  await calls.deleteMessage({ id: first.id });
  await until(() => held() === '', 'no tags after the deletion');
  const { data: listed } = await calls.listTopics({ id: forum, query: { tag: 'garlic' } });
  assert.deepEqual(listed, []);
  await calls.createTopic({ id: forum, body });
  const { data } = await grace.client.calls.listForumTags({ id: forum });
  assert.deepEqual(data, [{ tag: 'autumn', count: 1 }, { tag: 'garlic', count: 1 }]);
});

test('a press of a button reaches the bot, and its answer all readers', async () => {
  const { calls } = ada.client;
  const { id: forum, room_id: room } = await calls.createForum({ body: { title: 'Deployments', visibility: 'public' } });
  await grace.client.calls.setForumMember({ id: forum, user: 'me' });
  const made = await calls.createBot({ body: { name: 'deployer', scope: 'write', forums: [forum] } });
  const bot = (await open(made)).client.calls;
  const { cursor } = await bot.sync({ query: { topics: 'me' } });
  const parley = await open(grace);
  parley.subscribe(`conversation:${room}`);
  const buttons = [{ id: 'yes', label: 'Deploy', style: 'primary' }];
  const { id } = await bot.postMessage({ id: room, body: { text: 'Now?', buttons } });
  const window = parley.window(room, () => {});
  await window.latest();
  const shown = () => window.items.find((it) => it.message?.id === id)?.message.buttons?.[0];
  await until(() => shown()?.label === 'Deploy', 'the button to arrive');
  const press = () => grace.client.calls.pressButton({ id, body: { button_id: 'yes', client_id: 'one' } });
  assert.equal((await press()).id, (await press()).id);
  const { data } = await bot.sync({ query: { topics: 'me', after: cursor } });
  const presses = data.filter((it) => it.event === 'button.pressed');
  assert.deepEqual(presses.map((it) => [it.data.button_id, it.data.user_id]), [['yes', grace.user.id]]);
  await bot.editMessage({ id, body: { buttons: [{ ...buttons[0], label: 'Deployed', pressed: true }] } });
  await until(() => shown()?.pressed, 'the outcome to arrive');
  await bot.editMessage({ id, body: { buttons: [] } });
  await until(() => shown() === undefined, 'no button');
  window.close();
});
