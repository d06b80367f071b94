// Verifies that the cached copy of a conversation equals the server's, message by message, and repairs it. Copies with the
// same digest are equal (`GET /conversations/{id}/digest` defines its input).

import { newHistory, rangeAt, rangesOf, withoutRange } from './history.js';
import { readCursor } from './ids.js';
import { maxPage } from './pages.js';
import { Problem } from './problem.js';
import { Rows, isAnother, keepLost } from './reducer.js';
import { sha256 } from './sha256.js';
import { wait } from './time.js';

/**
 * One message's line.
 * @param {import('./api.js').Message} message
 */
export function digestLine({ seq, id, previous_message, revision, deleted, text, reply_to, attachments }) {
  const content = deleted ? '-' : sha256(`${text ?? ''}\0${reply_to ?? ''}\0${(attachments ?? []).join(',')}`);
  return `${seq} ${id} ${previous_message ?? 0} ${revision} ${deleted ? 1 : 0} ${content}\n`;
}

/** @param {import('./api.js').Message[]} messages In order. */
export const digestOf = (messages) => sha256(messages.map(digestLine).join(''));

/** The time for events to arrive before a difference counts as a fault, in milliseconds. */
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

/** Ranges of at most so many messages are fetched again instead of compared in smaller parts. */
const smallest = 50;
const parts = 16;

/**
 * Why the cache of a conversation is not proven to be complete: `empty` (there are no messages), `not_cached`, `incomplete`
 * (messages are missing), `not_verified` (the digests were not compared yet), `unknown_conversation` (it does not exist, or the
 * user may not read it).
 * @typedef {'empty' | 'not_cached' | 'incomplete' | 'not_verified' | 'unknown_conversation'} Reason
 */
/**
 * @typedef {{ isComplete: boolean, through: number, reason: Reason | null }} Proof
 *   `isComplete`: all messages from the beginning of the user's history through the `seq` `through` are cached, as the
 *   server has them. Later ones arrived as events. Otherwise `reason` says why not, and `through` is 0. A conversation
 *   without messages is complete, with the reason `empty`.
 */
/**
 * @typedef {{ checkedUpTo: number, isComplete: boolean, repaired: number, reason: Reason | null }} Verdict
 *   `isComplete`: all from the beginning of the user's history was compared. `repaired`: messages that were not as the
 *   server has them.
 */

/** @param {Reason} reason @returns {Proof} */
const incomplete = (reason) => ({ isComplete: false, through: 0, reason });

/** @type {Proof} */
const empty = { isComplete: true, through: 0, reason: 'empty' };

/**
 * Returns what the last comparison has proven, without a request. A conversation without events is compared now.
 * @param {import('./pages.js').Pages} pages @param {string} conversation @param {boolean} hasEvents
 * @returns {Promise<Proof>}
 */
export async function proof(pages, conversation, hasEvents) {
  if (!hasEvents) {
    try {
      const verdict = await verify(pages, conversation, { isFollowing: false });
      if (verdict.reason === 'empty') return empty;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      return incomplete([403, 404, 410].includes(error.status) ? 'unknown_conversation' : 'not_verified');
    }
  }
  const { held, from, checked } = await pages.history(conversation);
  if (held.length === 0) {
    const row = await pages.store.get('conversations', conversation);
    return row?.last_seq === 0 ? empty : incomplete('not_cached');
  }
  const isWhole = (/** @type {number} */ to) => (rangeAt(held, to)?.[0] ?? Infinity) <= Math.max(1, from);
  if (checked > 0 && isWhole(checked)) return { isComplete: true, through: checked, reason: null };
  return incomplete(held.length === 1 && isWhole(held[0][1]) ? 'not_verified' : 'incomplete');
}

/**
 * Compares the cached ranges of a conversation with the server and repairs differences.
 * @param {import('./pages.js').Pages} pages @param {string} conversation
 * @param {{ signal?: AbortSignal, isFollowing?: boolean }} options
 *   `isFollowing`: events are applied meanwhile, so a difference may be one that is on its way.
 * @returns {Promise<Verdict>}
 */
export async function verify(pages, conversation, { signal, isFollowing = true } = {}) {
  const before = await pages.history(conversation);
  if (before.held.length === 0) {
    const { last_seq: last } = await pages.client.calls.getConversation({ id: conversation, signal });
    return { checkedUpTo: 0, isComplete: last === 0, repaired: 0, reason: last === 0 ? 'empty' : 'not_cached' };
  }
  let repaired = 0;
  for (const [from, to] of [...before.held].reverse()) {
    const isNewest = to === before.held[before.held.length - 1][1];
    try {
      repaired += await compare(pages, conversation, from, to, { signal, isFollowing });
    } catch (error) {
      if (!(error instanceof Problem) || error.isTemporary || error.isSignedOut) throw error;
      // The server does not know the neighbours of a part, or has no messages there: the range is of another history.
      if (isNewest && error.status !== 400) throw error;
      repaired += await replace(pages, conversation, from, to, { isNewest, signal });
    }
  }
  const history = await pages.history(conversation);
  const newest = history.held[history.held.length - 1];
  const end = newest?.[1] ?? 0;
  // With a hole, the ranges are equal and the whole is not complete.
  const isComplete = end > 0 && history.held.length === 1 && newest[0] <= Math.max(1, history.from);
  const changes = await pages.store.update([['history', conversation]], ([row]) => {
    const now = row ?? newHistory(conversation);
    // Later messages arrived as events, each linked to its predecessor.
    const reaches = rangeAt(now.held, end) !== null;
    const checked = reaches && isComplete ? end : now.checked;
    return [{ table: 'history', key: conversation, row: { ...now, checked } }];
  });
  pages.publish(changes);
  const reason = isComplete ? null : end > 0 ? 'incomplete' : 'not_cached';
  return { checkedUpTo: end, isComplete, repaired, reason };
}

