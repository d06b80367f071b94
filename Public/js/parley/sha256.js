// SHA-256 (FIPS 180-4). WebCrypto has it too, but only on pages that came by HTTPS, and one promise for each message is
// slower than this.

const constants = new Uint32Array(64);
const start = new Uint32Array(8);
{
  // The first bits of the fractional parts of the cube roots and square roots of the first primes.
  const fraction = (/** @type {number} */ root) => ((root - Math.floor(root)) * 2 ** 32) >>> 0;
  let found = 0;
  for (let number = 2; found < 64; number++) {
    let isPrime = true;
    for (let factor = 2; factor * factor <= number; factor++) if (number % factor === 0) isPrime = false;
    if (!isPrime) continue;
    if (found < 8) start[found] = fraction(number ** (1 / 2));
    constants[found++] = fraction(number ** (1 / 3));
  }
}

const encoder = new TextEncoder();
const schedule = new Uint32Array(64);

/**
 * In hex.
 * @param {string | Uint8Array} data
 */
export function sha256(data) {
  const bytes = typeof data === 'string' ? encoder.encode(data) : data;
  const padded = new Uint8Array(Math.ceil((bytes.length + 9) / 64) * 64);
  padded.set(bytes);
  padded[bytes.length] = 0x80;
  const view = new DataView(padded.buffer);
  view.setUint32(padded.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(padded.length - 4, bytes.length << 3);
  const state = start.slice();
  for (let block = 0; block < padded.length; block += 64) compress(state, view, block);
  return Array.from(state, (word) => word.toString(16).padStart(8, '0')).join('');
}

/** @param {number} word @param {number} by */
const rotate = (word, by) => (word >>> by) | (word << (32 - by));

/** @param {Uint32Array} state @param {DataView} view @param {number} block */
function compress(state, view, block) {
  for (let round = 0; round < 16; round++) schedule[round] = view.getUint32(block + 4 * round);
  for (let round = 16; round < 64; round++) {
    const [early, late] = [schedule[round - 15], schedule[round - 2]];
    const low = rotate(early, 7) ^ rotate(early, 18) ^ (early >>> 3);
    const high = rotate(late, 17) ^ rotate(late, 19) ^ (late >>> 10);
    schedule[round] = schedule[round - 16] + low + schedule[round - 7] + high;
  }
  let [a, b, c, d, e, f, g, h] = state;
  for (let round = 0; round < 64; round++) {
    const choice = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g));
    const first = (h + choice + constants[round] + schedule[round]) | 0;
    const second = ((rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    [h, g, f, e, d, c, b, a] = [g, f, e, (d + first) | 0, c, b, a, (first + second) | 0];
  }
  [a, b, c, d, e, f, g, h].forEach((word, index) => (state[index] += word));
}
