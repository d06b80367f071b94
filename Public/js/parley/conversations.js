// Operations on conversations, through the outbox: stored before the call returns, sent in their order, and applied to the
// cache when the server has processed them. `…AndWait` waits for that, as in `awaited.js`.

import { processed } from './awaited.js';

/** @typedef {import('./parley.js').Parley} Parley @typedef {import('./outbox.js').Operation} Operation */
/** @typedef {import('./api.js').ConversationDraft} ConversationDraft @typedef {import('./api.js').ConversationChange} ConversationChange */
/** @typedef {import('./api.js').TopicChange} TopicChange @typedef {import('./api.js').OwnConversation} OwnConversation */

/**
 * Creates a conversation. The event `sent` has it; a repeated request does not create another.
 * @param {Parley} parley @param {ConversationDraft} body
 */
export const createConversation = (parley, body) => add(parley, 'create_conversation', '', body);

/**
 * Changes a conversation or a topic.
 * @param {Parley} parley @param {string} id @param {ConversationChange | TopicChange} body
 */
export const updateConversation = (parley, id, body) => add(parley, 'update_conversation', id, body);

/**
 * Ends the user's participation. A pending request to the user is declined.
 * @param {Parley} parley @param {string} id
 */
export const leaveConversation = (parley, id) => add(parley, 'leave_conversation', id);

/**
 * Deletes a conversation for all of its participants.
 * @param {Parley} parley @param {string} id
 */
export const deleteConversation = (parley, id) => add(parley, 'delete_conversation', id);

/**
 * @param {Parley} parley @param {ConversationDraft} body @returns {Promise<OwnConversation>}
 */
export const createConversationAndWait = (parley, body) => processed(parley, () => createConversation(parley, body));

/**
 * @param {Parley} parley @param {string} id @param {ConversationChange | TopicChange} body
 * @returns {Promise<OwnConversation>}
 */
export const updateConversationAndWait = (parley, id, body) => processed(parley, () => updateConversation(parley, id, body));

/** @param {Parley} parley @param {string} id @returns {Promise<void>} */
export const leaveConversationAndWait = (parley, id) => processed(parley, () => leaveConversation(parley, id));

/** @param {Parley} parley @param {string} id @returns {Promise<void>} */
export const deleteConversationAndWait = (parley, id) => processed(parley, () => deleteConversation(parley, id));

/**
 * @param {Parley} parley @param {Operation['kind']} kind @param {string} conversation @param {any} [body]
 * @returns {Promise<Operation>}
 */
const add = (parley, kind, conversation, body = {}) =>
  /** @type {Promise<any>} */ (parley.outbox.add({ kind, conversation_id: conversation, body }));