/**
 * Replaces a range of another history. The newest one is fetched again; earlier ones are, when they are shown.
 * @param {import('./pages.js').Pages} pages @param {string} conversation @param {number} from @param {number} to
 * @param {{ isNewest: boolean, signal?: AbortSignal }} options @returns {Promise<number>} How many messages differed.
 */
async function replace(pages, conversation, from, to, { isNewest, signal }) {
  const before = await pages.held(conversation, from, to);
  await drop(pages, conversation, from, to, signal);
  if (!isNewest) return before.length;
  const { last_seq: last } = await pages.client.calls.getConversation({ id: conversation, signal });
  await pages.complete(conversation, from, Math.min(to, last), { signal });
  const after = new Set((await pages.held(conversation, from, to)).map(digestLine));
  return before.filter((message) => !after.has(digestLine(message))).length;
}

/**
 * Removes the messages of a range, after a comparison has found that they are of another history. The user's own ones
 * that the server does not have are set aside, to be sent again. Those that it has stay until they are fetched again: it
 * may lose them before.
 * @param {import('./pages.js').Pages} pages @param {string} conversation @param {number} from @param {number} to @param {AbortSignal} [signal]
 */
export async function drop(pages, conversation, from, to, signal) {
  const { me } = pages.now();
  const all = await pages.held(conversation, from, to);
  const isOwn = (/** @type {any} */ one) => one.author_id === me && !one.deleted;
  const own = all.filter(isOwn);
  /** @type {Map<string, any>} */
  const found = new Map();
  for (let first = 0; first < own.length; first += maxPage) {
    const ids = own.slice(first, first + maxPage).map(({ id }) => id).join(',');
    for (const one of (await pages.client.calls.getMessages({ query: { ids }, signal })).data) found.set(one.id, one);
  }
  const isOnServer = (/** @type {any} */ one) => found.has(one.id) && !isAnother(found.get(one.id), one);
  /** @type {import('./store.js').Source[]} */
  const sources = [['history', conversation], ['site', 'lost']];
  for (const { seq } of all) sources.push(['messages', [conversation, seq]]);
  const changes = await pages.store.update(sources, (rowsFound) => {
    const rows = new Rows(sources, rowsFound);
    const history = rows.get('history', conversation);
    if (!history) return [];
    // A message that another answer has stored meanwhile stays, and is cached.
    const now = (/** @type {any} */ one) => rows.get('messages', [conversation, one.seq]);
    const compared = all.filter((one) => now(one) === undefined || !isAnother(now(one), one));
    const gone = compared.filter((one) => now(one) !== undefined && !(isOwn(one) && isOnServer(one)));
    keepLost(rows, gone.filter(isOwn), me);
    for (const { seq } of gone) rows.remove('messages', [conversation, seq]);
    let { held } = history;
    for (const [first, last] of rangesOf(compared).ranges) held = withoutRange(held, first, last);
    rows.put('history', { ...history, held, checked: Math.min(history.checked, from - 1) });
    return rows.changes;
  });
  pages.publish(changes);
}

/**
 * @param {import('./pages.js').Pages} pages @param {string} conversation @param {number} from @param {number} to
 * @param {{ signal?: AbortSignal, isFollowing: boolean }} options
 * @returns {Promise<number>} How many messages were not as the server has them.
 */
async function compare(pages, conversation, from, to, options) {
  const { signal, isFollowing } = options;
  const query = { from_seq: from, to_seq: to, parts };
  const said = await pages.client.calls.getDigest({ id: conversation, query, signal });
  let repaired = 0;
  for (const part of said.parts) {
    const messages = await pages.held(conversation, part.from_seq, part.to_seq);
    if (digestOf(messages) === part.digest) continue;
    if (isFollowing && (await hasCaughtUp(pages, said.cursor, signal))) {
      const now = await pages.held(conversation, part.from_seq, part.to_seq);
      if (digestOf(now) === part.digest) continue;
    }
    const count = part.to_seq - part.from_seq + 1;
    if (count > smallest) {
      repaired += await compare(pages, conversation, part.from_seq, part.to_seq, options);
    } else {
      const before = new Map(messages.map((message) => [message.seq, digestLine(message)]));
      await pages.complete(conversation, part.from_seq, part.to_seq, { isForced: true, signal });
      const after = await pages.held(conversation, part.from_seq, part.to_seq);
      repaired += after.filter((message) => before.get(message.seq) !== digestLine(message)).length;
    }
  }
  return repaired;
}
