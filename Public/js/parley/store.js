// The cache on disk. `update` is the only way to write: it reads the named rows, calls the closure, and writes the
// changes, in one transaction. So an event and its cursor are stored together or not at all, and two tabs never overwrite
// each other's changes.
//
// | table | key | row |
// |---|---|---|
// | `site` | a name | `cursor`, `me`, `settings`, … |
// | `users`, `forums`, `conversations` | id | the thing, and `known` |
// | `messages` | [conversation, seq] | the message, and `known`; found by `id` and by `client_id` too |
// | `history` | conversation | the cached ranges |
// | `streams` | name | the offset of the last event |
// | `receipts` | [conversation, user] | a read position |
// | `relations` | user | follow, mute, block |
// | `inbox` | id | a notification |
// | `outbox` | operation's id | an unsent operation |
// | `drafts` | conversation | a draft, and its files by name |
// | `files` | a name | the content of a pending upload or of a draft's file |
// | `sealed` | user | unsent operations, drafts and lost messages after a session |

import { within } from './time.js';

/** @typedef {string | number | (string | number)[]} Key */
// The address of a row. A table's name may carry an index: `messages@id`. Without a key: all rows of the table. An index
// of `lists` gives all rows with the value: `outbox@target`.
/** @typedef {[table: string, key?: Key]} Source */
/** @typedef {{ table: string, key: Key, row: any }} Put @typedef {{ table: string, key: Key }} Remove */
/** @typedef {{ table: string, from: Key, to: Key }} Clear */
/** @typedef {Put | Remove | Clear} Change */
/**
 * @typedef {object} Store
 * @property {(table: string, key: Key) => Promise<any>} get A row, or undefined.
 * @property {(table: string, range?: Range) => Promise<any[]>} list Rows in the order of their keys.
 * @property {(sources: Source[], decide: (rows: any[]) => Change[], options?: { isDurable?: boolean }) => Promise<Change[]>} update
 *   Returns the written changes. `isDurable`: after their synchronization with the disk.
 * @property {() => Promise<void>} erase Deletes all rows.
 * @property {() => void} close
 */
/** @typedef {{ from?: Key, to?: Key, limit?: number, newestFirst?: boolean }} Range Both ends belong to it. */

/** @type {Record<string, { key: string[], indices?: Record<string, string>, lists?: Record<string, string> }>} */
export const tables = {
  site: { key: ['name'] },
  users: { key: ['id'] },
  forums: { key: ['id'] },
  conversations: { key: ['id'] },
  messages: { key: ['conversation_id', 'seq'], indices: { id: 'id', client: 'client_id' } },
  history: { key: ['id'] },
  streams: { key: ['name'] },
  receipts: { key: ['conversation_id', 'user_id'] },
  relations: { key: ['user_id'] },
  inbox: { key: ['id'] },
  outbox: { key: ['id'], lists: { target: 'target', message: 'message_id' } },
  drafts: { key: ['conversation_id'] },
  files: { key: ['id'] },
  sealed: { key: ['user_id'] },
  answers: { key: ['name'] },
};

/**
 * The key of a row.
 * @param {string} table @param {any} row
 * @returns {Key}
 */
export function keyOf(table, row) {
  const names = tables[table].key;
  return names.length === 1 ? row[names[0]] : names.map((name) => row[name]);
}

/**
 * Whether a source has all rows with a value.
 * @param {string} table @param {string} [index]
 */
export const isList = (table, index) => index !== undefined && tables[table].lists?.[index] !== undefined;

/**
 * A change that puts a row.
 * @param {string} table @param {any} row
 * @returns {Put}
 */
export const put = (table, row) => ({ table, key: keyOf(table, row), row });

/**
 * A change that takes all messages of a conversation.
 * @param {string} table @param {string} conversation
 * @returns {Clear}
 */
export const clearOf = (table, conversation) => ({
  table,
  from: [conversation],
  // A list comes after every number and text.
  to: /** @type {any} */ ([conversation, []]),
});

/**
 * A store in memory, for tests, Node, and browsers without storage in private windows.
 * @returns {Store}
 */
