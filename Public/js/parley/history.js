// The cached ranges of a conversation. `seq` numbers its messages without a gap, so the cache is a list of ranges, and the
// messages between two ranges are missing.

/** @typedef {[from: number, to: number]} SeqRange Both belong to it. */
/**
 * @typedef {object} History
 * @property {string} id The conversation's.
 * @property {SeqRange[]} held Cached ranges, in order, not adjacent.
 * @property {'notStarted' | 'started' | 'complete'} state State of a full sync; `started` resumes.
 * @property {number} from First readable `seq`.
 * @property {number} checked The server's digest matched up to this `seq`.
 * @property {number} [latest] The newest `seq` by the last page: the end while the conversation itself is not cached.
 * @property {number} [ahead] The newest event that a cached page reflects. The cursor may be before it.
 */

/** @param {string} id @returns {History} */
export const newHistory = (id) => ({ id, held: [], state: 'notStarted', from: 1, checked: 0 });

/** @param {SeqRange[]} held @param {number} from @param {number} to @returns {SeqRange[]} */
export function withRange(held, from, to) {
  if (to < from) return held;
  const apart = held.filter((range) => range[1] < from - 1 || range[0] > to + 1);
  const joined = held.filter((range) => !apart.includes(range));
  /** @type {SeqRange} */
  const whole = [Math.min(from, ...joined.map((range) => range[0])), Math.max(to, ...joined.map((s) => s[1]))];
  return [...apart, whole].sort((a, b) => a[0] - b[0]);
}

/** @param {SeqRange[]} held @param {number} from @param {number} to @returns {SeqRange[]} */
export const withoutRange = (held, from, to) =>
  held.flatMap((range) => {
    /** @type {SeqRange[]} */
    const left = [[range[0], Math.min(range[1], from - 1)], [Math.max(range[0], to + 1), range[1]]];
    return left.filter(([start, end]) => start <= end);
  });

/**
 * Returns the range that contains a `seq`.
 * @param {SeqRange[]} held @param {number} seq
 */
export const rangeAt = (held, seq) => held.find(([from, to]) => from <= seq && seq <= to) ?? null;

/**
 * Returns the uncached parts of `from`…`to`.
 * @param {SeqRange[]} held @param {number} from @param {number} to
 * @returns {SeqRange[]}
 */
export function missing(held, from, to) {
  /** @type {SeqRange[]} */
  let left = from <= to ? [[from, to]] : [];
  for (const range of held) left = withoutRange(left, range[0], range[1]);
  return left;
}

/**
 * Returns the ranges that a list of messages forms. Neighbours are linked by `previous_message`; consecutive numbers
 * without a link start a new range.
 * @param {{ id: string, seq: number, previous_message: string | null }[]} messages In any order.
 */
export function rangesOf(messages) {
  const inOrder = [...messages].sort((a, b) => a.seq - b.seq);
  /** @type {SeqRange[]} */
  const ranges = [];
  let isSound = true;
  inOrder.forEach((message, index) => {
    const before = inOrder[index - 1];
    const follows = before?.seq === message.seq - 1;
    if (follows && before.id !== message.previous_message) isSound = false;
    if (follows && before.id === message.previous_message) ranges[ranges.length - 1][1] = message.seq;
    else if (before?.seq !== message.seq) ranges.push([message.seq, message.seq]);
  });
  return { ranges, isSound };
}
