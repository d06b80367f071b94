// Messages made from other messages, for `parley.send`.

import { Problem } from './problem.js';

/** @typedef {import('./parley.js').Parley} Parley @typedef {import('./api.js').Message} Message */
/** @typedef {{ name: string | null }} Named A user: null once deleted. */
/** @typedef {Parameters<Parley['send']>[1]} NewMessage */

/** The annotation that embeds a file or a link preview in the text. */
const embedded = 'net.app.core.oembed';

/** @param {(string | null)[]} names */
const mentionsOf = (names) => [...new Set(names)].filter(Boolean).map((name) => `@${name} `).join('');

/**
 * The message that replies and actions go to: of a repost its post.
 * @param {Message} message
 */
const postOf = (message) => message.repost_of ?? message.id;

/**
 * A reply that begins with a mention of the author. A reply to a repost answers its post, in the conversation of the post,
 * and mentions `author`, the author of the post, and `reposter`, the user of the repost.
 * @param {Message} message @param {Named} author @param {Named} [reposter] @returns {NewMessage}
 */
export const replyTo = (message, author, reposter) =>
  ({ text: mentionsOf([author.name, reposter?.name ?? null]), reply_to: postOf(message) });

/**
 * A reply that mentions the author and all mentioned users, except the current user and `except`. A repost mentions none: take
 * its post.
 * @param {Message} message @param {{ author: Named, me: Named, except?: string[] }} users @returns {NewMessage}
 */
export function replyToAll(message, { author, me, except = [] }) {
  // Groups and `@room` have no user id.
  const mentioned = (message.entities?.mentions ?? []).filter((it) => it.user_id).map((it) => it.name);
  const names = [author.name, ...mentioned].filter((name) => name !== me.name && !except.includes(name ?? ''));
  return { text: mentionsOf(names), reply_to: postOf(message) };
}

/**
 * A message that begins with a mention of a user.
 * @param {Named} user @returns {NewMessage}
 */
export const mention = (user) => ({ text: mentionsOf([user.name]) });

/**
 * The text of a message, quoted with its author's name.
 * @param {Message} message @param {Named} author @returns {NewMessage}
 */
export const forward = (message, author) => ({ text: `» ${mentionsOf([author.name])}${message.text ?? ''}` });

/**
 * The same text, annotations and attachments. Attachments of another user are downloaded, to be uploaded as the current user's;
 * those that were embedded in the text stand below it.
 * @param {Parley} parley @param {Message} message
 * @returns {Promise<{ message: NewMessage, files: File[] }>} For `parley.send(conversation, message, files)`.
 */
export async function copyOf(parley, message) {
  const { text = '', annotations = [], attachments = [], descriptions, machine_only = false } = message;
  const copy = { text, annotations, ...(descriptions ? { descriptions } : {}), ...(machine_only ? { machine_only } : {}) };
  if (message.author_id === parley.me?.id) return { message: { ...copy, attachments }, files: [] };
  const isEmbedded = (/** @type {any} */ it) => it.type === embedded && attachments.includes(it.value?.file_id);
  const files = await Promise.all(attachments.map((id) => download(parley, id)));
  return { message: { ...copy, annotations: annotations.filter((it) => !isEmbedded(it)) }, files };
}

/** @param {Parley} parley @param {string} id @returns {Promise<File>} */
async function download({ client }, id) {
  const { name, mime_type: type } = await client.calls.getFile({ id });
  const options = client.token === null ? {} : { headers: { Authorization: `Bearer ${client.token}` } };
  const answer = await client.fetch(`${client.base}/files/${id}/content`, options);
  if (!answer.ok) throw new Problem({ ...(await answer.json()), status: answer.status });
  return new File([await answer.blob()], name, { type });
}

/**
 * The message of a push message, from the cache, or else from the server.
 * @param {Parley} parley
 * @param {string | Record<string, unknown>} payload The content of a push message (`{ web_push: 8030, notification: { data: { message_id: '1042' } } }`), or an
 *   event as outgoing webhooks deliver it (`{ event: 'message.created', data }`); also as JSON text.
 * @returns {Promise<Message>}
 */
export async function messageOfPayload(parley, payload) {
  const { event, data, notification } = typeof payload === 'string' ? JSON.parse(payload) : payload;
  const named = event === undefined ? notification?.data : data;
  const id = event?.startsWith('message.') ? named?.id : named?.message_id;
  if (typeof id !== 'string') throw new TypeError('the payload names no message');
  const known = await parley.store.get('messages@id', id);
  return known && known.revision >= (named.revision ?? 0) ? known : parley.client.calls.getMessage({ id });
}

/**
 * The user's private channel of a type, for an app's own data, without other participants. The oldest of several; it is created if
 * there is none, also after it was deleted.
 * @param {Parley} parley @param {{ type: string, title?: string, annotations?: { type: string, value: any }[] }} spec
 * @returns {Promise<string>} Its id.
 */
export async function privateChannel(parley, { type, ...spec }) {
  const me = parley.me?.id;
  const isPrivate = (/** @type {any} */ it) =>
    it.kind === 'channel' && it.type === type && it.created_by === me && it.readers.open_to === 'listed' && !it.readers.immutable &&
    it.writers.open_to === 'listed' && it.writers.immutable && it.participants?.every((/** @type {any} */ one) => one.user_id === me);
  const [oldest] = parley.conversations.filter(isPrivate).sort((a, b) => Number(a.id) - Number(b.id));
  if (oldest) return oldest.id;
  // The server has one distinct channel per type: two devices that create it get the same.
  const writers = { open_to: 'listed', immutable: true };
  /** @type {any} */
  const body = { kind: 'channel', type, ...spec, readers: { open_to: 'listed' }, writers, distinct: true };
  return (await parley.client.calls.createConversation({ body })).id;
}
