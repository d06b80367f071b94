// The timeline of the app: cached posts first, new ones of others that wait, own ones at once, and gaps.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Timeline } from '../../../Public/js/app/state/feed/timeline.js';
import { ADA, FEEDS, GRACE, post, settled, site, stored } from './feedsite.mjs';

const texts = ({ posts }) => posts.map(({ text }) => text);

test('the newest page is shown, and older ones follow', async () => {
  const server = ['one', 'two', 'three'].map((it) => post(it)).reverse();
  const timeline = new Timeline(site(server, { page: 2 }), 'everyone');
  await timeline.open(() => true);
  assert.deepEqual(texts(timeline), ['three', 'two']);
  await timeline.more();
  assert.deepEqual(texts(timeline), ['three', 'two', 'one']);
  assert.equal(timeline.next, null);
  assert.equal(timeline.site.path, '/timeline/global');
});

test('new posts of others wait, and replies are none', async () => {
  const server = [post('old')];
  const home = site(server);
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => true);
  assert.deepEqual(home.topics, ['timeline']);
  await home.hear('message.created', post('new'));
  await home.hear('message.created', post('newer'));
  await home.hear('message.created', post('reply', GRACE, { reply_to: server[0].id }));
  await home.hear('message.created', post('of a reader', ADA, { conversation_id: FEEDS[GRACE], reply_to: server[0].id }));
  await home.hear('message.created', post('of a stranger', '3', { conversation_id: '13' }));
  assert.deepEqual(texts(timeline), ['old']);
  assert.equal(timeline.waiting, 2);
  timeline.showWaiting();
  assert.deepEqual(texts(timeline), ['newer', 'new', 'old']);
  assert.equal(timeline.waiting, 0);
  timeline.close();
  assert.deepEqual(home.topics, []);
});

test('a post that is deleted while it waits is not counted', async () => {
  const home = site([post('old')]);
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => true);
  const gone = post('gone');
  await home.hear('message.created', gone);
  home.change([{ ...gone, deleted: true }]);
  assert.equal(timeline.waiting, 0);
  home.change([{ ...home.parley.mirror, ...timeline.rows.get(timeline.posts[0].id), text: 'edited' }]);
  assert.deepEqual(texts(timeline), ['edited']);
});

test('an own post stands on top while it is sent and afterwards, once', async () => {
  const home = site([post('old')]);
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => true);
  home.outbox.push({ id: 'c1', kind: 'send', conversation_id: FEEDS[ADA], body: { text: 'mine' }, files: [], state: 'pending', created_at: '' });
  home.outbox.push({ id: 'c2', kind: 'send', conversation_id: FEEDS[ADA], body: { text: 'a reply', reply_to: '5' }, files: [], state: 'pending', created_at: '' });
  assert.deepEqual(timeline.posts.map(({ text, state }) => [text, state]), [['mine', 'waiting'], ['old', undefined]]);
  home.outbox.length = 0;
  const sent = post('mine', ADA, { client_id: 'c1' });
  home.change([sent]);
  await home.hear('message.created', sent);
  assert.deepEqual(texts(timeline), ['mine', 'old']);
  assert.equal(timeline.waiting, 0);
});

test('after a break the missed posts wait, and a gap is closed when they are shown', async () => {
  const server = [post('old')];
  const home = site(server, { page: 2 });
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => true);
  server.unshift(post('missed'));
  await home.reconnect();
  assert.equal(timeline.waiting, 1);
  server.unshift(post('a'), post('b'));
  server.unshift(post('c'), post('d'));
  server.sort((one, other) => other.seq - one.seq);
  await home.reconnect();
  await home.hear('message.created', post('live'));
  assert.deepEqual(texts(timeline), ['old']);
  // The gap has only its newest page; the messages before and after it are known.
  assert.equal(timeline.waiting, 4);
  timeline.showWaiting();
  assert.deepEqual(texts(timeline), ['live', 'd', 'c']);
  await timeline.more();
  await timeline.more();
  assert.deepEqual(texts(timeline), ['live', 'd', 'c', 'b', 'a', 'missed', 'old']);
});

