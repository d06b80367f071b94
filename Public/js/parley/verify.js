// Verifies that the cached copy of a conversation equals the server's, message by message, and repairs it. Copies with the
// same digest are equal (`GET /conversations/{id}/digest` defines its input).

import { newHistory, stretchAt } from './history.js';
import { readCursor } from './ids.js';
import { Problem } from './problem.js';
import { sha256 } from './sha256.js';
import { wait } from './time.js';

/**
 * One message's line.
 * @param {any} message
 */
export function digestLine({ seq, id, previous_message, revision, deleted, text, reply_to, attachments }) {
  const content = deleted ? '-' : sha256(`${text ?? ''}\0${reply_to ?? ''}\0${(attachments ?? []).join(',')}`);
  return `${seq} ${id} ${previous_message ?? 0} ${revision} ${deleted ? 1 : 0} ${content}\n`;
}

/** @param {any[]} messages In order. */
export const digestOf = (messages) => sha256(messages.map(digestLine).join(''));

/** How long events that are under way may take to arrive before a difference counts as a fault, in milliseconds. */
const patience = 2000;

/**
 * Whether the cache has caught up with a cursor of the server.
 * @param {import('./pages.js').Pages} pages @param {string} cursor @param {AbortSignal} [signal]
 */
async function hasCaughtUp(pages, cursor, signal) {
  const { id } = readCursor(cursor);
  if (pages.now().cursor >= id) return false;
  for (let waited = 0; waited < patience && !signal?.aborted; waited += 20) {
    await wait(20, signal);
    if (pages.now().cursor >= id) return true;
  }
  return false;
}

/** Stretches of at most so many messages are fetched anew instead of looked at more closely. */
const smallest = 50;
const parts = 16;

/**
 * @typedef {{ checkedUpTo: number, isComplete: boolean, mended: number }} Verdict
 *   `isComplete`: all from the beginning of the person's history was compared. `mended`: messages that were not as the
 *   server has them.
 */

/**
 * Compares the cached ranges of a conversation with the server and repairs differences.
 * @param {import('./pages.js').Pages} pages @param {string} conversation
 * @param {{ signal?: AbortSignal }} options
 * @returns {Promise<Verdict>}
 */
export async function verify(pages, conversation, { signal } = {}) {
  const history = await pages.history(conversation);
  const held = history.held[history.held.length - 1];
  if (!held) return { checkedUpTo: 0, isComplete: false, mended: 0 };
  let mended = 0;
  for (const [from, to] of [...history.held].reverse()) {
    try {
      mended += await compare(pages, conversation, from, to, signal);
    } catch (error) {
      // A range before the last one is fetched again when it is shown.
      if (from === held[0] || !(error instanceof Problem) || error.isTemporary || error.isSignedOut) throw error;
      await pages.forget(conversation, from, to);
    }
  }
  // With a hole, the earlier ranges are equal and the whole is not complete.
  const isComplete = history.held.length === 1 && held[0] <= Math.max(1, history.from);
  const changes = await pages.store.update([['history', conversation]], ([row]) => {
    const now = row ?? newHistory(conversation);
    // Later messages arrived as events, each linked to its predecessor.
    const reaches = stretchAt(now.held, held[1]) !== null;
    const checked = reaches && isComplete ? held[1] : now.checked;
    return [{ table: 'history', key: conversation, row: { ...now, checked } }];
  });
  pages.publish(changes);
  return { checkedUpTo: held[1], isComplete, mended };
}

/**
 * @param {import('./pages.js').Pages} pages @param {string} conversation @param {number} from @param {number} to
 * @param {AbortSignal} [signal] @returns {Promise<number>} How many messages were not as the server has them.
 */
async function compare(pages, conversation, from, to, signal) {
  const query = { from_seq: from, to_seq: to, parts };
  const said = await pages.client.calls.getDigest({ id: conversation, query, signal });
  let mended = 0;
  for (const part of said.parts) {
    const messages = await pages.held(conversation, part.from_seq, part.to_seq);
    if (digestOf(messages) === part.digest) continue;
    if (await hasCaughtUp(pages, said.cursor, signal)) {
      const now = await pages.held(conversation, part.from_seq, part.to_seq);
      if (digestOf(now) === part.digest) continue;
    }
    const count = part.to_seq - part.from_seq + 1;
    if (count > smallest) {
      mended += await compare(pages, conversation, part.from_seq, part.to_seq, signal);
    } else {
      const before = new Map(messages.map((message) => [message.seq, digestLine(message)]));
      await pages.complete(conversation, part.from_seq, part.to_seq, { isForced: true, signal });
      const after = await pages.held(conversation, part.from_seq, part.to_seq);
      mended += after.filter((message) => before.get(message.seq) !== digestLine(message)).length;
    }
  }
  return mended;
}
