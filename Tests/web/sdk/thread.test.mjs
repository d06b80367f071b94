// The threads of the app: replies in order, live and unsent ones, the numbers of replies, and what is read.

import assert from 'node:assert/strict';
import test from 'node:test';
import { ReplyCounts } from '../../../Public/js/app/state/feed/replycounts.js';
import { Thread } from '../../../Public/js/app/state/feed/thread.js';
import { ADA, FEEDS, GRACE, post, settled, site } from './feedsite.mjs';
import { until } from './until.mjs';

const FEED = FEEDS[GRACE];
const reply = (to, text, author = ADA, more = {}) => post(text, author, { conversation_id: FEED, reply_to: to.id, ...more });
const texts = ({ replies }) => replies.map(({ text }) => text);

async function opened(home, ...chain) {
  const thread = new Thread(home, home.parley.conversation(FEED), chain);
  await thread.open();
  return thread;
}

test('replies stand in order, page by page, without deleted ones and those of ignored users', async () => {
  const root = post('root');
  const home = site([], { page: 2 });
  home.replies = [reply(root, 'a'), reply(root, 'b', '3'), reply(root, 'c', GRACE), reply(root, 'd', '4'), reply(root, 'gone', ADA, { deleted: true })];
  home.relations.set('4', { mute: true });
  const thread = await opened(home, root);
  assert.equal(thread.post.text, 'root');
  assert.deepEqual([texts(thread), thread.next], [['a', 'b'], '2']);
  while (thread.next) await thread.load(thread.next);
  assert.deepEqual(texts(thread), ['a', 'b', 'c']);
});

test('live replies and replies to these follow, and own unsent ones stand at the end', async () => {
  const root = post('root');
  const home = site([]);
  const thread = await opened(home, root);
  assert.deepEqual(home.topics, [`conversation:${FEED}`]);
  const first = reply(root, 'first');
  home.change([first, reply(first, 'below'), post('another post'), reply({ id: '999' }, 'elsewhere')]);
  home.outbox.push({ id: 'c1', kind: 'send', conversation_id: FEED, body: { text: 'unsent', reply_to: root.id }, files: [], state: 'pending', created_at: '' });
  home.outbox.push({ id: 'c2', kind: 'send', conversation_id: FEED, body: { text: 'other thread', reply_to: '999' }, files: [], state: 'pending', created_at: '' });
  assert.deepEqual(texts(thread), ['first', 'below', 'unsent']);
  home.change([{ ...first, text: 'edited' }]);
  home.outbox.splice(0, 1);
  assert.deepEqual(texts(thread), ['edited', 'below']);
});

test('without a network the cached replies are shown', async () => {
  const root = post('root');
  const home = site([]);
  home.change([reply(root, 'cached')]);
  home.fault = Object.assign(new Error(), { isTemporary: true });
  assert.deepEqual(texts(await opened(home, root)), ['cached']);
  home.fault = new Error('gone');
  await assert.rejects(opened(home, root));
});

test('a thread is read up to the first unread reply of another one', async () => {
  const [root, other] = [post('root'), post('other')];
  const home = site([]);
  Object.assign(home.parley.conversation(FEED), { read_up_to: other.seq });
  home.me.id = GRACE;
  home.replies = [reply(root, 'one'), reply(root, 'two')];
  const two = home.replies[1];
  const thread = await opened(home, root);
  assert.equal((await thread.readUpTo()).id, two.id);
  const between = reply(other, 'unread');
  const last = reply(root, 'three');
  home.change([between, last]);
  assert.equal((await thread.readUpTo()).id, two.id);
  home.parley.conversation(FEED).read_up_to = last.seq;
  assert.equal(await thread.readUpTo(), null);
});

test('replies are counted once asked for, many posts in a request, live, and without deleted ones', async () => {
  const [root, other, third] = [post('root'), post('other'), post('third')];
  const home = site([]);
  home.replies = [reply(root, 'one'), reply(root, 'two', ADA, { deleted: true })];
  const counts = new ReplyCounts(home);
  const answered = (n) => until(() => home.asked.length === n, `${n} requests`).then(settled);
  assert.equal(counts.of(root.id), null);
  for (const it of [root, other, root]) counts.ask(it.id);
  await answered(1);
  assert.deepEqual([counts.of(root.id), counts.of(other.id).n, home.asked], [{ n: 1, hasMore: false }, 0, [`${root.id},${other.id}`]]);
  const live = reply(root, 'three');
  home.replies.push(live);
  home.change([live, reply(third, 'not asked for')]);
  await answered(2);
  assert.equal(counts.of(root.id).n, 2);
  live.deleted = true;
  home.change([live]);
  await answered(3);
  assert.equal(counts.of(root.id).n, 1);
  home.fault = new Error();
  counts.ask(third.id);
  await answered(4);
  assert.equal(counts.of(third.id), null);
  home.fault = null;
  counts.ask(third.id);
  await answered(5);
  assert.equal(counts.of(third.id).n, 0);
  home.replies = Array.from({ length: 100 }, () => reply(third, 'busy'));
  home.change([home.replies[0]]);
  await answered(6);
  assert.deepEqual(counts.of(third.id), { n: 100, hasMore: true });
});