test('the posts of users that are no longer followed leave at once', async () => {
  const server = [post('theirs'), post('mine', ADA)].reverse();
  const home = site(server);
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => true);
  assert.deepEqual(texts(timeline), ['mine', 'theirs']);
  home.relations.set(GRACE, { follow: false });
  server.pop();
  await home.hear('relation.changed', { user_id: GRACE });
  assert.deepEqual(texts(timeline), ['mine']);
  home.relations.set(GRACE, { follow: true, block: true });
  assert.deepEqual(texts(new Timeline(home, 'everyone')), []);
});

test('the list is there without a network, as it was left', async () => {
  const server = [post('one'), post('two')].reverse();
  const home = site(server);
  const first = new Timeline(home, 'following');
  await first.open(() => true);
  first.close();
  home.fault = Object.assign(new Error(), { isTemporary: true });
  const second = new Timeline(home, 'following');
  await second.open(() => true);
  assert.deepEqual(texts(second), ['two', 'one']);
  stored.clear();
  const third = new Timeline(site([]), 'following');
  third.site.fault = home.fault;
  await assert.rejects(third.open(() => true));
});

test('a list that is read does not move when it is opened again', async () => {
  const server = [post('old')];
  const home = site(server);
  await new Timeline(home, 'following').open(() => true);
  server.unshift(post('new'));
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => false);
  await settled();
  assert.deepEqual([texts(timeline), timeline.waiting], [['old'], 1]);
});

const shown = ({ posts }) => posts.map(({ text, reposted_by: by = null }) => [text, by]);

test('a post is shown once, as its newest repost', async () => {
  const socks = post('socks');
  const [mine, theirs] = [ADA, GRACE].map((author) => post('', author, { repost_of: socks.id }));
  const home = site([theirs, mine, socks]);
  home.originals.push(socks);
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => true);
  assert.deepEqual(shown(timeline), [['socks', GRACE]]);
  // The same post, with its reactions, edits and end.
  home.change([{ ...socks, text: 'warm socks' }]);
  assert.deepEqual(shown(timeline), [['warm socks', GRACE]]);
  home.change([{ ...theirs, deleted: true }]);
  assert.deepEqual(shown(timeline), [['warm socks', ADA]]);
  home.outbox.push({ id: 'c1', kind: 'remove_action', message_id: socks.id, conversation_id: FEEDS[GRACE], body: { type: 'repost' }, state: 'pending' });
  assert.deepEqual(shown(timeline), [['warm socks', null]]);
  home.change([{ ...socks, deleted: true }]);
  assert.deepEqual(shown(timeline), []);
});

test('a new repost waits with its post, and one of an unreadable post is not counted', async () => {
  const old = post('old');
  const home = site([old]);
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => true);
  const far = post('far away', '3', { conversation_id: '13' });
  home.originals.push(far, old);
  await home.hear('message.created', post('', GRACE, { repost_of: far.id }));
  await home.hear('message.created', post('', GRACE, { repost_of: '9' }));
  assert.deepEqual(home.asked, [far.id, '9']);
  assert.equal(timeline.waiting, 1);
  timeline.showWaiting();
  assert.deepEqual(shown(timeline), [['far away', GRACE], ['old', null]]);
  home.relations.set('3', { mute: true });
  assert.deepEqual(shown(timeline), [['old', null]]);
});

test('a post stays in its place while its repost waits', async () => {
  const [old, next] = [post('old'), post('next')];
  const server = [next, old];
  const home = site(server);
  const timeline = new Timeline(home, 'following');
  await timeline.open(() => true);
  home.originals.push(old);
  server.pop();
  server.unshift(post('', GRACE, { repost_of: old.id }));
  await home.reconnect();
  assert.deepEqual([shown(timeline), timeline.waiting], [[['next', null], ['old', null]], 1]);
  timeline.showWaiting();
  assert.deepEqual(shown(timeline), [['old', GRACE], ['next', null]]);
  // Also without a network.
  home.fault = Object.assign(new Error(), { isTemporary: true });
  const again = new Timeline(home, 'following');
  await again.open(() => true);
  assert.deepEqual(shown(again), [['old', GRACE], ['next', null]]);
});
