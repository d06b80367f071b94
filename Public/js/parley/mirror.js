// The in-memory mirror of the cache for views: all tables but messages. Each tab has one and updates it with the changes
// of every tab.

import { readCursor } from './ids.js';
import { isIgnored, position } from './reducer.js';
import { keyOf, put } from './store.js';

/** @typedef {import('./api.js').Settings} Settings */
/**
 * A user as cached: the signed-in one with what only that user sees.
 * @typedef {import('./api.js').User} User
 */
/** @typedef {import('./api.js').Forum} Forum */
/**
 * A conversation as cached. What only a participant sees is absent in others.
 * @typedef {import('./api.js').Conversation & Partial<import('./api.js').OwnConversation>} CachedConversation
 */
/** @typedef {import('./api.js').Notification} Notification */
/** @typedef {{ conversation_id: string, user_id: string, read_up_to: number, delivered_up_to?: number }} CachedReceipt */
/** @typedef {{ user_id: string, follow?: boolean, mute?: boolean, block?: boolean }} CachedRelation */
/** @typedef {{ conversation_id: string, value: unknown, files?: import('./drafts.js').DraftFile[] }} CachedDraft */

const mirrored = ['site', 'users', 'forums', 'conversations', 'receipts', 'relations', 'inbox', 'outbox', 'drafts'];

export class Mirror {
  /** @type {Record<string, Map<string, any>>} */
  #tables = Object.fromEntries(mirrored.map((table) => [table, new Map()]));
  /** @type {import('./outbox.js').Operation[] | null} */
  #inOrder = null;
  /** The last order of the outbox up to which this mirror has seen every operation. */
  order = 0;
  /**
   * Names of the streams with a known offset.
   * @type {Set<string>}
   */
  streams = new Set();

  /** @param {{ hasNotifications?: boolean }} [options] */
  constructor(options) {
    this.hasNotifications = options?.hasNotifications ?? true;
  }

