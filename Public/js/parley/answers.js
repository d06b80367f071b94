// Answers of the server that are kept for use offline, such as the first page of a list. They belong to the cache of the user,
// which a sign-out erases, and to the start of the server at their request: another start may have lost their contents, and no
// cursor covers them.

import { put } from './store.js';

/** The number of kept answers. */
const max = 100;
/** The start of an answer that outlives restarts. */
export const anyStart = 'any';
/** The age after which an answer is no longer used, in milliseconds. */
const maxAge = 30 * 86_400_000;

/**
 * Keeps an answer under a name. Without a disk nothing is kept.
 * @param {import('./parley.js').Parley} parley @param {string} name @param {unknown} value
 * @param {string | null} start `mirror.start` at the request.
 */
export async function keepAnswer({ store }, name, value, start) {
  try {
    await store.update([], () => [put('answers', { name, start, at: Date.now(), value })]);
    const all = await store.list('answers');
    if (all.length <= max) return;
    const oldest = all.sort((one, other) => one.at - other.at).slice(0, all.length - max);
    await store.update([], () => oldest.map((row) => ({ table: 'answers', key: row.name })));
  } catch {
    // The cache is closed, or the disk is full.
  }
}

/**
 * A kept answer; null if there is none of this start of the server.
 * @param {import('./parley.js').Parley} parley @param {string} name @returns {Promise<any>}
 */
export async function keptAnswer({ store, mirror }, name) {
  const row = await store.get('answers', name).catch(() => undefined);
  const isOfStart = row && (row.start === anyStart || row.start === mirror.start);
  return isOfStart && Date.now() - row.at < maxAge ? row.value : null;
}

/**
 * Shows a kept answer at once, and that of the server as soon as it is there, which is kept under the name. Without a kept one it waits for
 * the server, and fails with it. A visitor has no copy.
 * @template Answer
 * @param {import('./parley.js').Parley | null} parley @param {string} name @param {() => Promise<Answer>} load
 * @param {(answer: Answer) => void} show @param {(error: any) => void} failed After a kept answer, there is none of the server.
 */
export async function showAnswer(parley, name, load, show, failed) {
  const start = parley?.mirror.start;
  let isFresh = false;
  const loading = load().then((answer) => {
    isFresh = true;
    if (parley && start !== undefined) keepAnswer(parley, name, answer, start);
    show(answer);
  });
  loading.catch(() => {});
  const kept = parley ? await keptAnswer(parley, name) : null;
  if (!kept) return loading;
  if (!isFresh) show(kept);
  loading.catch(failed);
}
