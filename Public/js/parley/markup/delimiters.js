// Pairs runs of `*`, `_`, `~~` and `||` as CommonMark's appendix does ("process emphasis"). A closing run looks back
// for its opener; where it finds none it remembers how far it looked, so that none of its kind looks there again.

import { PUNCTUATION, SPACE, code, isEastAsian, kind } from './scalars.js';

/** @typedef {'emphasis' | 'strong' | 'strike' | 'spoiler'} MarkKind */
/** @typedef {{ opens: boolean, closes: boolean }} Side */
/**
 * @typedef {object} Run
 * @property {number} byte
 * @property {number} length
 * @property {Side} side
 * @property {number} rest How many bytes are not yet used by a pair.
 * @property {number} previous
 * @property {number} next
 * @property {MarkKind[]} closing The innermost first.
 * @property {MarkKind[]} opening The outermost last; written from the end.
 */

const NONE = -1;

/**
 * CommonMark 0.31 §6.2, left- and right-flanking. Where words are written without spaces, a letter beside the run says
 * nothing about where a word ends, so punctuation inside the run doesn't forbid it: `**です。**と`.
 * @param {number} byte @param {number | null} before @param {number | null} after
 * @returns {Side}
 */
export function sideOf(byte, before, after) {
  const left = before === null ? SPACE : kind(before);
  const right = after === null ? SPACE : kind(after);
  const isFree = isEastAsian(before) || isEastAsian(after);
  const opens = right !== SPACE && (right !== PUNCTUATION || left === SPACE || left === PUNCTUATION || isFree);
  const closes = left !== SPACE && (left !== PUNCTUATION || right === SPACE || right === PUNCTUATION || isFree);
  if (byte !== code('_')) return { opens, closes };
  return { opens: opens && (!closes || left === PUNCTUATION), closes: closes && (!opens || right === PUNCTUATION) };
}

export class Delimiters {
  /** @type {Run[]} */
  runs = [];
  /** The last run that still waits. A link remembers it when it opens. */
  last = NONE;

  /** @param {number} byte @param {number} length @param {Side} side */
  append(byte, length, side) {
    const number = this.runs.length;
    this.runs.push({ byte, length, side, rest: length, previous: this.last, next: NONE, closing: [], opening: [] });
    if (this.last !== NONE) this.runs[this.last].next = number;
    this.last = number;
    return number;
  }

  /** Pairs all runs after `bottom` and forgets them. */
  pair(bottom = NONE) {
    const { runs } = this;
    if (this.last === bottom) return;
    const floors = new Int32Array(14).fill(bottom);
    let closer = this.last;
    while (runs[closer].previous !== bottom) closer = runs[closer].previous;
    while (closer !== NONE) {
      const run = runs[closer];
      if (!run.side.closes) {
        closer = run.next;
        continue;
      }
      const floor = floorKind(run);
      const opener = this.#openerOf(closer, Math.max(bottom, floors[floor]));
      if (opener !== NONE) {
        this.#join(opener, closer);
        if (runs[opener].rest === 0) this.#remove(opener);
        if (run.rest === 0) closer = this.#remove(closer);
      } else {
        floors[floor] = run.previous;
        closer = run.side.opens ? run.next : this.#remove(closer);
      }
    }
    this.last = bottom;
    if (bottom !== NONE) runs[bottom].next = NONE;
  }

  /** @param {number} closer @param {number} floor */
  #openerOf(closer, floor) {
    const { runs } = this;
    let opener = runs[closer].previous;
    while (opener > floor) {
      const run = runs[opener];
      if (run.byte === runs[closer].byte && run.side.opens && mayPair(run, runs[closer])) return opener;
      opener = run.previous;
    }
    return NONE;
  }

  /** @param {number} opener @param {number} closer */
  #join(opener, closer) {
    const [open, close] = [this.runs[opener], this.runs[closer]];
    const isDouble = open.rest >= 2 && close.rest >= 2;
    /** @type {MarkKind} */
    const mark =
      close.byte === code('~') ? 'strike' : close.byte === code('|') ? 'spoiler' : isDouble ? 'strong' : 'emphasis';
    open.opening.push(mark);
    close.closing.push(mark);
    open.rest -= isDouble ? 2 : 1;
    close.rest -= isDouble ? 2 : 1;
    // Unmatched delimiters between the pair stay text.
    open.next = closer;
    close.previous = opener;
  }

  /**
   * Takes a run off the list. Returns the one after it.
   * @param {number} run
   */
  #remove(run) {
    const { previous, next } = this.runs[run];
    if (previous !== NONE) this.runs[previous].next = next;
    if (next !== NONE) this.runs[next].previous = previous;
    return next;
  }
}

// CommonMark 0.31 §6.2, rules 9 and 10.
/** @param {Run} opener @param {Run} closer */
function mayPair(opener, closer) {
  if (!opener.side.closes && !closer.side.opens) return true;
  return (opener.length + closer.length) % 3 !== 0 || (opener.length % 3 === 0 && closer.length % 3 === 0);
}

/**
 * Runs that find the same openers share a floor.
 * @param {Run} run
 */
function floorKind(run) {
  if (run.byte === code('~')) return 12;
  if (run.byte === code('|')) return 13;
  const kind = (run.length % 3) + (run.side.opens ? 3 : 0);
  return run.byte === code('*') ? kind : kind + 6;
}