  /** Forgets everything. */
  clear() {
    for (const rows of Object.values(this.#tables)) rows.clear();
    this.#inOrder = null;
    this.streams.clear();
    this.order = 0;
  }

  /** @param {import('./store.js').Store} store */
  async load(store) {
    await Promise.all(
      mirrored.map(async (table) => this.apply((await store.list(table)).map((row) => put(table, row)))),
    );
    this.streams = new Set((await store.list('streams')).map(({ name }) => name));
    // `site` is read before `outbox`, so the outbox has every operation up to here.
    this.order = Math.max(this.order, this.value('order') ?? 0);
  }

  /**
   * Returns changes on disk that no tab announced, because the writing tab was closed first. Drafts are announced before
   * they are written, and an app adds users and forums that are not on disk; both stay. The returned function skips rows
   * that changed in the meantime.
   * @param {import('./store.js').Store} store @returns {Promise<() => import('./store.js').Change[]>}
   */
  async unannounced(store) {
    const tables = mirrored.filter((table) => table !== 'drafts');
    const before = tables.map((table) => new Map(this.#tables[table]));
    const listed = await Promise.all(tables.map((table) => store.list(table)));
    for (const { name } of await store.list('streams')) this.streams.add(name);
    const isOnlyHere = (/** @type {string} */ table, /** @type {any} */ row) =>
      (table === 'users' || table === 'forums') && row.known === undefined;
    return () => tables.flatMap((table, index) => {
      const held = this.#tables[table];
      const rows = new Map(listed[index].map((row) => [String(keyOf(table, row)), row]));
      /** @type {import('./store.js').Change[]} */
      const changes = [];
      for (const name of new Set([...held.keys(), ...rows.keys()])) {
        const row = rows.get(name);
        const now = held.get(name);
        // A change announced since the listing is newer.
        if (now !== before[index].get(name) || JSON.stringify(now) === JSON.stringify(row)) continue;
        if (row !== undefined) changes.push(put(table, row));
        else if (!isOnlyHere(table, now)) changes.push({ table, key: keyOf(table, now) });
      }
      return changes;
    });
  }

  /** @param {import('./store.js').Change[]} changes */
  apply(changes) {
    const added = new Set(changes.map((change) => (change.table === 'outbox' && 'row' in change ? change.row.order : 0)));
    while (added.has(this.order + 1)) this.order++;
    for (const change of changes) {
      if (change.table === 'streams') {
        if ('row' in change) this.streams.add(String(change.key));
        else if ('key' in change) this.streams.delete(String(change.key));
      }
      const rows = this.#tables[change.table];
      if (!rows) continue;
      if (change.table === 'outbox') this.#inOrder = null;
      if ('from' in change) {
        const first = Array.isArray(change.from) ? change.from[0] : null;
        for (const [name, row] of rows) if (row.conversation_id === first) rows.delete(name);
      } else if ('row' in change) {
        rows.set(String(change.key), change.row);
      } else {
        rows.delete(String(change.key));
      }
    }
  }

  /**
   * The ids of a table's stored rows; an app adds others.
   * @param {string} table
   */
  idsOf(table) {
    return [...this.#tables[table].entries()].filter(([, row]) => row.known !== undefined).map(([id]) => id);
  }

  /** @returns {Map<string, User>} */
  get users() { return this.#tables.users; }
  /** @returns {Map<string, Forum>} */
  get forums() { return this.#tables.forums; }
  /** @returns {Map<string, CachedConversation>} */
  get conversations() { return this.#tables.conversations; }
  /** @returns {Map<string, CachedReceipt>} */
  get receipts() { return this.#tables.receipts; }
  /** @returns {Map<string, CachedRelation>} */
  get relations() { return this.#tables.relations; }
  /** @returns {Map<string, Notification>} */
  get inbox() { return this.#tables.inbox; }
  /** @returns {Map<string, CachedDraft>} */
  get drafts() { return this.#tables.drafts; }

  /**
   * Pending operations in order. The same array until it changes.
   * @returns {readonly import('./outbox.js').Operation[]}
   */
  get outbox() {
    this.#inOrder ??= [...this.#tables.outbox.values()].sort((a, b) => a.order - b.order);
    return this.#inOrder;
  }

  /** @param {string} id @returns {import('./outbox.js').Operation | undefined} */
  operation(id) {
    return this.#tables.outbox.get(id);
  }

  /**
   * A value by its name: `settings`, `inbox`, …
   * @param {string} name
   */
  value(name) {
    return this.#tables.site.get(name)?.value ?? null;
  }

  /**
   * The signed-in user.
   * @returns {User | null}
   */
  get me() {
    return this.value('me');
  }

  /** @returns {string | null} */
  get cursor() {
    return this.value('cursor');
  }

  /** @returns {number} */
  get generation() {
    return this.value('generation') ?? 0;
  }

  /**
   * The start of the server that the cache has followed last.
   * @returns {string | null}
   */
  get start() {
    return this.value('start');
  }

  get position() {
    return position(this.generation, this.lastEvent);
  }

  /** The last event of the cursor. During a reset the cursor is still of the earlier history, so it is 0. */
  get lastEvent() {
    if (this.cursor === null || this.value('isResetting')) return 0;
    const { epoch, id } = readCursor(this.cursor);
    return epoch === (this.value('epoch') ?? epoch) ? id : 0;
  }

  /**
   * Whether a cursor is of the same start of the server as this cache, so that their events have the same numbers.
   * @param {string} cursor
   */
  isOfThisStart(cursor) {
    const { epoch, start } = readCursor(cursor);
    return epoch === (this.value('epoch') ?? epoch) && start === (this.start ?? start);
  }

  /** @returns {import('./reducer.js').Context} */
  get context() {
    return {
      me: this.me?.id ?? null,
      generation: this.generation,
      isMuted: (author) => this.relations.get(author)?.mute === true,
      isIgnored: (author) => isIgnored(this.relations.get(author)),
      hasNotifications: this.hasNotifications,
      conversationsBy: (user) => [...this.conversations.values()].filter((it) => it.created_by === user && it.role !== undefined).map(({ id }) => id),
    };
  }

  /**
   * Whether the topic `me` covers a stream.
   * @param {string} stream
   */
  isOwn(stream) {
    const [kind, id] = stream.split(':');
    if (kind !== 'conversation') return kind === 'site' || kind === 'user';
    const conversation = this.conversations.get(id);
    return conversation?.role !== undefined || (conversation?.owner_id ?? null) === (this.me?.id ?? '');
  }

  /** @param {string} forum @returns {string[]} */
  conversationsOf(forum) {
    return [...this.conversations.values()].filter((one) => one.forum_id === forum).map((one) => one.id);
  }
}
