// Classes of bytes and scalars. The text is UTF-8 in a `Uint8Array`, as on the server, so that limits in bytes cut at the
// same position on both sides.

/** @typedef {{ start: number, end: number }} Range Positions in a text, in bytes. */

export const limits = {
  containers: 16,
  marks: 16,
  backticks: 32,
  address: 2048,
  parentheses: 8,
  attachment: 99,
  name: 64,
  hashtag: 64,
  language: 32,
};

export const OTHER = 0;
export const SPACE = 1;
export const PUNCTUATION = 2;
export const WORD = 3;

/**
 * The code of an ASCII character.
 * @param {string} character
 */
export const code = (character) => character.charCodeAt(0);

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** @param {string} text */
export const encode = (text) => encoder.encode(text);

/** @param {Uint8Array} bytes @param {number} [start] @param {number} [end] */
export function decode(bytes, start = 0, end = bytes.length) {
  // Most pieces are a few ASCII letters, for which calling the decoder takes longer than the rest.
  if (end - start > 64) return decoder.decode(bytes.subarray(start, end));
  let text = '';
  for (let position = start; position < end; position++) {
    if (bytes[position] >= 0x80) return decoder.decode(bytes.subarray(start, end));
    text += String.fromCharCode(bytes[position]);
  }
  return text;
}

const asciiKinds = new Uint8Array(256);
for (let byte = 0x21; byte < 0x7f; byte++) asciiKinds[byte] = PUNCTUATION;
for (let byte = 0x30; byte < 0x3a; byte++) asciiKinds[byte] = WORD;
for (let byte = 0x61; byte < 0x7b; byte++) asciiKinds[byte] = asciiKinds[byte - 0x20] = WORD;
for (const byte of [0x09, 0x0a, 0x0c, 0x0d, 0x20]) asciiKinds[byte] = SPACE;

/** @param {number | undefined} byte */
export const asciiKind = (byte) => (byte === undefined ? OTHER : asciiKinds[byte]);

/**
 * Space or tab.
 * @param {number | undefined} byte
 */
export const isBlank = (byte) => byte === 0x20 || byte === 0x09;

/** @param {number | undefined} byte */
export const isDigit = (byte) => byte !== undefined && byte >= 0x30 && byte <= 0x39;

// CommonMark 0.31 §2.1: Unicode whitespace is Zs, Unicode punctuation is P and S.
const wordPattern = /[\p{L}\p{M}\p{N}]/u;
const punctuationPattern = /[\p{P}\p{S}]/u;
const letterPattern = /\p{L}/u;

/** @param {number} scalar */
export function kind(scalar) {
  if (scalar < 0x80) return asciiKinds[scalar];
  const character = String.fromCodePoint(scalar);
  if (wordPattern.test(character)) return WORD;
  if (punctuationPattern.test(character)) return PUNCTUATION;
  return /\p{Zs}/u.test(character) ? SPACE : OTHER;
}

/** @param {number} scalar */
export const isLetter = (scalar) => letterPattern.test(String.fromCodePoint(scalar));

/** @param {number} scalar */
export const isJoiner = (scalar) => scalar === 0x200c || scalar === 0x200d;

/**
 * Whether a scalar belongs to a script that is written without spaces.
 * @param {number | null} scalar
 */
export const isEastAsian = (scalar) =>
  scalar !== null &&
  ((scalar >= 0x2e80 && scalar <= 0xa4cf) ||
    (scalar >= 0xac00 && scalar <= 0xd7ff) ||
    (scalar >= 0xf900 && scalar <= 0xfaff) ||
    (scalar >= 0xfe30 && scalar <= 0xfe4f) ||
    (scalar >= 0xff00 && scalar <= 0xffef) ||
    (scalar >= 0x20000 && scalar <= 0x3ffff));

/**
 * The number of bytes of the scalar that starts with this one.
 * @param {number} byte
 */
export const scalarLength = (byte) => (byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4);

