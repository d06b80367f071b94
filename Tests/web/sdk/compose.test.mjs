// Messages made from other messages, against the daemon.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test, { after, afterEach, before } from 'node:test';

import {
  Parley, copyOf, forward, memoryStore, mention, messageOfPayload, privateChannel, replyTo, replyToAll, sendAndWait,
} from '../../../Public/js/parley/parley.js';
import { Daemon, WebSocket } from './daemon.mjs';
import { until } from './until.mjs';

const guide = new URL('../../../Documentation/pages/notifications.md', import.meta.url);
let daemon;
let ada;
let grace;
let room;

before(async () => {
  daemon = await new Daemon().start();
  ada = await daemon.setUp();
  grace = await daemon.createUser(ada, 'grace');
  const forum = await ada.client.calls.createForum({ body: { title: 'Garden', visibility: 'public' } });
  room = forum.room_id;
  await grace.client.calls.setForumMember({ id: forum.id, user: 'me', body: {} });
});
after(() => daemon.remove());

const all = [];
afterEach(() => all.splice(0).forEach((parley) => parley.close()));

async function opened({ token } = ada) {
  const parley = await Parley.open({ url: daemon.url, token, store: memoryStore(), live: { WebSocket }, BroadcastChannel: null });
  all.push(parley);
  await parley.ready;
  await until(() => parley.state.connection === 'live', 'the connection to be live');
  return parley;
}

const post = (user, body) => user.client.calls.postMessage({ id: room, body });

test('a reply mentions the author, and a reply to all also the mentioned users, once, without the current user', async () => {
  const message = await post(grace, { text: 'Pizza, @ada and @grace and @room?' });
  const [author, me] = [{ name: 'grace' }, { name: 'ada' }];
  assert.deepEqual(replyTo(message, author), { text: '@grace ', reply_to: message.id });
  assert.deepEqual(replyToAll(message, { author, me }), { text: '@grace ', reply_to: message.id });
  assert.deepEqual(replyToAll(message, { author: me, me: { name: 'linus' } }).text, '@ada @grace ');
  assert.deepEqual(replyToAll(message, { author: me, me: { name: 'linus' }, except: ['grace'] }).text, '@ada ');
  assert.deepEqual(mention(author), { text: '@grace ' });
  assert.deepEqual(forward(message, author), { text: '» @grace Pizza, @ada and @grace and @room?' });
  assert.deepEqual(replyTo(message, { name: null }), { text: '', reply_to: message.id }, 'a deleted user');
  const answer = await post(ada, replyTo(message, author));
  assert.equal(answer.reply_to, message.id);
});

test('a copy has the text, the annotations and files of the copying user', async () => {
  const parley = await opened();
  const annotations = [{ type: 'com.example.mood', value: { mood: 'hungry' } }];
  const [own] = await sendAndWait(parley, room, { text: 'menu', annotations }, [new File(['pizza'], 'menu.txt', { type: 'text/plain' })]);
  const again = await copyOf(parley, own);
  assert.deepEqual(again, { message: { text: 'menu', annotations, attachments: own.attachments }, files: [] });

  const other = await opened(grace);
  const copy = await copyOf(other, await grace.client.calls.getMessage({ id: own.id }));
  assert.equal(copy.files[0].name, 'menu.txt');
  const sent = (await sendAndWait(other, room, copy.message, copy.files)).at(-1);
  assert.deepEqual([sent.text, sent.annotations, sent.attachments.length], ['menu', annotations, 1]);
  assert.notDeepEqual(sent.attachments, own.attachments, 'a file of the user');
  const bytes = await fetch(`${daemon.url}/api/v1/files/${sent.attachments[0]}/content`, { headers: { Authorization: `Bearer ${grace.token}` } });
  assert.equal(await bytes.text(), 'pizza');
});

test('a file that may not be read is a problem', async () => {
  const parley = await opened();
  const message = { id: '1', author_id: '999', text: 'x', annotations: [], attachments: ['424242'] };
  await assert.rejects(copyOf(parley, message), { code: 'not_found' });
});

/** The example of the documentation, about another message. */
function documentedPush({ id, revision }) {
  const example = readFileSync(guide, 'utf8').match(/^\{"web_push".*$/m)[0];
  const push = JSON.parse(example);
  push.notification.data = { ...push.notification.data, message_id: id, revision };
  return push;
}

test('the message of a push message comes from the cache, and from the server if the cached one is outdated', async () => {
  const parley = await opened();
  const [message] = (await sendAndWait(parley, room, { text: 'ring' })).slice(-1);
  let requests = 0;
  parley.client.onActivity = () => requests++;
  assert.equal((await messageOfPayload(parley, documentedPush(message))).text, 'ring');
  assert.equal((await messageOfPayload(parley, JSON.stringify(documentedPush(message)))).text, 'ring');
  assert.equal((await messageOfPayload(parley, JSON.stringify({ event: 'message.created', data: message }))).text, 'ring');
  assert.equal(requests, 0);
  await ada.client.calls.editMessage({ id: message.id, body: { text: 'ring twice' } });
  const found = await messageOfPayload(parley, documentedPush({ ...message, revision: message.revision + 1 }));
  assert.equal(found.text, 'ring twice');
  const edited = { event: 'message.edited', data: { id: message.id, revision: message.revision + 1 } };
  assert.equal((await messageOfPayload(parley, edited)).text, 'ring twice');
  await assert.rejects(messageOfPayload(parley, { event: 'forum.updated', data: { id: '3' } }), TypeError);
  await assert.rejects(messageOfPayload(parley, { web_push: 8030, notification: { title: 'Parley' } }), TypeError);
  await assert.rejects(messageOfPayload(parley, { message_id: message.id }), TypeError);
  await assert.rejects(messageOfPayload(parley, documentedPush({ id: '424242', revision: 1 })), { code: 'not_found' });
});

test('the private channel of a type is the same on all devices, and never one that others are in', async () => {
  const type = 'com.example.settings';
  const shared = await ada.client.calls.createConversation({ body: { kind: 'channel', type, title: 'shared', participants: ['@grace'] } });
  const [first, second] = [await opened(), await opened()];
  const [one, two] = await Promise.all([first, second].map((parley) => privateChannel(parley, { type, title: 'settings' })));
  assert.equal(one, two);
  assert.notEqual(one, shared.id);
  await until(() => first.mirror.conversations.has(one), 'the channel in the cache');
  assert.equal(await privateChannel(first, { type }), one);
  await ada.client.calls.deleteConversation({ id: one });
  await until(() => !first.mirror.conversations.has(one), 'the deletion');
  assert.notEqual(await privateChannel(first, { type }), one);
});