export function memoryStore() {
  /** @type {Record<string, MemoryTable>} */
  let held = {};
  const table = (/** @type {string} */ name) => (held[name] ??= new MemoryTable(name));
  const get = (/** @type {string} */ source, /** @type {Key | undefined} */ key) => {
    const [name, index] = source.split('@');
    if (key === undefined) return structuredCopy(table(name).all());
    return structuredCopy(isList(name, index) ? table(name).list(key, String(index)) : table(name).get(key, index));
  };
  return {
    get: async (source, key) => get(source, key),
    list: async (name, { from = -Infinity, to = [[]], limit = Infinity, newestFirst = false } = {}) => {
      const rows = table(name).inRange(from, /** @type {any} */ (to));
      if (newestFirst) rows.reverse();
      return rows.slice(0, limit).map(structuredCopy);
    },
    update: async (sources, decide) => {
      const changes = decide(sources.map(([source, key]) => get(source, key)));
      for (const change of changes) {
        if ('from' in change) table(change.table).clear(change.from, change.to);
        else if ('row' in change) table(change.table).put(structuredCopy(change.row));
        else table(change.table).remove(change.key);
      }
      return changes;
    },
    erase: async () => {
      held = {};
    },
    close: () => {},
  };
}

/** Rows by the first part of their key, so that a page of a conversation is not looked for among all messages. */
class MemoryTable {
  /** @type {Map<string, Map<string, any>>} */
  #rows = new Map();
  /** @type {Record<string, Map<any, any>>} */
  #indices = {};
  /** @type {Record<string, Map<any, Set<any>>>} */
  #lists = {};

  /** @param {string} name */
  constructor(name) {
    this.name = name;
    this.fields = Object.entries(tables[name].indices ?? {});
    this.listFields = Object.entries(tables[name].lists ?? {});
    for (const [index] of this.fields) this.#indices[index] = new Map();
    for (const [index] of this.listFields) this.#lists[index] = new Map();
  }