/**
 * The scalar that starts at `position`.
 * @param {Uint8Array} text @param {number} position
 */
export function scalarAt(text, position) {
  const first = text[position];
  const length = scalarLength(first);
  let value = length === 1 ? first : first & (0x7f >> length);
  for (let offset = 1; offset < length && position + offset < text.length; offset++) {
    value = (value << 6) | (text[position + offset] & 0x3f);
  }
  return value;
}

/**
 * The scalar that ends before `position`, which is greater than 0.
 * @param {Uint8Array} text @param {number} position
 */
export function scalarBefore(text, position) {
  let start = position - 1;
  while (start > 0 && (text[start] & 0xc0) === 0x80) start--;
  return scalarAt(text, start);
}

/** @param {number} scalar */
const isWordHere = (scalar) => kind(scalar) === WORD && !isEastAsian(scalar);

/**
 * Whether a name, a tag or an address may start here: not inside a word, and not behind a sign that takes it for its
 * own.
 * @param {Uint8Array} text @param {number} position @param {number} start
 */
export function startsWord(text, position, start) {
  if (position <= start) return true;
  if ('@#&/'.includes(String.fromCharCode(text[position - 1]))) return false;
  return !isWordHere(scalarBefore(text, position));
}

/** @param {Uint8Array} text @param {number} position @param {number} end */
export function endsWord(text, position, end) {
  if (position >= end) return true;
  return text[position] !== code('@') && !isWordHere(scalarAt(text, position));
}

/**
 * Whether the lower-case word stands here, in any case.
 * @param {Uint8Array} text @param {string} word @param {number} position
 */
export function matches(text, word, position) {
  if (position < 0 || position + word.length > text.length) return false;
  for (let offset = 0; offset < word.length; offset++) {
    const own = text[position + offset];
    const lower = own >= 0x41 && own <= 0x5a ? own | 0x20 : own;
    if (lower !== word.charCodeAt(offset)) return false;
  }
  return true;
}

const references = new Map(
  Object.entries({
    amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: '\u{a0}', shy: '\u{ad}', copy: '©', reg: '®', trade: '™',
    deg: '°', middot: '·', bull: '•', times: '×', hellip: '…', ndash: '–', mdash: '—', laquo: '«', raquo: '»',
    euro: '€', larr: '←', rarr: '→',
  }),
);
const longestName = 6;

/**
 * `&amp;`, `&#8212;`, `&#x2014;`: the character of the reference that starts with the `&` at `position`, and where it
 * ends.
 * @param {Uint8Array} text @param {number} position @param {number} end
 */
export function readReference(text, position, end) {
  if (position + 2 >= end) return null;
  if (text[position + 1] === code('#')) {
    const isHex = (text[position + 2] | 0x20) === code('x');
    return readNumber(text, position + (isHex ? 3 : 2), end, isHex);
  }
  let stop = position + 1;
  while (stop < end && stop - position - 1 < longestName && asciiKind(text[stop]) === WORD) stop++;
  if (stop >= end || text[stop] !== code(';')) return null;
  const character = references.get(decode(text, position + 1, stop));
  return character === undefined ? null : { character, end: stop + 1 };
}

// CommonMark 0.31 §2.5: at most seven digits, six of them if hexadecimal; invalid scalars and zero become U+FFFD.
/** @param {Uint8Array} text @param {number} start @param {number} end @param {boolean} isHex */
function readNumber(text, start, end, isHex) {
  const [longest, digit] = isHex ? [6, /[0-9a-fA-F]/] : [7, /[0-9]/];
  let position = start;
  while (position < end && position - start < longest && digit.test(String.fromCharCode(text[position]))) position++;
  if (position === start || position >= end || text[position] !== code(';')) return null;
  const value = parseInt(decode(text, start, position), isHex ? 16 : 10);
  const isScalar = value > 0 && value <= 0x10ffff && !(value >= 0xd800 && value <= 0xdfff);
  return { character: String.fromCodePoint(isScalar ? value : 0xfffd), end: position + 1 };
}
