// The rest of the cache of a shared device after a session. An erased copy leaves the unsent operations, drafts with their
// files, and lost messages of its user, sealed: they are neither shown nor sent until that user signs in again. A locked copy stays whole,
// and is opened by the same user only.

import { keepLost, Rows } from './reducer.js';
import { put, tables } from './store.js';

/** @typedef {import('./store.js').Store} Store @typedef {import('./store.js').Source} Source */

/**
 * Erases a user's copy and seals what the user has not sent.
 * @param {Store} store @param {string | null} user Null if unknown: there is nothing to seal.
 * @param {{ hasOperations?: boolean }} options `hasOperations`: unsent operations are sealed, too.
 * @returns {Promise<boolean>} Whether something is sealed, for this user or another one.
 */
export async function eraseCopy(store, user, { hasOperations = true } = {}) {
  let isSealed = false;
  /** @type {Source[]} */
  const sources = [['outbox'], ['files'], ['drafts'], ['site', 'lost'], ['sealed']];
  await store.update(sources, ([outbox, files, drafts, lost, sealed]) => {
    const operations = hasOperations ? outbox.filter((/** @type {any} */ { kind }) => kind !== 'read') : [];
    const named = new Set([...operations, ...drafts].flatMap(({ files: some = [] }) => some.map((/** @type {any} */ { id }) => id)));
    const held = files.filter((/** @type {any} */ { id }) => named.has(id));
    const own = { operations, files: held, drafts, lost: lost?.value ?? [] };
    const before = sealed.find((/** @type {any} */ one) => one.user_id === user);
    const row = {
      user_id: user,
      ...Object.fromEntries(Object.entries(own).map(([name, rows]) => [name, [...(before?.[name] ?? []), ...rows]])),
    };
    const isEmpty = user === null || Object.values(own).every((rows) => rows.length === 0);
    isSealed = !isEmpty || sealed.length > 0;
    const all = Object.keys(tables).filter((table) => table !== 'sealed');
    const cleared = all.map((table) => ({ table, from: -Infinity, to: /** @type {any} */ ([[]]) }));
    return isEmpty ? cleared : [...cleared, put('sealed', row)];
  }, { isDurable: true });
  return isSealed;
}

/**
 * Gives a user the sealed operations, drafts and lost messages back.
 * @param {Store} store @param {string} user @returns {Promise<import('./store.js').Change[]>}
 */
export function unseal(store, user) {
  /** @type {Source[]} */
  const sources = [['sealed', user], ['site', 'order'], ['site', 'lost'], ['drafts']];
  return store.update(sources, (found) => {
    const rows = new Rows(sources, found);
    const sealed = rows.get('sealed', user);
    if (!sealed) return [];
    let order = rows.get('site', 'order')?.value ?? 0;
    for (const operation of sealed.operations.sort((/** @type {any} */ a, /** @type {any} */ b) => a.order - b.order)) {
      rows.put('outbox', { ...operation, order: ++order });
    }
    rows.put('site', { name: 'order', value: order });
    const drafts = new Set(rows.list('drafts').map(({ conversation_id }) => conversation_id));
    const isReplaced = (/** @type {any} */ { conversation_id }) => drafts.has(conversation_id);
    const unused = new Set(sealed.drafts.filter(isReplaced).flatMap((/** @type {any} */ { files = [] }) => files.map((/** @type {any} */ { id }) => id)));
    for (const file of sealed.files) if (!unused.has(file.id)) rows.put('files', file);
    for (const draft of sealed.drafts) if (!isReplaced(draft)) rows.put('drafts', draft);
    keepLost(rows, sealed.lost, user);
    rows.remove('sealed', user);
    return rows.changes;
  }, { isDurable: true });
}

/**
 * Locks a copy for its user.
 * @param {Store} store @param {string} user
 */
export const lock = (store, user) =>
  store.update([], () => [put('site', { name: 'locked', value: user })], { isDurable: true });

/** @param {Store} store */
export const unlock = (store) => store.update([], () => [{ table: 'site', key: 'locked' }], { isDurable: true });

/** @param {Store} store @returns {Promise<string | null>} The user whose copy is locked. */
export const lockedFor = async (store) => (await store.get('site', 'locked'))?.value ?? null;
