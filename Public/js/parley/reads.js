// Common queries, answered twice: from the cache at once, then from the server. A response is stored first. The second answer
// is read from the cache, so it includes pending operations of the outbox.
//
//     for await (const { value, isFresh } of messages(parley, '12')) show(value, { isOld: !isFresh });
//     const newest = await messages(parley, '12').fresh();

import { rangeAt } from './history.js';
import { compareIds } from './ids.js';
import { inOrder, withOperations } from './operations.js';
import { Problem } from './problem.js';
import { mergeConversation, mergeMessage, mergeThing, position } from './reducer.js';

/** @typedef {import('./parley.js').Parley} Parley @typedef {import('./store.js').Source} Source */
/** @typedef {import('./reducer.js').Rows} Rows @typedef {import('./api.js').Message} Message */
/** @typedef {import('./api.js').User} User @typedef {import('./api.js').Forum} Forum */
/** @typedef {import('./mirror.js').CachedConversation} CachedConversation */

/** The users of one request. */
const maxUsers = 100;

/**
 * Reads the cache and asks the server at the same time. The cached value, if there is one, comes first, and never after the
 * server's.
 * @template T
 */
export class CachedThenFresh {
  #parley;
  #cached;
  #fetch;

  /**
   * @param {Parley} parley
   * @param {{ cached: () => T | null | Promise<T | null>, fresh: () => Promise<T> }} answers `cached`: null if nothing is cached.
   */
  constructor(parley, { cached, fresh }) {
    this.#parley = parley;
    this.#cached = cached;
    this.#fetch = fresh;
  }

  /** Asks the server alone. */
  fresh() {
    return this.#fetch();
  }

