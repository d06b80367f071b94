// Which addresses are safe, and what stands in the parentheses of a link.

import {
  WORD, PUNCTUATION, asciiKind, code, decode, encode, isDigit, kind, limits, matches, readReference, scalarAt,
  scalarLength,
} from './scalars.js';

const unreserved = /[A-Za-z0-9!#$%&'()*+,\-./:;=?@_~]/;
const safeByte = new Uint8Array(256);
for (let byte = 0; byte < 0x80; byte++) safeByte[byte] = unreserved.test(String.fromCharCode(byte)) ? 1 : 0;

/**
 * The only way to an `href`. An address starts with `http://`, `https://` or `mailto:`, after everything that could
 * disguise another scheme has been decoded; nothing is cut off, mended or guessed. Null when it is not safe.
 * @param {Uint8Array} address
 * @returns {string | null} The address as an `href` holds it.
 */
export function safeAddress(address) {
  if (!isSafe(address)) return null;
  let written = '';
  for (const byte of address) {
    written += safeByte[byte]
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`;
  }
  return written;
}

/** @param {Uint8Array} address */
function isSafe(address) {
  if (address.length > limits.address || address.some((byte) => byte < 0x20 || byte === 0x7f)) return false;
  if (matches(address, 'mailto:', 0)) return address.length > 'mailto:'.length;
  const scheme = ['http://', 'https://'].find((scheme) => matches(address, scheme, 0));
  return scheme !== undefined && hasPlainHost(address, scheme.length);
}

/**
 * No name or password before the host: `https://bank.example@evil.example` is not what it looks like.
 * @param {Uint8Array} text @param {number} start
 */
function hasPlainHost(text, start) {
  let isNamed = false;
  for (let place = start; place < text.length; place += scalarLength(text[place])) {
    const byte = text[place];
    if (byte === code('/') || byte === code('?') || byte === code('#')) break;
    if (kind(scalarAt(text, place)) === WORD) isNamed = true;
    else if (byte === code(':')) return isNamed && isPort(text, place + 1);
    else if (byte !== code('.') && byte !== code('-') && byte !== code('_')) return false;
  }
  return isNamed;
}

/** @param {Uint8Array} text @param {number} start */
function isPort(text, start) {
  let place = start;
  while (isDigit(text[place])) place++;
  return place >= text.length || '/?#'.includes(String.fromCharCode(text[place]));
}

/**
 * Reads what stands in the parentheses of a link (CommonMark 0.31 §6.3, inline links), from behind the `(`. Every form
 * ends at a byte that begins another link's target, so that targets without an end don't read one another again and
 * again.
 * @param {Uint8Array} text @param {number} parenthesis @param {number} end
 * @returns {{ href: string, title: string | null, end: number } | null} Null without a target, or a safe one.
 */
export function readTarget(text, parenthesis, end) {
  let place = skipSpace(text, parenthesis + 1, end);
  const destination = readDestination(text, place, end);
  if (!destination) return null;
  place = skipSpace(text, destination.next, end);
  let title = null;
  if (place > destination.next && place < end && text[place] !== code(')')) {
    const quoted = readTitle(text, place, end);
    if (!quoted) return null;
    title = decode(unescape(text, quoted.start, quoted.next - 1));
    place = skipSpace(text, quoted.next, end);
  }
  if (place >= end || text[place] !== code(')')) return null;
  const href = safeAddress(unescape(text, destination.start, destination.end));
  return href === null ? null : { href, title, end: place + 1 };
}

/** @param {Uint8Array} text @param {number} place @param {number} end */
function skipSpace(text, place, end) {
  while (place < end && (text[place] === 0x20 || text[place] === 0x09 || text[place] === 0x0a)) place++;
  return place;
}

/** @param {Uint8Array} text @param {number} place @param {number} end */
const isEscape = (text, place, end) =>
  text[place] === code('\\') && place + 1 < end && asciiKind(text[place + 1]) === PUNCTUATION;

/** @param {Uint8Array} text @param {number} start @param {number} end */
function readDestination(text, start, end) {
  if (start >= end) return null;
  let place = start;
  if (text[place] === code('<')) {
    place++;
    while (place < end && text[place] !== code('>')) {
      if (text[place] === code('<') || text[place] === 0x0a) return null;
      place += isEscape(text, place, end) ? 2 : 1;
    }
    return place < end ? { start: start + 1, end: place, next: place + 1 } : null;
  }
  let depth = 0;
  while (place < end && text[place] > 0x20 && text[place] !== 0x7f) {
    if (text[place] === code('(')) {
      if (++depth > limits.parentheses) return null;
    } else if (text[place] === code(')')) {
      if (depth === 0) break;
      depth--;
    }
    place += isEscape(text, place, end) ? 2 : 1;
    if (place - start > limits.address) return null;
  }
  return place > start && depth === 0 ? { start, end: place, next: place } : null;
}

/**
 * A title in `"…"`, `'…'` or `(…)`.
 * @param {Uint8Array} text @param {number} start @param {number} end
 */
function readTitle(text, start, end) {
  const open = text[start];
  if (open !== code('"') && open !== code("'") && open !== code('(')) return null;
  const close = open === code('(') ? code(')') : open;
  let place = start + 1;
  while (place < end && text[place] !== close) {
    if (open === code('(') && text[place] === open) return null;
    place += isEscape(text, place, end) ? 2 : 1;
  }
  return place < end ? { start: start + 1, next: place + 1 } : null;
}

/**
 * Without backslashes and character references. What a browser would see is what is judged.
 * @param {Uint8Array} text @param {number} start @param {number} end
 */
function unescape(text, start, end) {
  /** @type {number[]} */
  const bytes = [];
  let place = start;
  while (place < end) {
    const reference = text[place] === code('&') ? readReference(text, place, end) : null;
    if (isEscape(text, place, end)) {
      bytes.push(text[place + 1]);
      place += 2;
    } else if (reference) {
      bytes.push(...encode(reference.character));
      place = reference.end;
    } else {
      bytes.push(text[place++]);
    }
  }
  return Uint8Array.from(bytes);
}
