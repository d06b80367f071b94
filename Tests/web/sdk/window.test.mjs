// The window of messages at its usual size, over a cache in memory.

import assert from 'node:assert/strict';
import test from 'node:test';

import { MessageWindow } from '../../../Public/js/parley/window.js';

const COUNT = 4000;

/** A window over a complete cache. */
const open = (options = {}) => {
  const pages = {
    history: async () => ({ from: 1, held: [[1, COUNT]] }),
    held: async (_, from, to) =>
      Array.from({ length: to - from + 1 }, (_, index) => ({ id: `${from + index}`, seq: from + index, author_id: '1' })),
    onFault: (error) => {
      throw error;
    },
  };
  const mirror = {
    conversations: new Map([['7', { last_seq: COUNT }]]),
    outbox: [],
    me: { id: '1' },
    context: { isMuted: () => false },
  };
  return new MessageWindow({
    pages, mirror, conversation: '7', isLive: () => true, listen: () => () => {}, onChange: () => {}, ...options,
  });
};

const seqs = (window) => window.items.map(({ message }) => message.seq);

for (const every of [1, 2, 3, 7]) {
  test(`a window that shows one of ${every} messages keeps some of them at each step`, async () => {
    const window = open({ isIncluded: ({ seq }) => seq % every === 0 });
    await window.latest();
    for (let steps = 0; !window.isAtOldest; steps += 1) {
      assert.ok(steps < 100);
      const before = seqs(window);
      await window.older();
      const now = seqs(window);
      assert.ok(now.length <= window.size, `${now.length}`);
      assert.ok(now.includes(before[0]), `${before[0]} is not in ${now[0]} to ${now.at(-1)}`);
      const added = now.filter((seq) => seq < before[0]).length;
      assert.ok(window.isAtOldest || (added >= window.page && added < 2 * window.page), `${added}`);
      for (let index = 1; index < now.length; index += 1) assert.equal(now[index] - now[index - 1], every);
    }
    assert.equal(seqs(window)[0], every);
  });
}
