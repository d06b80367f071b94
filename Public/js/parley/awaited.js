// Operations that wait until the server has processed them. Each rejects with the problem of its attempt; the operation then
// stays in the outbox, and `parley.retry` or the next connection sends it.

import { rangeAt } from './history.js';
import { Problem } from './problem.js';

/** @typedef {import('./parley.js').Parley} Parley @typedef {import('./outbox.js').Operation} Operation */
/** @typedef {import('./api.js').Message} Message @typedef {import('./window.js').ShownMessage} ShownMessage */

/** The time for another tab to announce the answer of an operation that it has removed, in milliseconds. */
const announcement = 1_000;

/** The number of pages of earlier messages that are fetched after a message is sent. */
const maxPages = 50;

/**
 * Sends a message and waits until the server has it. A sent message is returned also if an earlier one cannot be fetched.
 * @param {Parley} parley @param {string} conversation @param {Parameters<Parley['send']>[1]} message
 * @param {Blob[]} [files] @param {Parameters<Parley['send']>[3]} [options]
 * @returns {Promise<Message[]>} The messages after the newest cached one up to the sent one, which is the last. Without the
 *   older ones if they are too many, or could not be fetched.
 */
export async function sendAndWait(parley, conversation, message, files = [], options = {}) {
  const before = (await parley.store.get('history', conversation))?.held ?? [];
  const sent = await processed(parley, () => parley.send(conversation, message, files, options));
  if (!sent) return [];
  const earlier = before.map((/** @type {[number, number]} */ [, end]) => end).filter((/** @type {number} */ end) => end < sent.seq);
  if (earlier.length === 0) return [sent];
  const from = Math.max(...earlier) + 1;
  return heldUpTo(parley, sent, from);
}

/**
 * @param {Parley} parley @param {Message} sent @param {number} from
 * @returns {Promise<Message[]>} Without a gap.
 */
async function heldUpTo({ pages }, sent, from) {
  const { conversation_id: conversation, seq } = sent;
  try {
    if (from < seq) await pages.complete(conversation, from, seq - 1, { maxPages }).catch(() => {});
    const [first] = rangeAt((await pages.history(conversation)).held, seq) ?? [seq];
    const held = await pages.held(conversation, Math.max(from, first), seq);
    return held[held.length - 1]?.id === sent.id ? held : [sent];
  } catch {
    return [sent];
  }
}

/**
 * Edits a message and waits until the server has the change. A failed message is sent again with the new text.
 * @param {Parley} parley @param {ShownMessage} message @param {Parameters<Parley['edit']>[1]} change
 * @returns {Promise<Message | null>}
 */
export const editAndWait = (parley, message, change) => processed(parley, () => parley.edit(message, change));

/**
 * Deletes a message and waits until the server has the deletion. Resolves to the tombstone, or null if it was never sent.
 * @param {Parley} parley @param {ShownMessage} message
 * @returns {Promise<Message | null>}
 */
export const deleteAndWait = (parley, message) => processed(parley, () => parley.delete(message));

/**
 * Sets an action and waits until the server has it. Resolves to the message with its actions, or null if it was set.
 * @param {Parley} parley @param {ShownMessage} message @param {string} type
 * @returns {Promise<Message | null>}
 */
export const setActionAndWait = (parley, message, type) => processed(parley, () => parley.setAction(message, type));

/**
 * Removes an action and waits until the server has removed it. Resolves to the message, or null if the action was not set.
 * @param {Parley} parley @param {ShownMessage} message @param {string} type
 * @returns {Promise<Message | null>}
 */
export const removeActionAndWait = (parley, message, type) => processed(parley, () => parley.removeAction(message, type));

/**
 * Votes in a poll and waits until the server has the vote.
 * @param {Parley} parley @param {ShownMessage} message @param {number[]} options
 * @returns {Promise<Message | null>}
 */
export const setVoteAndWait = (parley, message, options) => processed(parley, () => parley.setVote(message, options));

/**
 * Retries an operation and waits until the server has it.
 * @param {Parley} parley @param {string} id
 * @returns {Promise<Message | import('./api.js').OwnConversation | null>} The message or conversation that it has created or changed.
 */
export const retryAndWait = (parley, id) =>
  processed(parley, async () => {
    const operation = parley.operations().find((held) => held.id === id) ?? null;
    await parley.retry(id);
    return operation;
  });

/**
 * Adds an operation and waits until the server has processed it.
 * @template [Result=Message] `OwnConversation` for an operation on a conversation.
 * @param {Parley} parley @param {() => Promise<Operation | null>} add
 * @returns {Promise<Result>} The created or changed message or conversation; null if there was nothing to send.
 */
export async function processed(parley, add) {
  /**
   * Answers that were announced before the operation's id was known.
   * @type {((operation: Operation) => void)[]}
   */
  const early = [];
  /** @type {(handle: (operation: Operation) => void) => void} */
  let take = (handle) => void early.push(handle);
  /** @type {(value: any) => void} */
  let resolve = () => {};
  /** @type {(problem: Problem) => void} */
  let reject = () => {};
  /** @type {Promise<any>} */
  const result = new Promise((...settle) => ([resolve, reject] = settle));
  result.catch(() => {});
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let gone;
  const isHeld = (/** @type {string} */ id) => parley.operations().some((held) => held.id === id);
  const cancelled = () => new Problem({ code: 'cancelled', detail: 'the operation was cancelled' });
  const ends = [
    parley.on('sent', ({ id, message, conversation }) => take((own) => own.id === id && resolve(message ?? conversation))),
    parley.on('failed', ({ operation, problem }) =>
      take((own) => [own.id, own.target].includes(operation.id) && reject(asProblem(problem)))),
    // An earlier operation of the conversation waits for a retry and blocks this one.
    parley.on('waiting', ({ id, reason }) => {
      const conversation = parley.operations().find((held) => held.id === id)?.conversation_id;
      take((own) => (own.id === id || own.conversation_id === conversation) && reject(asProblem(reason)));
    }),
    parley.on('cancelled', ({ id }) =>
      take((own) => {
        // A deletion is cancelled with its message, which was never sent.
        if (own.kind === 'delete' && own.target === id) resolve(null);
        else if (own.id === id || own.target === id) reject(cancelled());
      })),
    // Also after another user has signed in.
    parley.on('closed', () => reject(cancelled())),
    parley.on('signedOut', (problem) => take(() => reject(problem ?? cancelled()))),
    parley.on('change', () => take(async (own) => {
      if (isHeld(own.id) || gone !== undefined) return;
      // The event of a message may arrive instead of the answer.
      const sent = own.kind === 'send' ? await parley.store.get('messages@client', own.id) : undefined;
      if (sent) resolve(sent);
      else gone = setTimeout(() => reject(cancelled()), announcement);
    })),
  ];
  try {
    const operation = await add();
    if (operation === null) return /** @type {any} */ (null);
    take = (handle) => handle(operation);
    for (const handle of early) handle(operation);
    const { connection, reason } = parley.state;
    if (connection === 'stopped' && reason) throw reason;
    const failed = parley.operations().find(({ id, state }) => id === operation.target && state === 'failed');
    if (failed) throw asProblem(failed.reason);
    if (isHeld(operation.id)) await Promise.race([parley.retry(operation.id), result]);
    return await result;
  } finally {
    for (const end of ends) end();
    clearTimeout(gone);
  }
}

/** @param {any} problem A problem, or its JSON from another tab. */
const asProblem = (problem) => (problem instanceof Problem ? problem : new Problem(problem));
