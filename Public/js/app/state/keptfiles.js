// The facts of the newest files, kept for use offline.

import { anyStart, keepAnswer, keptAnswer } from '../../parley/answers.js';

const NAME = 'files';
const MAX = 500;

let last = Promise.resolve();

/** Keeps facts, one call after the other. */
export function keepFiles(parley, data) {
  last = last.then(async () => {
    const kept = await keptFiles(parley);
    for (const it of data) {
      kept.delete(it.id);
      kept.set(it.id, it);
    }
    // No other file gets the id of one.
    await keepAnswer(parley, NAME, [...kept].slice(-MAX), anyStart);
  });
  return last;
}

/** The kept facts by id. */
export async function keptFiles(parley) {
  return new Map((await keptAnswer(parley, NAME)) ?? []);
}
