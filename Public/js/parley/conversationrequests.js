// The requests of operations on conversations. Each is safe to repeat: a new conversation has the operation's id as
// `client_id`, a repeated change changes nothing, and a conversation that was left or deleted is gone. Loaded with the first
// operation.

import { Problem, networkProblem } from './problem.js';
import { acknowledge, dropConversation, mergeConversation, unconfirmed, wantLater } from './reducer.js';

/** @typedef {import('./outbox.js').Operation} Operation @typedef {import('./outbox.js').Outbox} Outbox */
/** @typedef {import('./store.js').Source} Source */

/**
 * Sends an operation. Then removes it, and stores the conversation or drops it, in one transaction.
 * @param {Outbox} outbox @param {Operation} op @param {{ signal: AbortSignal, tries: number }} options
 * @param {import('./outbox.js').Known} known
 */
export async function changeConversation(outbox, op, options, known) {
  const found = await request(outbox, op, options);
  const id = found?.id ?? op.conversation_id;
  const name = `conversation:${id}`;
  /** @type {Source[]} */
  const sources = [
    ['outbox', op.id], ['conversations', id], ['history', id], ['streams', name], ['messages', id], ['receipts', id],
    ['site', 'wanted'], unconfirmed,
  ];
  await outbox.keepAnswer(sources, known, (rows) => {
    rows.remove('outbox', op.id);
    if (found === null) {
      if (rows.get('conversations', id)) acknowledge(rows, 'gone', null, Date.now(), { isAnswer: true });
      dropConversation(rows, id);
      return;
    }
    // A topic has another form in the answer. Events may have been faster than it: both are fetched.
    if (found.last_offset !== undefined) {
      const { position } = known;
      rows.put('conversations', { ...mergeConversation(rows.get('conversations', id), found, position), ahead: position });
    }
    wantLater(rows, name);
  });
  if (found) outbox.want(name);
  outbox.emit('sent', { id: op.id, kind: op.kind, conversation: found });
}

/**
 * @param {Outbox} outbox @param {Operation} op @param {{ signal: AbortSignal, tries: number }} options
 * @returns {Promise<any>} The conversation; null after its end.
 */
async function request({ client: { calls }, mirror }, op, options) {
  const call = { ...options, id: op.conversation_id };
  switch (op.kind) {
    case 'create_conversation':
      return conversation(await calls.createConversation({ ...options, body: { ...op.body, client_id: op.id } }));
    case 'update_conversation':
      return conversation(await calls.updateConversation({ ...call, body: op.body }).catch(async (problem) => {
        // A repeated change with a revision is refused although it was made: then the conversation has it.
        if (problem.status !== 409) throw problem;
        const current = await calls.getConversation(call);
        if (!has(current, op.body)) throw problem;
        return current;
      }));
    case 'leave_conversation':
      return ended(mirror.conversations.get(call.id)?.request
        ? calls.declineRequest(call)
        : calls.removeParticipant({ ...call, user: 'me' }));
    case 'delete_conversation':
      return ended(calls.deleteConversation(call));
    default:
      throw new Problem({ code: 'unknown_operation', detail: op.kind });
  }
}

/** @param {any} answer */
function conversation(answer) {
  // A proxy or a captive portal answered.
  if (answer?.id === undefined || answer.kind === undefined) throw networkProblem(new TypeError('no conversation'));
  return answer;
}

/**
 * A conversation that is gone was ended by an earlier try, or by another user.
 * @param {Promise<any>} answer
 */
const ended = (answer) => answer.then(() => null, (problem) => {
  // Not an answer of Parley, such as the 404 of a proxy.
  if (problem.code === 'unexpected') throw networkProblem(problem);
  if ([404, 410].includes(problem.status)) return null;
  throw problem;
});

/**
 * Whether a thing has the members of a change.
 * @param {any} thing @param {any} change
 */
const has = (thing, { if_revision: _, reason: __, from: ___, ...change }) =>
  Object.entries(change).every(([name, value]) => isSame(thing[name], value));

/** @param {any} one @param {any} value @returns {boolean} */
const isSame = (one, value) =>
  one === value || (one !== null && typeof one === 'object' && value !== null && typeof value === 'object' &&
    Object.entries(value).every(([name, member]) => isSame(one[name], member)) &&
    (!Array.isArray(value) || one.length === value.length));
