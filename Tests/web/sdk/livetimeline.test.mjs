// The timeline of the library, against the daemon.

import assert from 'node:assert/strict';
import test, { after, afterEach, before } from 'node:test';

import { replyTo } from '../../../Public/js/parley/compose.js';
import { Parley, memoryStore, sendAndWait } from '../../../Public/js/parley/parley.js';
import { Timeline } from '../../../Public/js/parley/timeline.js';
import { Daemon, WebSocket } from './daemon.mjs';
import { until } from './until.mjs';

let daemon;
let ada;
let grace;
let linus;
const feeds = {};

before(async () => {
  daemon = await new Daemon().start();
  ada = await daemon.setUp();
  grace = await daemon.createUser(ada, 'grace');
  linus = await daemon.createUser(ada, 'linus');
  for (const [name, user] of Object.entries({ ada, linus })) {
    feeds[name] = (await user.client.calls.createConversation({ body: { kind: 'feed' } })).id;
  }
});
after(() => daemon.remove());

const all = [];
afterEach(() => all.splice(0).forEach((it) => it.close()));

async function opened(user, store = memoryStore(), url = daemon.url) {
  const parley = await Parley.open({ url, token: user.token, store, live: { WebSocket }, BroadcastChannel: null });
  all.push(parley);
  return parley;
}

async function shown(parley) {
  const timeline = new Timeline(parley, () => {});
  all.unshift(timeline);
  await timeline.open();
  return timeline;
}

const post = (user, feed, text) => user.client.calls.postMessage({ id: feed, body: { text } });
const texts = (timeline) => timeline.posts.map(({ text }) => text);
const shows = (timeline, expected) => until(() => String(texts(timeline)) === String(expected), `the posts ${expected}, not ${texts(timeline)}`);

test('AN-05, AN-32: posts of followed users arrive live, are answered, and stay without a network', async () => {
  await grace.client.calls.followUser({ id: ada.user.id });
  await post(ada, feeds.ada, 'one');
  const original = await post(linus, feeds.linus, 'three');
  const store = memoryStore();
  const parley = await opened(grace, store);
  await parley.ready;
  await until(() => parley.state.connection === 'live', 'the connection to be live');
  const timeline = await shown(parley);
  await shows(timeline, ['one']);
  await post(ada, feeds.ada, 'two');
  await shows(timeline, ['two', 'one']);
  await ada.client.calls.setAction({ id: original.id, type: 'repost' });
  await shows(timeline, ['three', 'two', 'one']);
  const [newest] = timeline.posts;
  assert.equal(newest.reposted_by, ada.user.id);
  assert.equal(newest.id, original.id);

  await parley.setAction(newest, 'like');
  await until(() => timeline.posts[0].actions.like?.mine, 'the like');
  await until(() => parley.operations().length === 0, 'the outbox to be empty');
  assert.ok(timeline.posts[0].actions.like?.mine, 'a sent like stays');
  const { data: [entry] } = await grace.client.calls.getTimeline({ query: { limit: 1 } });
  assert.equal(entry.repost_of, original.id);
  const draft = replyTo(entry, { name: 'linus' }, { name: 'ada' });
  assert.deepEqual(draft, { text: '@linus @ada ', reply_to: original.id });
  await sendAndWait(parley, newest.conversation_id, { ...draft, text: `${draft.text}Thanks!` });
  const { data: replies } = await linus.client.calls.listReplies({ id: original.id });
  assert.deepEqual(replies.map(({ text }) => text), ['@linus @ada Thanks!']);
  // A repost that a window shows: its actions are those of the post.
  await parley.setAction(entry, 'star');
  await until(() => parley.operations().length === 0, 'the outbox to be empty');
  assert.ok((await grace.client.calls.getMessage({ id: original.id })).actions.star?.mine);
  await parley.removeAction(entry, 'star');
  await until(() => parley.operations().length === 0, 'the outbox to be empty');
  assert.ok(!(await grace.client.calls.getMessage({ id: original.id })).actions.star?.mine);

  await grace.client.calls.unfollowUser({ id: ada.user.id });
  await shows(timeline, []);
  await grace.client.calls.followUser({ id: ada.user.id });
  await shows(timeline, ['three', 'two', 'one']);
  all.splice(0).forEach((it) => it.close());

  // The next start has no network.
  const offline = await opened(grace, store, 'http://127.0.0.1:1');
  const kept = await shown(offline);
  assert.deepEqual(texts(kept), ['three', 'two', 'one']);
  assert.equal(kept.posts[0].reposted_by, ada.user.id);
});

