// Timers and backoff.

/**
 * Resolves after some milliseconds, or at once when the signal says so; it is then for the caller to look at the
 * signal.
 * @param {number} milliseconds @param {AbortSignal} [signal] @returns {Promise<void>}
 */
export function wait(milliseconds, signal) {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, milliseconds);
    signal?.addEventListener('abort', end);
    return undefined;
  });
}

/**
 * Resolves as a promise does, or to undefined after some milliseconds.
 * @template T @param {number} milliseconds @param {Promise<T>} promise @returns {Promise<T | undefined>}
 */
export async function within(milliseconds, promise) {
  const timer = new AbortController();
  try {
    return await Promise.race([promise, wait(milliseconds, timer.signal).then(() => undefined)]);
  } finally {
    timer.abort();
  }
}

/**
 * Returns the delay before the next attempt: exponential backoff with jitter in the upper half, so that clients do not
 * reconnect in lockstep.
 * @param {number} tries Number of failed attempts.
 * @param {{ first?: number, max?: number, random?: () => number }} options
 */
export function backOff(tries, { first = 500, max = 30_000, random = Math.random } = {}) {
  const longest = Math.min(max, first * 2 ** Math.min(Math.max(tries - 1, 0), 20));
  return longest / 2 + (longest / 2) * random();
}

/** @param {unknown} error */
export const isAbort = (error) => error instanceof Error && error.name === 'AbortError';
