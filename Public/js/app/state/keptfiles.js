// The facts of the newest files, kept for use offline.

import { keepAnswer, keptAnswer } from '../../parley/answers.js';

const NAME = 'files';
const MAX = 500;

let last = Promise.resolve();

/** Keeps facts, one call after the other. */
export function keepFiles(parley, data) {
  last = last.then(async () => {
    const { generation } = parley.mirror;
    const kept = await keptFiles(parley);
    for (const it of data) {
      kept.delete(it.id);
      kept.set(it.id, it);
    }
    // Facts of a file outlive a restart: no other file gets its id.
    await keepAnswer(parley, NAME, [...kept].slice(-MAX), { generation });
  });
  return last;
}

/** The kept facts by id. */
export async function keptFiles(parley) {
  return new Map((await keptAnswer(parley, NAME)) ?? []);
}