  all() {
    return [...this.#rows.values()].flatMap((rows) => [...rows.values()]);
  }

  /** @param {Key} key @param {string} [index] */
  get(key, index) {
    if (index) return this.#indices[index].get(key);
    return this.#rows.get(firstOf(key))?.get(JSON.stringify(key));
  }

  /** @param {Key} value @param {string} index */
  list(value, index) {
    return [...(this.#lists[index].get(value) ?? [])];
  }

  /** @param {any} row */
  put(row) {
    const key = keyOf(this.name, row);
    this.remove(key);
    const first = firstOf(key);
    if (!this.#rows.has(first)) this.#rows.set(first, new Map());
    this.#rows.get(first)?.set(JSON.stringify(key), row);
    for (const [index, field] of this.fields) if (row[field] != null) this.#indices[index].set(row[field], row);
    for (const [index, field] of this.listFields) {
      if (row[field] == null) continue;
      if (!this.#lists[index].has(row[field])) this.#lists[index].set(row[field], new Set());
      this.#lists[index].get(row[field])?.add(row);
    }
  }

  /** @param {Key} key */
  remove(key) {
    const row = this.get(key);
    if (!row) return;
    this.#rows.get(firstOf(key))?.delete(JSON.stringify(key));
    for (const [index, field] of this.fields) {
      // Another row may have the same value, as a message that was sent again after a restore.
      if (this.#indices[index].get(row[field]) === row) this.#indices[index].delete(row[field]);
    }
    for (const [index, field] of this.listFields) {
      const rows = this.#lists[index].get(row[field]);
      rows?.delete(row);
      if (rows?.size === 0) this.#lists[index].delete(row[field]);
    }
  }

  /** @param {Key} from @param {Key} to */
  clear(from, to) {
    for (const row of this.inRange(from, to)) this.remove(keyOf(this.name, row));
  }

  /**
   * In the order of their keys.
   * @param {any} from @param {any} to
   * @returns {any[]}
   */
  inRange(from, to) {
    const isOne = Array.isArray(from) && Array.isArray(to) && from[0] === to[0];
    const rows = isOne ? [this.#rows.get(firstOf(from)) ?? new Map()] : [...this.#rows.values()];
    return rows
      .flatMap((rows) => [...rows.values()])
      .map((row) => ({ row, key: keyOf(this.name, row) }))
      .filter(({ key }) => compareKeys(key, from) >= 0 && compareKeys(key, to) <= 0)
      .sort((a, b) => compareKeys(a.key, b.key))
      .map(({ row }) => row);
  }
}

/** @param {Key} key */
const firstOf = (key) => String(Array.isArray(key) ? key[0] : key);

/**
 * Copies a row, so that callers cannot change the store's.
 * @param {any} row
 */
const structuredCopy = (row) => (row === undefined ? undefined : structuredClone(row));

/**
 * Orders keys as IndexedDB does: numbers, then texts, then lists.
 * @param {any} a @param {any} b
 * @returns {number}
 */
export function compareKeys(a, b) {
  const rank = (/** @type {any} */ key) => (Array.isArray(key) ? 2 : typeof key === 'string' ? 1 : 0);
  if (rank(a) !== rank(b)) return rank(a) - rank(b);
  if (!Array.isArray(a)) return a < b ? -1 : a > b ? 1 : 0;
  for (let index = 0; index < Math.min(a.length, b.length); index++) {
    const order = compareKeys(a[index], b[index]);
    if (order !== 0) return order;
  }
  return a.length - b.length;
}

const version = 4;

/** The wait for the browser to open and read, or to erase, a database, in milliseconds. Some browsers never answer. */
export const patience = 10_000;

/**
 * Erases the copies of other users on this site. Their unsent operations stay, sealed.
 * @param {string} prefix Of the names of the site's databases. @param {string} own The name of the current user's.
 * @param {(store: Store) => Promise<boolean>} erase Returns whether the database is still needed.
 */
export async function eraseOthers(prefix, own, erase) {
  for (const { name } of (await globalThis.indexedDB?.databases?.()) ?? []) {
    if (!name?.startsWith(prefix) || name === own) continue;
    const store = await browserStore(name);
    if (await erase(store)) store.close();
    else await store.erase();
  }
}

/**
 * A store in IndexedDB with what was loaded from it, or in memory if the browser does not open or read the database.
 * @template T @param {string} name @param {(store: Store) => Promise<T>} load
 * @returns {Promise<{ store: Store, loaded: T, isDurable: boolean }>}
 */
export async function openStore(name, load) {
  if (globalThis.indexedDB) {
    let isLate = false;
    /** @type {Store | undefined} */
    let store;
    const opening = browserStore(name).then(async (it) => {
      if (isLate) return it.close();
      store = it;
      return { store, loaded: await load(store), isDurable: true };
    });
    const opened = await within(patience, opening.catch(() => undefined));
    if (opened) return opened;
    isLate = true;
    store?.close();
  }
  const store = memoryStore();
  return { store, loaded: await load(store), isDurable: false };
}

/**
 * A store in IndexedDB. One database per site and user.
 * @param {string} name @param {{ indexedDB?: IDBFactory, onLost?: () => void }} options
 *   `onLost`: another tab erased or upgraded the database.
 * @returns {Promise<Store>}
 */
export async function browserStore(name, { indexedDB = globalThis.indexedDB, onLost } = {}) {
  const database = await openDatabase(name, indexedDB, onLost);
  const { begin, close } = transactionsOf(database);
  const openSource = (/** @type {IDBTransaction} */ transaction, /** @type {string} */ source) => {
    const [table, index] = source.split('@');
    const store = transaction.objectStore(table);
    return index ? store.index(index) : store;
  };
  const tableOf = (/** @type {string} */ source) => source.split('@')[0];

  return {
    get: (source, key) => answered(openSource(begin(tableOf(source)), source).get(key)),
    list: (table, { from, to, limit = Infinity, newestFirst = false } = {}) => {
      const store = begin(table).objectStore(table);
      const range = rangeOf(from, to);
      if (!newestFirst) return answered(store.getAll(range, Number.isFinite(limit) ? limit : undefined));
      return new Promise((resolve, reject) => {
        /** @type {any[]} */
        const rows = [];
        const request = store.openCursor(range, 'prev');
        request.onerror = () => reject(request.error);
        request.onsuccess = () => {
          const cursor = request.result;
          if (!cursor || rows.length >= limit) return resolve(rows);
          rows.push(cursor.value);
          return cursor.continue();
        };
      });
    },
    update: (sources, decide, { isDurable = false } = {}) =>
      new Promise((resolve, reject) => {
        // All tables: the closure decides after reading which rows it writes.
        const durability = isDurable ? 'strict' : 'default';
        const transaction = begin(Object.keys(tables), 'readwrite', { durability });
        /** @type {Change[]} */
        let changes = [];
        /** @type {unknown} */
        let fault = null;
        const write = (/** @type {any[]} */ rows) => {
          try {
            changes = decide(rows);
            for (const change of changes) {
              const store = transaction.objectStore(change.table);
              if ('from' in change) store.delete(/** @type {IDBKeyRange} */ (rangeOf(change.from, change.to)));
              else if ('row' in change) store.put(change.row);
              else store.delete(change.key);
            }
            // Without a wait for the answers: the page may be left before they come.
            transaction.commit?.();
          } catch (error) {
            fault = error;
            abort(transaction);
          }
        };
        transaction.oncomplete = () => resolve(changes);
        transaction.onabort = () => reject(fault ?? transaction.error);
        const rows = new Array(sources.length);
        let left = sources.length;
        if (left === 0) return write(rows);
        return sources.forEach(([source, key], number) => {
          const from = openSource(transaction, source);
          const [table, index] = source.split('@');
          const request = key === undefined ? from.getAll() : isList(table, index) ? from.getAll(key) : from.get(key);
          request.onsuccess = () => {
            rows[number] = request.result;
            if (--left === 0) write(rows);
          };
        });
      }),
    erase: async () => {
      close();
      await answered(indexedDB.deleteDatabase(name));
    },
    close,
  };
}

/** @param {string} name @param {IDBFactory} indexedDB @param {() => void} [onLost] */
async function openDatabase(name, indexedDB, onLost) {
  const opening = indexedDB.open(name, version);
  opening.onupgradeneeded = () => {
    const { result: database, transaction } = opening;
    for (const [table, { key, indices, lists }] of Object.entries(tables)) {
      const store = database.objectStoreNames.contains(table)
        ? /** @type {IDBTransaction} */ (transaction).objectStore(table)
        : database.createObjectStore(table, { keyPath: key.length === 1 ? key[0] : key });
      for (const [index, field] of Object.entries({ ...indices, ...lists })) {
        if (!store.indexNames.contains(index)) store.createIndex(index, field);
      }
    }
  };
  const database = await answered(opening);
  database.onversionchange = () => {
    database.close();
    onLost?.();
  };
  database.onclose = () => onLost?.();
  return database;
}

/**
 * The transactions of a database. A page that is left aborts them and closes the database: otherwise WebKit answers no request of
 * the site's next pages.
 * @param {IDBDatabase} database
 */
function transactionsOf(database) {
  /** @type {Set<IDBTransaction>} */
  const running = new Set();
  const begin = (/** @type {Parameters<IDBDatabase['transaction']>} */ ...options) => {
    const transaction = database.transaction(...options);
    running.add(transaction);
    for (const end of ['complete', 'abort']) transaction.addEventListener(end, () => running.delete(transaction));
    return transaction;
  };
  const close = () => {
    globalThis.removeEventListener?.('pagehide', leave);
    database.close();
  };
  const leave = () => {
    for (const transaction of running) abort(transaction);
    close();
  };
  globalThis.addEventListener?.('pagehide', leave);
  return { begin, close };
}

/**
 * Aborts a transaction, unless it has been committed.
 * @param {IDBTransaction} transaction
 */
function abort(transaction) {
  try {
    transaction.abort();
  } catch {}
}

/** @param {Key} [from] @param {Key} [to] */
function rangeOf(from, to) {
  if (from !== undefined && to !== undefined) return IDBKeyRange.bound(from, to);
  if (from !== undefined) return IDBKeyRange.lowerBound(from);
  return to === undefined ? undefined : IDBKeyRange.upperBound(to);
}

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answered = (request) =>
  new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error);
  });
