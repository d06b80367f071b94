// Reads the text of one paragraph, heading or table cell, in three steps that are each linear in its length:
//
// 1. A scan from left to right cuts it into *pieces*. Code, links, mentions and hashtags are recognised here, so their
//    content has no markup. A run of `*`, `_`, `~~` or `||` becomes a piece and waits on the delimiter list.
// 2. Delimiters are paired (`delimiters.js`): at the end of a link's text for those inside it, at the end for all.
// 3. The pieces are written out as nodes of the tree.

import { Delimiters, sideOf } from './delimiters.js';
import { readAttachment, readTarget, safeAddress } from './links.js';
import {
  PUNCTUATION, SPACE, WORD, asciiKind, code, decode, encode, endsWord, isBlank, isJoiner, isLetter, kind, limits,
  matches, readReference, scalarAt, scalarBefore, scalarLength, startsWord,
} from './scalars.js';

/**
 * @typedef {object} Piece
 * @property {'text' | 'character' | 'lineBreak' | 'codeSpan' | 'delimiter' | 'linkStart' | 'linkEnd' | 'pictureStart' | 'pictureEnd'
 *   | 'bareLink' | 'mention' | 'hashtag' | 'nothing'} kind `nothing` was a link, until one around it closed.
 * @property {number} start
 * @property {number} end
 * @property {string} [character]
 * @property {number} [run] A delimiter's index in its list.
 * @property {{ href: string, title: string | null }} [link]
 * @property {{ start: number, end: number }} [shown] The visible part of a code span or bare link.
 * @property {number} [number] The number of the attachment that a picture shows.
 * @property {number} [close] The piece that ends a link or picture.
 */
/** @typedef {{ piece: number, delimiter: number, isPicture: boolean }} Bracket */
/** @typedef {import('../markup.js').Node} Node */
/** @typedef {{ kind: 'mention' | 'hashtag' | 'link', start: number, end: number, value: string }} Found By positions. */

// Bytes that may begin markup. `:` may end a scheme, `w` begin `www.`, `@` stand in an address.
const marks = new Uint8Array(256);
for (const mark of '\n\\`&<*_~|[]!@#:wW') marks[code(mark)] = 1;

/**
 * @param {Uint8Array} text @param {number} start @param {number} end @param {boolean} isCell
 * @param {Found[]} found Receives the entities of the text.
 * @returns {Node[]}
 */
export function parseInlines(text, start, end, isCell, found) {
  while (start < end && isBlank(text[start])) start++;
  while (start < end && isBlank(text[end - 1])) end--;
  return new Scan(text, start, end, isCell).run(found);
}

class Scan {
  /** @param {Uint8Array} text @param {number} start @param {number} end @param {boolean} isCell */
  constructor(text, start, end, isCell) {
    this.text = text;
    this.start = start;
    this.end = end;
    this.isCell = isCell;
    this.position = start;
    /** The start of the plain text before the scan position. */
    this.plain = start;
    /** @type {Piece[]} */
    this.pieces = [];
    this.delimiters = new Delimiters();
    /**
     * The `[` and `![` that wait for their `]`.
     * @type {Bracket[]}
     */
    this.brackets = [];
    /** Brackets below this index open no link: links do not nest, and a later link has closed. */
    this.closedBelow = 0;
    /**
     * Entities in order. A link removes the entities inside it.
     * @type {number[]}
     */
    this.named = [];
    /**
     * The last position of a run of backticks, by its length; known once a search has failed.
     * @type {number[] | null}
     */
    this.lastBackticks = null;
  }

  /** @param {Found[]} found */
  run(found) {
    const { text, end } = this;
    for (;;) {
      while (this.position < end && !marks[text[this.position]]) this.position++;
      if (this.position >= end) break;
      this.#mark();
    }
    this.#flush(end);
    this.delimiters.pair();
    return this.#write(found);
  }

