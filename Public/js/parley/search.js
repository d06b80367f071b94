// Search in the cache, without the server. Words are folded like on the server, as far as a browser can: case, accents and
// width are ignored, and in scripts without spaces any part of the text matches.

import { compareIds } from './ids.js';
import { wordForms } from './wordforms.js';

/**
 * @typedef {object} Search
 * @property {string} [q] Words, "phrases", -not, prefix*.
 * @property {string} [language] The code of its language, whose word forms are found, too.
 * @property {string} [conversation]
 * @property {string} [author]
 * @property {string} [hashtag]
 * @property {string} [mention] A name.
 * @property {string} [annotation] A type.
 * @property {'file' | 'link'} [has]
 * @property {string} [after_time] RFC 3339.
 * @property {string} [before_time]
 * @property {number} [limit]
 * @property {Map<string, string>} [file_names] Names of files by id. A name is a part of the text of its message.
 */
/** @typedef {{ text: string, isNot: boolean, isPrefix: boolean, isLoose: boolean, forms: string[] }} Term */

const withoutSpaces = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

/**
 * Lower case, without accents, one space between words.
 * @param {string} text
 */
export const fold = (text) =>
  isASCII.test(text)
    ? text.toLowerCase().replace(/[^a-z0-9]+/g, ' ').trim()
    : foldWide(text);

// Most texts need none of the rest, and all of a long conversation may be looked through.
const isASCII = /^[\x00-\x7f]*$/;

/** @param {string} text */
const foldWide = (text) =>
  text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .normalize('NFC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}\p{So}]+/gu, ' ')
    .trim();

/** Other forms of all words together. Later words have none. */
const maxForms = 96;

/** @param {string} query @param {string} [language] @returns {Term[]} */
export function readQuery(query, language) {
  const terms = [];
  let count = 0;
  for (const [, not, phrase, word] of query.matchAll(/(-?)(?:"([^"]*)"|([^\s"]+))/g)) {
    const text = fold(phrase ?? word);
    if (text === '') continue;
    const isPrefix = phrase === undefined && word.endsWith('*');
    const hasForms = language !== undefined && phrase === undefined && not === '' && !isPrefix;
    const forms = hasForms ? wordForms(text, language).slice(0, maxForms - count) : [];
    count += forms.length;
    terms.push({ text, isNot: not === '-', isPrefix, forms, isLoose: withoutSpaces.test(text) || /\p{So}/u.test(text) });
  }
  return terms;
}

/** @param {string} text @param {Term[]} terms */
export function matchesQuery(text, terms) {
  const folded = ` ${fold(text)} `;
  return terms.every((term) => {
    const wanted = term.isLoose ? term.text : term.isPrefix ? ` ${term.text}` : ` ${term.text} `;
    return (folded.includes(wanted) || term.forms.some((form) => folded.includes(` ${form} `))) !== term.isNot;
  });
}

/**
 * Returns matching cached messages, newest first, conversation by conversation.
 * @param {import('./store.js').Store} store
 * @param {string[]} conversations The conversations to search.
 * @param {Search} search
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./api.js').Message[]>}
 */
export async function searchCache(store, conversations, search, signal) {
  const { limit = 50 } = search;
  const interval = readInterval(search);
  const terms = readQuery(search.q ?? '', search.language);
  /** @type {any[]} */
  let found = [];
  for (const conversation of search.conversation ? [search.conversation] : conversations) {
    let to = Number.MAX_SAFE_INTEGER;
    for (let count = 0; count < limit; ) {
      if (signal?.aborted) return [];
      const messages = await store.list('messages', {
        from: [conversation, 0], to: [conversation, to], limit: chunk, newestFirst: true,
      });
      const fitting = messages.filter((message) => fits(message, search, interval, terms));
      found.push(...fitting);
      count += fitting.length;
      if (messages.length < chunk) break;
      to = messages[messages.length - 1].seq - 1;
    }
    found = found.sort((a, b) => compareIds(b.id, a.id)).slice(0, limit);
  }
  return found;
}

const chunk = 500;

/**
 * The bounds in milliseconds, both excluded. As the server's: two in the wrong order are swapped.
 * @param {Search} search @returns {[number, number]}
 */
function readInterval({ after_time, before_time }) {
  const bounds = [readTime(after_time), readTime(before_time)];
  if (after_time !== undefined && before_time !== undefined) bounds.sort((a, b) => a - b);
  return [bounds[0] ?? -Infinity, bounds[1] ?? Infinity];
}

/** @param {string} [time] @returns {any} */
function readTime(time) {
  if (time === undefined) return undefined;
  const milliseconds = Date.parse(time);
  if (Number.isNaN(milliseconds)) throw new RangeError(`${time} is not a time in RFC 3339`);
  return milliseconds;
}

/**
 * The options of a poll.
 * @param {any} message @returns {string[]}
 */
const optionsOf = (message) => (message.poll?.options ?? []).map((/** @type {any} */ { text }) => text);

/** @param {any} message @param {Search} search @param {[number, number]} interval @param {Term[]} terms */
function fits(message, search, [after, before], terms) {
  if (message.deleted || message.machine_only || message.repost_of) return false;
  const created = Date.parse(message.created_at);
  const { entities = {}, annotations = [], attachments = [] } = message;
  const types = annotations.map((/** @type {any} */ annotation) => annotation.type);
  const names = (/** @type {any[]} */ list = [], /** @type {string} */ wanted = '') =>
    list.some(({ name }) => fold(name ?? '') === fold(wanted));
  const fileNames = attachments.map((/** @type {string} */ id) => search.file_names?.get(id) ?? '');
  return (
    (search.author === undefined || message.author_id === search.author) &&
    (search.hashtag === undefined || names(entities.hashtags, search.hashtag)) &&
    (search.mention === undefined || names(entities.mentions, search.mention)) &&
    (search.annotation === undefined || types.includes(search.annotation)) &&
    (search.has !== 'file' || attachments.length > 0) &&
    (search.has !== 'link' || (entities.links ?? []).length > 0) &&
    created > after && created < before &&
    (terms.length === 0 || matchesQuery([message.text ?? '', ...optionsOf(message), ...fileNames].join('\n'), terms))
  );
}
