// Safe addresses, and the parentheses of a link or picture.

import {
  WORD, PUNCTUATION, asciiKind, code, decode, encode, isDigit, kind, limits, matches, readReference, scalarAt,
  scalarLength,
} from './scalars.js';

const unreserved = /[A-Za-z0-9!#$%&'()*+,\-./:;=?@_~]/;
const safeByte = new Uint8Array(256);
for (let byte = 0; byte < 0x80; byte++) safeByte[byte] = unreserved.test(String.fromCharCode(byte)) ? 1 : 0;

/**
 * The only way to an `href`. An address starts with `http://`, `https://` or `mailto:`, after everything that could
 * disguise another scheme has been decoded; the address is never truncated, repaired or guessed. Null if it is not safe.
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
 * No name or password before the host: `https://bank.example@evil.example` is misleading.
 * @param {Uint8Array} text @param {number} start
 */
function hasPlainHost(text, start) {
  let isNamed = false;
  for (let position = start; position < text.length; position += scalarLength(text[position])) {
    const byte = text[position];
    if (byte === code('/') || byte === code('?') || byte === code('#')) break;
    if (kind(scalarAt(text, position)) === WORD) isNamed = true;
    else if (byte === code(':')) return isNamed && isPort(text, position + 1);
    else if (byte !== code('.') && byte !== code('-') && byte !== code('_')) return false;
  }
  return isNamed;
}

/** @param {Uint8Array} text @param {number} start */
function isPort(text, start) {
  let position = start;
  while (isDigit(text[position])) position++;
  return position >= text.length || '/?#'.includes(String.fromCharCode(text[position]));
}

/**
 * Reads the parentheses of a link (CommonMark 0.31 §6.3, inline links), after the `(`. Every form ends at a byte that can
 * begin another target, so that unclosed targets take linear time.
 * @param {Uint8Array} text @param {number} parenthesis @param {number} end
 * @returns {{ href: string, title: string | null, end: number } | null} Null if there is no target or its address is unsafe.
 */
export function readTarget(text, parenthesis, end) {
  let position = skipSpace(text, parenthesis + 1, end);
  const destination = readDestination(text, position, end);
  if (!destination) return null;
  position = skipSpace(text, destination.next, end);
  let title = null;
  if (position > destination.next && position < end && text[position] !== code(')')) {
    const quoted = readTitle(text, position, end);
    if (!quoted) return null;
    title = decode(unescape(text, quoted.start, quoted.next - 1));
    position = skipSpace(text, quoted.next, end);
  }
  if (position >= end || text[position] !== code(')')) return null;
  const href = safeAddress(unescape(text, destination.start, destination.end));
  return href === null ? null : { href, title, end: position + 1 };
}

/**
 * Reads `(attachment:1)`: the number, and the end.
 * @param {Uint8Array} text @param {number} parenthesis
 */
export function readAttachment(text, parenthesis) {
  const start = parenthesis + '(attachment:'.length;
  let end = start;
  while (end < start + 2 && isDigit(text[end])) end++;
  if (end === start || text[start] === code('0') || text[end] !== code(')') || !matches(text, '(attachment:', parenthesis)) return null;
  return { number: Number(decode(text, start, end)), end: end + 1 };
}

/** @param {Uint8Array} text @param {number} position @param {number} end */
function skipSpace(text, position, end) {
  while (position < end && (text[position] === 0x20 || text[position] === 0x09 || text[position] === 0x0a)) position++;
  return position;
}

/** @param {Uint8Array} text @param {number} position @param {number} end */
const isEscape = (text, position, end) =>
  text[position] === code('\\') && position + 1 < end && asciiKind(text[position + 1]) === PUNCTUATION;

/** @param {Uint8Array} text @param {number} start @param {number} end */
function readDestination(text, start, end) {
  if (start >= end) return null;
  let position = start;
  if (text[position] === code('<')) {
    position++;
    while (position < end && text[position] !== code('>')) {
      if (text[position] === code('<') || text[position] === 0x0a) return null;
      position += isEscape(text, position, end) ? 2 : 1;
    }
    return position < end ? { start: start + 1, end: position, next: position + 1 } : null;
  }
  let depth = 0;
  while (position < end && text[position] > 0x20 && text[position] !== 0x7f) {
    if (text[position] === code('(')) {
      if (++depth > limits.parentheses) return null;
    } else if (text[position] === code(')')) {
      if (depth === 0) break;
      depth--;
    }
    position += isEscape(text, position, end) ? 2 : 1;
    if (position - start > limits.address) return null;
  }
  return position > start && depth === 0 ? { start, end: position, next: position } : null;
}

/**
 * A title in `"…"`, `'…'` or `(…)`.
 * @param {Uint8Array} text @param {number} start @param {number} end
 */
function readTitle(text, start, end) {
  const open = text[start];
  if (open !== code('"') && open !== code("'") && open !== code('(')) return null;
  const close = open === code('(') ? code(')') : open;
  let position = start + 1;
  while (position < end && text[position] !== close) {
    if (open === code('(') && text[position] === open) return null;
    position += isEscape(text, position, end) ? 2 : 1;
  }
  return position < end ? { start: start + 1, next: position + 1 } : null;
}

/**
 * Resolves backslashes and character references, so that the check sees the same address as a browser.
 * @param {Uint8Array} text @param {number} start @param {number} end
 */
function unescape(text, start, end) {
  /** @type {number[]} */
  const bytes = [];
  let position = start;
  while (position < end) {
    const reference = text[position] === code('&') ? readReference(text, position, end) : null;
    if (isEscape(text, position, end)) {
      bytes.push(text[position + 1]);
      position += 2;
    } else if (reference) {
      bytes.push(...encode(reference.character));
      position = reference.end;
    } else {
      bytes.push(text[position++]);
    }
  }
  return Uint8Array.from(bytes);
}
