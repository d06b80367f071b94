// Operations of the outbox as values: their order, and the state of a message with its operations applied.

import { wantLater, withReply } from './reducer.js';

/** @typedef {import('./store.js').Source} Source @typedef {import('./store.js').Change} Change */
/** @typedef {import('./reducer.js').Rows} Rows */
/**
 * A file of a pending message. Its id makes a repeated upload idempotent.
 * @typedef {{ id: string, name: string, type: string, size: number, file_id: string | null,
 *   upload_id?: string }} PendingFile
 */
/**
 * @typedef {object} Operation
 * @property {string} id A message's `client_id`.
 * @property {number} order
 * @property {'send' | 'edit' | 'delete' | 'set_action' | 'remove_action' | 'vote' | 'read' | 'create_conversation' |
 *   'update_conversation' | 'leave_conversation' | 'delete_conversation'} kind
 * @property {string} conversation_id Empty for a new conversation.
 * @property {string} [message_id] The message that it changes.
 * @property {string} [target] The operation of that message while it is unsent; of a reply: of the message it answers.
 * @property {number} [seq] Of a read position.
 * @property {string} [joins] The forum that the user joins before this message is posted.
 * @property {any} body
 * @property {PendingFile[]} files
 * @property {'pending' | 'failed'} state
 * @property {import('./problem.js').Said | null} reason The problem, as JSON.
 * @property {number} tries Number of tries begun.
 * @property {number} [losses] How often the server had lost the uploaded files.
 * @property {boolean} unanswered A request has begun whose answer is unknown: the server may have the message.
 * @property {string} created_at
 * @property {string} [held_until] Time of a deletion that can be taken back: it is not sent before.
 */

/** The longest hold of a deletion, in milliseconds; the clock may have been set back meanwhile. */
export const maxHold = 60_000;

/** @param {readonly Operation[]} operations */
export const inOrder = (operations) => [...operations].sort((a, b) => a.order - b.order);

/**
 * The pending operations, deletions first, then in order, without those that wait for an unsent message.
 * @param {readonly Operation[]} all
 */
export function sendable(all) {
  const ids = new Set(all.map(({ id }) => id));
  const free = all.filter((op) => op.state === 'pending' && holdOf(op) === 0 && !(op.target !== undefined && ids.has(op.target)));
  const isDeletion = (/** @type {Operation} */ { kind }) => kind === 'delete';
  return [...free.filter(isDeletion), ...free.filter((op) => !isDeletion(op))];
}

/**
 * The time until a held operation is sent, in milliseconds.
 * @param {Operation} op
 */
export function holdOf({ held_until: end }) {
  const left = end === undefined ? 0 : Date.parse(end) - Date.now();
  return left > 0 && left <= maxHold ? left : 0;
}

/**
 * Makes a failed operation pending again.
 * @param {Rows} rows @param {Operation} operation
 */
export const putAgain = (rows, operation) => rows.put('outbox', { ...operation, state: 'pending', reason: null, losses: 0 });

/**
 * Takes back the read position of a conversation, until the server's is fetched.
 * @param {Rows} rows @param {string} id
 */
export function forgetRead(rows, id) {
  const conversation = rows.get('conversations', id);
  if (!conversation) return;
  const { read_up_to: _, ...row } = conversation;
  rows.put('conversations', row);
  wantLater(rows, `conversation:${id}`);
}

/**
 * Whether the server may have the operation: a request has begun and was not refused.
 * @param {Operation} op
 */
export const mayBeSent = (op) => op.unanswered;

/**
 * Whether all files of a message are uploaded, so that it can be posted.
 * @param {Operation} op
 */
export const isUploaded = (op) => op.files.every(({ file_id }) => file_id !== null);

/**
 * Whether a stored operation is the mirrored one.
 * @param {Operation} held @param {Operation} mirrored
 */
export const isSameTry = (held, mirrored) =>
  held.state === 'pending' && held.order === mirrored.order && held.target === mirrored.target;

/**
 * An operation on a message that was sent in the meantime.
 * @template {Partial<Operation>} Draft @param {Draft} draft @param {string} message @returns {Draft}
 */
export function aboutSent({ target: _, ...draft }, message) {
  return /** @type {any} */ (draft.kind === 'send' ? withReply(draft, message) : { ...draft, message_id: message });
}

/**
 * Whether an operation sets or removes the same action.
 * @param {Operation} op @param {Partial<Operation>} draft
 */
export const isSameAction = (op, { kind, body, message_id, target }) =>
  actionKinds.includes(op.kind) && actionKinds.includes(String(kind)) && op.body.type === body.type &&
  (op.message_id ?? op.target) === (message_id ?? target);

// The vote in a poll has the age of the actions, and `type` of no action.
export const actionKinds = ['set_action', 'remove_action', 'vote'];

/** @param {any} message @returns {Source[]} */
export const sourcesOfMessage = (message) => [
  ['messages', [message.conversation_id, message.seq]],
  ['conversations', message.conversation_id],
  ['history', message.conversation_id],
];

/** @param {Operation} op @returns {Change[]} */
export const removal = (op) => [
  { table: 'outbox', key: op.id },
  ...op.files.map((file) => ({ table: 'files', key: file.id })),
];

/**
 * The poll of a lost message, as a new one without votes.
 * @param {import('./api.js').Poll} poll
 */
export const pollAgain = ({ options, choices, anonymous, closes_at: closesAt }) => ({
  options: options.map((/** @type {any} */ { text }) => text), choices, anonymous,
  ...(Date.parse(/** @type {string} */ (closesAt)) > Date.now() ? { closes_at: closesAt } : {}),
});

/**
 * A poll with the user's vote.
 * @param {any} poll @param {number[]} mine
 */
export function voted(poll, mine) {
  const before = poll.mine ?? [];
  const options = poll.options.map((/** @type {any} */ it, /** @type {number} */ index) =>
    ({ ...it, votes: it.votes + Number(mine.includes(index)) - Number(before.includes(index)) }));
  return { ...poll, options, mine, voters: poll.voters + Math.sign(mine.length) - Math.sign(before.length) };
}

/**
 * Returns a message with its pending operations applied.
 * @template {import('./window.js').ShownMessage} Shown @param {Shown} message @param {Operation[]} operations Its operations, in order.
 * @returns {Shown}
 */
export function withOperations(message, operations) {
  /** @type {any} */
  let shown = message;
  for (const op of operations) {
    if (op.state === 'failed') continue;
    const { type } = op.body;
    const action = shown.actions?.[type];
    if (op.kind === 'edit') shown = { ...shown, ...op.body };
    if (op.kind === 'delete') shown = { ...shown, text: '', attachments: [], deleted: true, deletion: 'author' };
    if (op.kind === 'vote' && shown.poll) shown = { ...shown, poll: voted(shown.poll, op.body.options) };
    if (op.kind === 'set_action' && !action?.mine) {
      shown = { ...shown, actions: { ...shown.actions, [type]: { count: (action?.count ?? 0) + 1, mine: true } } };
    }
    if (op.kind === 'remove_action' && action?.mine) {
      const { [type]: _, ...others } = shown.actions;
      const left = action.count > 1 ? { [type]: { count: action.count - 1 } } : {};
      shown = { ...shown, actions: { ...others, ...left } };
    }
  }
  return shown;
}