  /** @returns {AsyncGenerator<{ value: T, isFresh: boolean }, void>} */
  async *[Symbol.asyncIterator]() {
    const early = Promise.resolve()
      .then(this.#cached)
      .catch((error) => {
        this.#parley.outbox.emit('fault', error);
        return null;
      })
      .then((value) => ({ value, isFresh: false }));
    const late = this.#fetch().then((value) => ({ value, isFresh: true }));
    // Offline, the cached value comes before the problem.
    const first = await Promise.race([early, late.catch(() => early)]);
    if (first.value !== null) yield /** @type {{ value: T, isFresh: boolean }} */ (first);
    if (!first.isFresh) yield await late;
  }
}

/**
 * @param {Parley} parley @param {string} id
 * @returns {CachedThenFresh<User>}
 */
export const user = (parley, id) =>
  new CachedThenFresh(parley, {
    cached: () => parley.mirror.users.get(id) ?? null,
    fresh: () => fetched(parley, 'users', id, () => parley.client.calls.getUser({ id }), mergeThing),
  });

/**
 * The users by id. The server's answer omits users that do not exist or are not visible.
 * @param {Parley} parley @param {string[]} ids
 * @returns {CachedThenFresh<Map<string, User>>}
 */
export const users = (parley, ids) =>
  new CachedThenFresh(parley, {
    cached: () => {
      const held = /** @type {User[]} */ (ids.map((id) => parley.mirror.users.get(id)).filter(Boolean));
      return held.length ? new Map(held.map((one) => [one.id, one])) : null;
    },
    fresh: async () => {
      const found = new Map();
      const rest = [...new Set(ids)];
      while (rest.length) {
        const query = { ids: rest.splice(0, maxUsers).join(',') };
        const { data } = await parley.client.calls.listUsers({ query });
        await parley.keepUsers(data);
        for (const one of data) found.set(one.id, one);
      }
      return found;
    },
  });

/**
 * The user's own conversations by last activity, newest first.
 * @param {Parley} parley
 * @returns {CachedThenFresh<import('./api.js').OwnConversation[]>}
 */
export const conversations = (parley) => caughtUp(parley, () => parley.conversations);

/**
 * The forums by last activity, newest first.
 * @param {Parley} parley
 * @returns {CachedThenFresh<Forum[]>}
 */
export const forums = (parley) =>
  caughtUp(parley, () => {
    const active = (/** @type {Forum} */ one) => one.last_message_id ?? one.id;
    return [...parley.forums].sort((one, other) => compareIds(active(other), active(one)));
  });

/**
 * @template T @param {Parley} parley @param {() => T} read
 * @returns {CachedThenFresh<T>}
 */
const caughtUp = (parley, read) =>
  new CachedThenFresh(parley, {
    cached: () => (parley.mirror.me ? read() : null),
    fresh: async () => {
      await parley.catchUp();
      return read();
    },
  });

/**
 * @param {Parley} parley @param {string} id
 * @returns {CachedThenFresh<CachedConversation>}
 */
export const conversation = (parley, id) =>
  new CachedThenFresh(parley, {
    cached: () => parley.conversation(id),
    fresh: () => fetched(parley, 'conversations', id, () => parley.client.calls.getConversation({ id }), mergeConversation),
  });

/**
 * @param {Parley} parley @param {string} id
 * @returns {CachedThenFresh<Forum>}
 */
export const forum = (parley, id) =>
  new CachedThenFresh(parley, {
    cached: () => parley.forum(id),
    fresh: () => fetched(parley, 'forums', id, () => parley.client.calls.getForum({ id }), mergeThing),
  });

/**
 * @param {Parley} parley @param {string} id
 * @returns {CachedThenFresh<Message>}
 */
export const message = (parley, id) =>
  new CachedThenFresh(parley, {
    cached: async () => shown(parley, [await parley.store.get('messages@id', id)].filter(Boolean))[0] ?? null,
    fresh: async () => {
      const found = await kept(parley, `message:${id}`, () => parley.client.calls.getMessage({ id }), [['messages@id', id]],
        (rows, answer, known) => {
          const held = rows.get('messages@id', id);
          // Events do not have the user's own actions, and a message alone is not a part of the history.
          if (held?.seq === answer.seq) rows.put('messages', mergeMessage(held, answer, Math.max(known, held.known ?? 0)));
        });
      return shown(parley, [(await parley.store.get('messages@id', id)) ?? found])[0];
    },
  });

/**
 * The messages of a conversation, newest first: those before a message, or the newest.
 * @param {Parley} parley @param {string} conversation @param {{ before?: string, limit?: number }} page
 * @returns {CachedThenFresh<Message[]>}
 */
export const messages = (parley, conversation, { before, limit = 50 } = {}) =>
  new CachedThenFresh(parley, {
    cached: async () => {
      const end = before === undefined ? Infinity : (await parley.store.get('messages@id', before))?.seq - 1;
      const { held } = await parley.pages.history(conversation);
      const last = Math.min(end, held[held.length - 1]?.[1] ?? 0);
      const range = rangeAt(held, last);
      if (!range) return null;
      return shown(parley, await parley.pages.held(conversation, Math.max(range[0], last - limit + 1), last)).reverse();
    },
    fresh: async () => {
      const query = { limit, ...(before === undefined ? {} : { before }) };
      return shown(parley, (await parley.pages.fetch(conversation, query)).messages).reverse();
    },
  });

/**
 * Messages with their pending operations.
 * @param {Parley} parley @param {Message[]} all
 */
function shown(parley, all) {
  const operations = inOrder(parley.mirror.outbox);
  return all.map((one) => withOperations(one, operations.filter((op) => op.message_id === one.id)));
}

/**
 * Fetches a thing into the cache.
 * @param {Parley} parley @param {'users' | 'forums' | 'conversations'} table @param {string} id @param {() => Promise<any>} call
 * @param {(held: any, found: any, known: number) => any} merge
 */
async function fetched(parley, table, id, call, merge) {
  const found = await kept(parley, `${table.slice(0, -1)}:${id}`, call, [[table, id]], (rows, answer, known) => {
    rows.put(table, { ...merge(rows.get(table, id), answer, known), ahead: known });
  });
  return parley.mirror[table].get(id) ?? found;
}

/**
 * Makes a call and stores its answer. A thing that is gone leaves the cache, too.
 * @param {Parley} parley @param {string} name @param {() => Promise<any>} call @param {Source[]} sources
 * @param {(rows: Rows, answer: any, known: number) => void} change
 */
async function kept(parley, name, call, sources, change) {
  const { generation, start, cursor } = parley.outbox.now();
  const known = { generation, start, position: position(generation, cursor) };
  try {
    const answer = await call();
    await parley.outbox.keepAnswer(sources, known, (rows) => change(rows, answer, known.position));
    return answer;
  } catch (error) {
    if (error instanceof Problem && [403, 404, 410].includes(error.status)) parley.renew(name);
    throw error;
  }
}
