// Which stretches of a conversation are held. `seq` counts its messages without a hole, so what is held of it is a few
// stretches, and what lies between two of them is missing.

/** @typedef {[from: number, to: number]} Stretch Both belong to it. */
/**
 * @typedef {object} History
 * @property {string} id The conversation's.
 * @property {Stretch[]} held In order, apart from one another.
 * @property {'notStarted' | 'started' | 'complete'} state Of fetching all of it; `started` goes on where it was.
 * @property {number} from Where the person's history begins.
 * @property {number} checked Up to here the server's digest was the same.
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
 * The stretch that holds a message.
 * @param {Stretch[]} held @param {number} seq
 */
export const stretchAt = (held, seq) => held.find(([from, to]) => from <= seq && seq <= to) ?? null;

/**
 * What of `from` to `to` is missing.
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
 * The stretches that a list of messages makes: neighbours are those of which one names the other. Where the numbers
 * follow one another and the names don't, something is wrong, and the two don't belong together.
 * @param {{ id: string, seq: number, previous_message: string | null }[]} messages In any order.
 */
export function stretchesOf(messages) {
  const inOrder = [...messages].sort((a, b) => a.seq - b.seq);
  /** @type {Stretch[]} */
  const stretches = [];
  let isSound = true;
  inOrder.forEach((message, place) => {
    const before = inOrder[place - 1];
    const follows = before?.seq === message.seq - 1;
    if (follows && before.id !== message.previous_message) isSound = false;
    if (follows && before.id === message.previous_message) stretches[stretches.length - 1][1] = message.seq;
    else if (before?.seq !== message.seq) stretches.push([message.seq, message.seq]);
  });
  return { stretches, isSound };
}