  /** Parses the markup at the scan position, or skips the byte. */
  #mark() {
    switch (String.fromCharCode(this.text[this.position])) {
      case '\n': return this.#lineBreak();
      case '\\': return this.#escape();
      case '`': return this.#codeSpan();
      case '&': return this.#character();
      case '<': return this.#angleLink();
      case '[': return this.#bracket(false);
      case '!': return this.#picture();
      case ']': return this.#closeBracket();
      case ':': return this.#webAddress();
      case 'w': case 'W': return this.#hostAddress();
      case '@': return this.#mailAddressOrMention();
      case '#': return this.#hashtag();
      default: return this.#delimiterRun();
    }
  }

  /**
   * Ends the pending plain text at `end`, and goes on from there.
   * @param {number} end
   */
  #flush(end) {
    if (end > this.plain) this.pieces.push({ kind: 'text', start: this.plain, end });
    this.plain = this.position = end;
  }

  /**
   * Puts a piece after the plain text before it, and goes on behind it.
   * @param {Piece} piece
   */
  #append(piece) {
    this.#flush(piece.start);
    this.pieces.push(piece);
    this.plain = this.position = piece.end;
  }

  /**
   * The end of the run of the byte at `start`.
   * @param {number} start
   */
  #runEnd(start) {
    let end = start + 1;
    while (end < this.end && this.text[end] === this.text[start]) end++;
    return end;
  }

  /** Every line end of the text is one of the paragraph. Spaces around it are not shown. */
  #lineBreak() {
    const position = this.position;
    let end = position;
    while (end > this.plain && isBlank(this.text[end - 1])) end--;
    this.#flush(end);
    this.plain = position;
    this.#append({ kind: 'lineBreak', start: position, end: position + 1 });
  }

  // CommonMark 0.31 §2.4: ASCII punctuation may be escaped, and a backslash before a line end is a break like any
  // other.
  #escape() {
    const next = this.position + 1;
    const isBreak = this.text[next] === 0x0a;
    if (next >= this.end || !(isBreak || asciiKind(this.text[next]) === PUNCTUATION)) {
      this.position = next;
      return;
    }
    this.#flush(this.position);
    this.plain = next;
    this.position = isBreak ? next : next + 1;
  }

  #codeSpan() {
    const start = this.position;
    const inner = this.#runEnd(start);
    const close = this.#closingBackticks(inner - start, inner);
    if (close === null) {
      this.position = inner;
      return;
    }
    this.#append({ kind: 'codeSpan', start, end: close + inner - start, shown: this.#trimmedCode(inner, close) });
  }

  /**
   * The run that closes a code span. A failed search records the last run of each length, so that later searches fail
   * without a scan.
   * @param {number} length @param {number} start
   */
  #closingBackticks(length, start) {
    if (length > limits.backticks) return null;
    if (this.lastBackticks && this.lastBackticks[length] < start) return null;
    const seen = this.lastBackticks ?? new Array(limits.backticks + 1).fill(-1);
    let position = start;
    while (position < this.end) {
      if (this.text[position] !== code('`')) {
        position++;
        continue;
      }
      const run = position;
      position = this.#runEnd(run);
      if (position - run === length) return run;
      if (position - run <= limits.backticks) seen[position - run] = run;
    }
    this.lastBackticks = seen;
    return null;
  }

  // CommonMark 0.31 §6.1: a space at each end is removed, unless the content is all spaces. A line end counts as one.
  /** @param {number} start @param {number} end */
  #trimmedCode(start, end) {
    const isSpace = (/** @type {number} */ byte) => byte === 0x20 || byte === 0x0a;
    const isTrimmed =
      end - start >= 2 && isSpace(this.text[start]) && isSpace(this.text[end - 1]) &&
      !this.text.subarray(start, end).every(isSpace);
    return isTrimmed ? { start: start + 1, end: end - 1 } : { start, end };
  }

  #character() {
    const reference = readReference(this.text, this.position, this.end);
    if (!reference) {
      this.position++;
      return;
    }
    this.#append({ kind: 'character', start: this.position, end: reference.end, character: reference.character });
  }

  #delimiterRun() {
    const { text, position: start } = this;
    const end = this.#runEnd(start);
    const side = sideOf(
      text[start],
      start > this.start ? scalarBefore(text, start) : null,
      end < this.end ? scalarAt(text, end) : null,
    );
    const isAnyLength = text[start] === code('*') || text[start] === code('_');
    if (!(side.opens || side.closes) || !(isAnyLength || end - start === 2)) {
      this.position = end;
      return;
    }
    this.#flush(start);
    const run = this.delimiters.append(text[start], end - start, side);
    this.#append({ kind: 'delimiter', start, end, run });
  }

  // `[text](address "title")` and `![text](attachment:1)`. Reference links are not supported.

  /** @param {boolean} isPicture */
  #bracket(isPicture) {
    const start = this.position;
    this.#flush(start);
    this.brackets.push({ piece: this.pieces.length, delimiter: this.delimiters.last, isPicture });
    this.#append({ kind: 'text', start, end: start + (isPicture ? 2 : 1) });
  }

  #picture() {
    if (this.position + 1 < this.end && this.text[this.position + 1] === code('[')) this.#bracket(true);
    else this.position++;
  }

  #closeBracket() {
    const { text, position } = this;
    this.position++;
    const bracket = this.#popBracket();
    if (!bracket || position + 1 >= this.end || text[position + 1] !== code('(')) return;
    const opening = this.pieces[bracket.piece];
    const placed = bracket.isPicture ? readAttachment(text, position + 1) : null;
    // A link without visible text is text.
    if (!placed && text.subarray(opening.end, position).every((byte) => asciiKind(byte) === SPACE)) return;
    const target = placed ?? readTarget(text, position + 1, this.end);
    if (!target || target.end > this.end) return;
    this.#flush(position);
    this.delimiters.pair(bracket.delimiter);
    while (this.named.length > 0 && this.named[this.named.length - 1] > bracket.piece) {
      this.#unname(/** @type {number} */ (this.named.pop()));
    }
    if ('number' in target) Object.assign(opening, { kind: 'pictureStart', number: target.number });
    else Object.assign(opening, { kind: 'linkStart', link: target });
    opening.close = this.pieces.length;
    this.named.push(bracket.piece);
    if (!bracket.isPicture) this.closedBelow = this.brackets.length;
    this.#append({ kind: placed ? 'pictureEnd' : 'linkEnd', start: position, end: target.end });
  }

  /** The bracket that a `]` closes, if it may become a link. */
  #popBracket() {
    const bracket = this.brackets.pop();
    if (!bracket) return null;
    const isOpen = bracket.isPicture || this.brackets.length >= this.closedBelow;
    this.closedBelow = Math.min(this.closedBelow, this.brackets.length);
    return isOpen ? bracket : null;
  }

  /**
   * Turns a link, picture, mention or hashtag inside the text of a link into plain text.
   * @param {number} number
   */
  #unname(number) {
    const piece = this.pieces[number];
    if (piece.close) {
      this.pieces[/** @type {number} */ (piece.close)].kind = 'nothing';
      piece.kind = 'nothing';
    } else if (piece.kind === 'bareLink' && piece.shown) {
      this.pieces[number] = { kind: 'text', ...piece.shown };
    } else {
      piece.kind = 'text';
    }
  }

  // Addresses that stand in the text as they are: `https://…`, `www.…`, `ada@example.org`, and any of them in `<…>`.

  /** At a `:`. The scheme is the pending plain text before it. */
  #webAddress() {
    const colon = this.position++;
    const { text } = this;
    if (colon + 3 >= this.end || text[colon + 1] !== code('/') || text[colon + 2] !== code('/')) return;
    const start = this.#schemeStart(colon);
    if (start !== null) this.#bareLink(start, this.#addressEnd(colon + 3), '');
  }

  /** @param {number} colon */
  #schemeStart(colon) {
    for (const scheme of ['https', 'http']) {
      const start = colon - scheme.length;
      if (start < this.plain || !matches(this.text, scheme, start)) continue;
      const isFree = start === this.start || !mayStandInScheme(this.text[start - 1]);
      return isFree ? start : null;
    }
    return null;
  }

  /** At a `w`. A host that starts with `www.` and has another dot needs no scheme. */
  #hostAddress() {
    const start = this.position++;
    const { text, end } = this;
    if (start + 4 >= end || !matches(text, 'www.', start) || !startsWord(text, start, this.start)) return;
    let dot = start + 4;
    while (dot < end && (asciiKind(text[dot]) === WORD || text[dot] === code('-') || text[dot] >= 0x80)) dot++;
    if (dot === start + 4 || dot + 1 >= end || text[dot] !== code('.')) return;
    if (kind(scalarAt(text, dot + 1)) === WORD) this.#bareLink(start, this.#addressEnd(dot), 'https://');
  }

  /**
   * Returns the end of an address: before invalid characters and before trailing punctuation of the sentence.
   * @param {number} start
   */
  #addressEnd(start) {
    const { text } = this;
    let end = start;
    let parentheses = 0;
    while (end < this.end && mayStandInAddress(scalarAt(text, end))) {
      if (text[end] === code('(')) parentheses++;
      if (text[end] === code(')')) parentheses--;
      end += scalarLength(text[end]);
    }
    for (; end > start; end--) {
      if (text[end - 1] === code(')') && parentheses < 0) parentheses++;
      else if (!"?!.,:;*_~'".includes(String.fromCharCode(text[end - 1]))) break;
    }
    return end;
  }

  /**
   * Appends the link, or leaves the range as text when the address is not safe.
   * @param {number} start @param {number} end @param {string} prefix
   */
  #bareLink(start, end, prefix) {
    const isShort = end - start <= limits.address;
    const href = isShort ? safeAddress(joined(prefix, this.text.subarray(start, end))) : null;
    if (href === null) this.position = Math.max(this.position, end);
    else this.#link(href, start, end, { start, end });
  }

  /** @param {string} href @param {number} start @param {number} end @param {{ start: number, end: number }} shown */
  #link(href, start, end, shown) {
    this.#append({ kind: 'bareLink', start, end, shown, link: { href, title: null } });
    this.named.push(this.pieces.length - 1);
  }

  // CommonMark 0.31 §6.5. The content is not decoded, and an unsafe scheme leaves it text.
  #angleLink() {
    const { text, position: start } = this;
    let end = start + 1;
    while (end < this.end && text[end] > 0x20 && text[end] !== code('<') && text[end] !== code('>')) end++;
    this.position++;
    if (end >= this.end || text[end] !== code('>') || end - start > limits.address) return;
    const written = text.subarray(start + 1, end);
    const at = written.indexOf(code('@'));
    const isMail =
      at > 0 && written.subarray(0, at).every(mayStandInMailbox) && this.#domainEnd(start + 2 + at, end) === end;
    const href = safeAddress(joined(isMail ? 'mailto:' : '', written));
    if (href !== null) this.#link(href, start, end + 1, { start: start + 1, end });
  }

  /** At an `@`: the preceding character decides. */
  #mailAddressOrMention() {
    const range = this.#mailAddress(this.position);
    if (!range) return this.#mention();
    const href = safeAddress(joined('mailto:', this.text.subarray(range.start, range.end)));
    if (href === null) {
      this.position = range.end;
      return undefined;
    }
    const scheme = range.start - 'mailto:'.length;
    const start = scheme >= this.plain && matches(this.text, 'mailto:', scheme) ? scheme : range.start;
    return this.#link(href, start, range.end, { start, end: range.end });
  }

  /** @param {number} sign */
  #mailAddress(sign) {
    const { text } = this;
    let start = sign;
    while (start > this.plain && sign - start <= limits.name && mayStandInMailbox(text[start - 1])) start--;
    if (sign - start > limits.name) return null;
    while (start < sign && asciiKind(text[start]) !== WORD) start++;
    if (start >= sign || !startsWord(text, start, this.start)) return null;
    const end = this.#domainEnd(sign + 1, this.end);
    return end === null ? null : { start, end };
  }

  /**
   * The end of a domain of at least two labels.
   * @param {number} start @param {number} limit
   */
  #domainEnd(start, limit) {
    const { text } = this;
    let labels = 0;
    let position = start;
    let end = start;
    while (position < limit && asciiKind(text[position]) === WORD) {
      while (position < limit && (asciiKind(text[position]) === WORD || text[position] === code('-'))) {
        position++;
        if (text[position - 1] !== code('-')) end = position;
      }
      labels++;
      if (end !== position || position >= limit || text[position] !== code('.')) break;
      position++;
    }
    return labels > 1 && endsWord(text, end, limit) ? end : null;
  }

  // `@name` and `#tag`. A user of that name need not exist.

  /** Letters and digits of ASCII, in parts that one `.`, `_` or `-` joins: `ada.lovelace`. */
  #mention() {
    const sign = this.position++;
    const { text } = this;
    if (!startsWord(text, sign, this.start)) return;
    let end = sign + 1;
    for (let position = end; position < this.end; position++) {
      if (asciiKind(text[position]) === WORD) end = position + 1;
      else if (end !== position || position === sign + 1 || !'._-'.includes(String.fromCharCode(text[position]))) break;
    }
    this.#name('mention', sign, end, limits.name);
  }

  /**
   * Letters, marks and digits of every script and `_`, with a letter among them and no `_` at the end. A joiner stands
   * between two of them, as Persian and the scripts of India need it.
   */
  #hashtag() {
    const sign = this.position++;
    const { text } = this;
    if (!startsWord(text, sign, this.start)) return;
    let position = sign + 1;
    let end = position;
    let hasLetter = false;
    while (position < this.end) {
      const scalar = scalarAt(text, position);
      const isPart = kind(scalar) === WORD;
      if (!isPart && scalar !== code('_') && !(isJoiner(scalar) && end === position)) break;
      hasLetter ||= isLetter(scalar);
      position += scalarLength(text[position]);
      if (isPart) end = position;
    }
    this.position = end;
    if (hasLetter) this.#name('hashtag', sign, end, limits.hashtag);
  }

  /** @param {'mention' | 'hashtag'} kind @param {number} start @param {number} end @param {number} limit */
  #name(kind, start, end, limit) {
    let length = -1; // Scalars, without the sign.
    for (let position = start; position < end; position++) if ((this.text[position] & 0xc0) !== 0x80) length++;
    if (length < 1 || length > limit || !endsWord(this.text, end, this.end)) return;
    this.#append({ kind, start, end });
    this.named.push(this.pieces.length - 1);
  }

  /**
   * The third step: pieces become nodes.
   * @param {Found[]} found
   */
  #write(found) {
    /** @type {Node[]} */
    const nodes = [];
    const around = [nodes];
    const leaf = (/** @type {Node} */ node) => around[around.length - 1].push(node);
    const enter = (/** @type {Node & { children: Node[] }} */ node) => {
      leaf(node);
      around.push(node.children);
    };
    const name = (/** @type {Found['kind']} */ kind, /** @type {Piece} */ piece, /** @type {number} */ end) =>
      found.push({
        kind, start: piece.start, end, value: piece.link?.href ?? decode(this.text, piece.start + 1, end),
      });
    let depth = 0;
    for (const piece of this.pieces) {
      const { start, end } = piece.shown ?? piece;
      switch (piece.kind) {
        case 'text':
          leaf({ type: 'text', text: decode(this.text, start, end) });
          break;
        case 'character':
          leaf({ type: 'text', text: piece.character ?? '' });
          break;
        case 'lineBreak':
          leaf({ type: 'break' });
          break;
        case 'codeSpan':
          leaf({ type: 'code', text: this.#shownCode(start, end) });
          break;
        case 'delimiter': {
          // A run closes with its first bytes and opens with its last ones. The rest between is text.
          const run = this.delimiters.runs[piece.run ?? 0];
          for (let left = run.closing.length; left > 0; left--) if (depth-- <= limits.marks) around.pop();
          if (run.rest > 0) leaf({ type: 'text', text: decode(this.text, start, start + run.rest) });
          for (const mark of [...run.opening].reverse()) {
            if (++depth <= limits.marks) enter({ type: mark, children: [] });
          }
          break;
        }
        case 'linkStart':
          enter({ type: 'link', href: '', title: null, ...piece.link, children: [] });
          name('link', piece, this.pieces[piece.close ?? 0].end);
          break;
        case 'pictureStart':
          enter({ type: 'picture', number: piece.number ?? 0, children: [] });
          break;
        case 'linkEnd':
        case 'pictureEnd':
          around.pop();
          break;
        case 'bareLink':
          leaf({
            type: 'link', href: piece.link?.href ?? '', title: null,
            children: [{ type: 'text', text: decode(this.text, start, end) }],
          });
          name('link', piece, piece.end);
          break;
        case 'mention':
        case 'hashtag':
          leaf({ type: piece.kind, text: decode(this.text, start, end) });
          name(piece.kind, piece, end);
          break;
        case 'nothing':
      }
    }
    return nodes;
  }

  /**
   * The text of a code span in one line, and in a table without the backslash that keeps a `|` in its cell.
   * @param {number} start @param {number} end
   */
  #shownCode(start, end) {
    const shown = decode(this.text, start, end).replaceAll('\n', ' ');
    return this.isCell ? shown.replaceAll('\\|', '|') : shown;
  }
}

/** @param {number} byte */
const mayStandInScheme = (byte) => asciiKind(byte) === WORD || '+-.'.includes(String.fromCharCode(byte));

/** @param {number} byte */
const mayStandInMailbox = (byte) => asciiKind(byte) === WORD || '._+-'.includes(String.fromCharCode(byte));

// RFC 3986 §2, without brackets; and letters and digits of every script, as people paste them.
/** @param {number} scalar */
function mayStandInAddress(scalar) {
  if (scalar >= 0x80) return kind(scalar) === WORD;
  return scalar > 0x20 && scalar < 0x7f && !'"<>[]\\^`{|}'.includes(String.fromCharCode(scalar));
}

/** @param {string} prefix @param {Uint8Array} bytes */
function joined(prefix, bytes) {
  if (!prefix) return bytes;
  const both = new Uint8Array(prefix.length + bytes.length);
  both.set(encode(prefix));
  both.set(bytes, prefix.length);
  return both;
}