test('an own post is shown while it waits and afterwards, once, and older pages follow', async () => {
  const own = (await grace.client.calls.createConversation({ body: { kind: 'feed' } })).id;
  for (let number = 1; number <= 60; number++) await post(grace, own, String(number));
  const parley = await opened(grace);
  await parley.ready;
  await until(() => parley.state.connection === 'live' && parley.conversation(own), 'the feed');
  const timeline = await shown(parley);
  await until(() => timeline.hasMore, 'a second page');
  await parley.send(own, { text: 'waiting' });
  await until(() => texts(timeline)[0] === 'waiting', 'the unsent post');
  await until(() => timeline.posts[0].id !== null, 'the sent post');
  assert.equal(texts(timeline).filter((it) => it === 'waiting').length, 1);
  while (timeline.hasMore) await timeline.more();
  const mine = timeline.posts.filter(({ author_id: id }) => id === grace.user.id).map(({ text }) => text);
  assert.deepEqual(mine, ['waiting', ...Array.from({ length: 60 }, (_, index) => String(60 - index))]);
});

test('mentions, all feeds and a filter are timelines, too', async () => {
  const mira = await daemon.createUser(ada, 'mira');
  await mira.client.calls.setTimelineFilter({ name: 'no-wool', body: { exclude: { words: ['wool'] } } });
  const store = memoryStore();
  const parley = await opened(mira, store);
  await parley.ready;
  await until(() => parley.state.connection === 'live', 'the connection to be live');
  const open = async (options) => {
    const timeline = new Timeline(parley, () => {}, options);
    all.unshift(timeline);
    await timeline.open();
    return timeline;
  };
  const [mentions, filtered] = [await open({ scope: 'followedAndMentions' }), await open({ scope: 'followedAndMentions', filter: 'no-wool' })];
  await post(linus, feeds.linus, 'silk for @mira');
  await post(linus, feeds.linus, 'wool for @mira');
  await shows(mentions, ['wool for @mira', 'silk for @mira']);
  await shows(filtered, ['silk for @mira']);
  // The event of the filters.
  await mira.client.calls.setTimelineFilter({ name: 'no-wool', body: { exclude: { words: ['silk'] } } });
  await shows(filtered, ['wool for @mira']);
  const everyone = await open({ scope: 'everyone' });
  assert.deepEqual(texts(everyone).slice(0, 2), ['wool for @mira', 'silk for @mira']);
  assert.deepEqual(texts(await shown(parley)), []);
});

test('the read position is that of all devices, counts unread posts and stays without a network', async () => {
  const nina = await daemon.createUser(ada, 'nina');
  await nina.client.calls.followUser({ id: ada.user.id });
  const first = await post(ada, feeds.ada, 'first');
  const second = await post(ada, feeds.ada, 'second');
  const store = memoryStore();
  const parley = await opened(nina, store);
  await parley.ready;
  await until(() => parley.state.connection === 'live', 'the connection to be live');
  const timeline = await shown(parley);
  await until(() => timeline.position && timeline.unread > 0, 'the position');
  assert.equal(timeline.position.message_id, null);
  await timeline.markRead({ id: first.id });
  await until(() => timeline.position.message_id === first.id && timeline.unread === 1, 'the position');
  // Another device.
  await nina.client.calls.markTimelineRead({ body: { message_id: second.id } });
  await until(() => timeline.position.message_id === second.id && timeline.unread === 0, 'the position of the other device');
  await post(ada, feeds.ada, 'third');
  // The position counts a post that an answer in between does not show yet.
  await until(() => texts(timeline)[0] === 'third' && timeline.unread === 1, 'an unread post');
  await timeline.markRead();
  await until(() => timeline.unread === 0, 'the last position');
  const { message_id: position } = timeline.position;
  all.splice(0).forEach((it) => it.close());

  const kept = await shown(await opened(nina, store, 'http://127.0.0.1:1'));
  assert.deepEqual([kept.position.message_id, kept.unread], [position, 0]);
});
