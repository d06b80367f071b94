// The read position of the library's timeline, with answers that arrive late.

import assert from 'node:assert/strict';
import test from 'node:test';

import { Timeline } from '../../../Public/js/parley/timeline.js';

const POSTS = ['2', '1'].map((id) => ({ id, author_id: '7', conversation_id: '11', text: id }));
const READ = { message_id: '2', unread_count: 0 };
const UNREAD = { message_id: '1', unread_count: 1 };

/** A user's copy whose server answers requests for the position when the test says so. */
function parley(answers) {
  return {
    mirror: { start: '' },
    operations: () => [],
    keepUsers() {},
    subscribe: () => () => {},
    on: () => () => {},
    client: {
      calls: {
        getTimeline: async () => ({ data: POSTS, next: null }),
        getTimelinePosition: () => new Promise((resolve) => answers.push(resolve)),
        markTimelineRead: async () => READ,
      },
    },
  };
}

const turn = () => new Promise((resolve) => setTimeout(resolve));

/** A timeline whose first post is read, while both requests for the position wait. */
async function read() {
  const answers = [];
  const timeline = new Timeline(parley(answers), () => {}, { scope: 'followedAndMentions' });
  const opening = timeline.open();
  await turn();
  const reading = timeline.markRead();
  await turn();
  return { answers, timeline, opening, reading };
}

test('an answer from before the user has read the posts does not move the position back', async () => {
  const { answers, timeline, opening, reading } = await read();
  assert.deepEqual([timeline.position, timeline.unread], [READ, 0]);
  answers[0](UNREAD);
  await opening;
  assert.deepEqual([timeline.position, timeline.unread], [READ, 0]);
  answers[1](READ);
  await reading;
  assert.deepEqual([timeline.position, timeline.unread], [READ, 0]);
});

test('of two answers the one to the later request counts', async () => {
  const { answers, timeline, opening, reading } = await read();
  answers[1](READ);
  await reading;
  answers[0](UNREAD);
  await opening;
  assert.deepEqual(timeline.position, READ);
});
