// The cached ranges of a conversation. `seq` numbers its messages without a gap, so the cache is a list of ranges, and the
// messages between two ranges are missing.

/** @typedef {[from: number, to: number]} Stretch Both belong to it. */
/**
 * @typedef {object} History
 * @property {string} id The conversation's.
 * @property {Stretch[]} held Cached ranges, in order, not adjacent.
 * @property {'notStarted' | 'started' | 'complete'} state State of a full sync; `started` resumes.
 * @property {number} from First readable `seq`.
 * @property {number} checked The server's digest matched up to this `seq`.
 */

/** @param {string} id @returns {History} */
export const newHistory = (id) => ({ id, held: [], state: 'notStarted', from: 1, checked: 0 });

/** @param {Stretch[]} held @param {number} from @param {number} to @returns {Stretch[]} */
export function withStretch(held, from, to) {
  if (to < from) return held;
  const apart = held.filter((stretch) => stretch[1] < from - 1 || stretch[0] > to + 1);
  const joined = held.filter((stretch) => !apart.includes(stretch));
  /** @type {Stretch} */
  const whole = [Math.min(from, ...joined.map((stretch) => stretch[0])), Math.max(to, ...joined.map((s) => s[1]))];
  return [...apart, whole].sort((a, b) => a[0] - b[0]);
}

/** @param {Stretch[]} held @param {number} from @param {number} to @returns {Stretch[]} */
export const withoutStretch = (held, from, to) =>
  held.flatMap((stretch) => {
    /** @type {Stretch[]} */
    const left = [[stretch[0], Math.min(stretch[1], from - 1)], [Math.max(stretch[0], to + 1), stretch[1]]];
    return left.filter(([start, end]) => start <= end);
  });

/**
 * Returns the range that contains a `seq`.
 * @param {Stretch[]} held @param {number} seq
 */
export const stretchAt = (held, seq) => held.find(([from, to]) => from <= seq && seq <= to) ?? null;

/**
 * Returns the uncached parts of `from`…`to`.
 * @param {Stretch[]} held @param {number} from @param {number} to
 * @returns {Stretch[]}
 */
export function missing(held, from, to) {
  /** @type {Stretch[]} */
  let left = from <= to ? [[from, to]] : [];
  for (const stretch of held) left = withoutStretch(left, stretch[0], stretch[1]);
  return left;
}

/**
 * Returns the ranges that a list of messages forms. Neighbours are linked by `previous_message`; consecutive numbers
 * without a link start a new range.
 * @param {{ id: string, seq: number, previous_message: string | null }[]} messages In any order.
 */
export function stretchesOf(messages) {
  const inOrder = [...messages].sort((a, b) => a.seq - b.seq);
  /** @type {Stretch[]} */
  const stretches = [];
  let isSound = true;
  inOrder.forEach((message, index) => {
    const before = inOrder[index - 1];
    const follows = before?.seq === message.seq - 1;
    if (follows && before.id !== message.previous_message) isSound = false;
    if (follows && before.id === message.previous_message) stretches[stretches.length - 1][1] = message.seq;
    else if (before?.seq !== message.seq) stretches.push([message.seq, message.seq]);
  });
  return { stretches, isSound };
}
