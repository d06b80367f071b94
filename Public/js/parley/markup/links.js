// Safe addresses, and the parentheses of a link.

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
  for (let site = start; site < text.length; site += scalarLength(text[site])) {
    const byte = text[site];
    if (byte === code('/') || byte === code('?') || byte === code('#')) break;
    if (kind(scalarAt(text, site)) === WORD) isNamed = true;
    else if (byte === code(':')) return isNamed && isPort(text, site + 1);
    else if (byte !== code('.') && byte !== code('-') && byte !== code('_')) return false;
  }
  return isNamed;
}

/** @param {Uint8Array} text @param {number} start */
function isPort(text, start) {
  let site = start;
  while (isDigit(text[site])) site++;
  return site >= text.length || '/?#'.includes(String.fromCharCode(text[site]));
}

/**
 * Reads the parentheses of a link (CommonMark 0.31 §6.3, inline links), from behind the `(`. Every form
 * ends at a byte that begins another link's target, so that targets without an end don't read one another again and
 * again.
 * @param {Uint8Array} text @param {number} parenthesis @param {number} end
 * @returns {{ href: string, title: string | null, end: number } | null} Null without a target, or a safe one.
 */
export function readTarget(text, parenthesis, end) {
  let site = skipSpace(text, parenthesis + 1, end);
  const destination = readDestination(text, site, end);
  if (!destination) return null;
  site = skipSpace(text, destination.next, end);
  let title = null;
  if (site > destination.next && site < end && text[site] !== code(')')) {
    const quoted = readTitle(text, site, end);
    if (!quoted) return null;
    title = decode(unescape(text, quoted.start, quoted.next - 1));
    site = skipSpace(text, quoted.next, end);
  }
  if (site >= end || text[site] !== code(')')) return null;
  const href = safeAddress(unescape(text, destination.start, destination.end));
  return href === null ? null : { href, title, end: site + 1 };
}

/** @param {Uint8Array} text @param {number} site @param {number} end */
function skipSpace(text, site, end) {
  while (site < end && (text[site] === 0x20 || text[site] === 0x09 || text[site] === 0x0a)) site++;
  return site;
}

/** @param {Uint8Array} text @param {number} site @param {number} end */
const isEscape = (text, site, end) =>
  text[site] === code('\\') && site + 1 < end && asciiKind(text[site + 1]) === PUNCTUATION;

/** @param {Uint8Array} text @param {number} start @param {number} end */
function readDestination(text, start, end) {
  if (start >= end) return null;
  let site = start;
  if (text[site] === code('<')) {
    site++;
    while (site < end && text[site] !== code('>')) {
      if (text[site] === code('<') || text[site] === 0x0a) return null;
      site += isEscape(text, site, end) ? 2 : 1;
    }
    return site < end ? { start: start + 1, end: site, next: site + 1 } : null;
  }
  let depth = 0;
  while (site < end && text[site] > 0x20 && text[site] !== 0x7f) {
    if (text[site] === code('(')) {
      if (++depth > limits.parentheses) return null;
    } else if (text[site] === code(')')) {
      if (depth === 0) break;
      depth--;
    }
    site += isEscape(text, site, end) ? 2 : 1;
    if (site - start > limits.address) return null;
  }
  return site > start && depth === 0 ? { start, end: site, next: site } : null;
}

/**
 * A title in `"…"`, `'…'` or `(…)`.
 * @param {Uint8Array} text @param {number} start @param {number} end
 */
function readTitle(text, start, end) {
  const open = text[start];
  if (open !== code('"') && open !== code("'") && open !== code('(')) return null;
  const close = open === code('(') ? code(')') : open;
  let site = start + 1;
  while (site < end && text[site] !== close) {
    if (open === code('(') && text[site] === open) return null;
    site += isEscape(text, site, end) ? 2 : 1;
  }
  return site < end ? { start: start + 1, next: site + 1 } : null;
}

/**
 * Resolves backslashes and character references, so that the check sees the same address as a browser.
 * @param {Uint8Array} text @param {number} start @param {number} end
 */
function unescape(text, start, end) {
  /** @type {number[]} */
  const bytes = [];
  let site = start;
  while (site < end) {
    const reference = text[site] === code('&') ? readReference(text, site, end) : null;
    if (isEscape(text, site, end)) {
      bytes.push(text[site + 1]);
      site += 2;
    } else if (reference) {
      bytes.push(...encode(reference.character));
      site = reference.end;
    } else {
      bytes.push(text[site++]);
    }
  }
  return Uint8Array.from(bytes);
}
