// A QR code (ISO/IEC 18004) of a short text: bytes, error correction L, versions 1 to 10, mask by the least penalty.
// Enough for an invite link, without a library.

/** By version: error-correction words a block, blocks of the first size and their data words, and of the second. */
const VERSIONS = [
  null,
  [7, 1, 19, 0, 0],
  [10, 1, 34, 0, 0],
  [15, 1, 55, 0, 0],
  [20, 1, 80, 0, 0],
  [26, 1, 108, 0, 0],
  [18, 2, 68, 0, 0],
  [20, 2, 78, 0, 0],
  [24, 2, 97, 0, 0],
  [30, 2, 116, 0, 0],
  [18, 2, 68, 2, 69],
];
const ALIGNMENTS = [
  null,
  [],
  [6, 18],
  [6, 22],
  [6, 26],
  [6, 30],
  [6, 34],
  [6, 22, 38],
  [6, 24, 42],
  [6, 26, 46],
  [6, 28, 50],
];

const EXP = new Uint8Array(512);
const LOG = new Uint8Array(256);
for (let power = 0, value = 1; power < 255; power++) {
  EXP[power] = EXP[power + 255] = value;
  LOG[value] = power;
  value = value < 128 ? value * 2 : (value * 2) ^ 0x11d;
}
const times = (a, b) => (a && b ? EXP[LOG[a] + LOG[b]] : 0);

/** The modules of the code, row by row: true is dark. Throws a RangeError for a text that is too long. */
export function qrModules(text) {
  const bytes = new TextEncoder().encode(text);
  const version = VERSIONS.findIndex((it, index) => it && capacity(index) >= bytes.length + (index > 9 ? 3 : 2));
  if (version < 1) throw new RangeError('too long for a code');
  const size = 17 + 4 * version;
  const words = codewords(bytes, version);
  let best = null;
  for (let mask = 0; mask < 8; mask++) {
    const modules = draw(version, size, words, mask);
    const cost = penalty(modules, size);
    if (!best || cost < best.cost) best = { cost, modules };
  }
  return best.modules;
}

const capacity = (version) => {
  const [, a, n, b, m] = VERSIONS[version];
  return a * n + b * m;
};

function codewords(bytes, version) {
  const bits = [];
  const put = (value, length) => {
    for (let bit = length - 1; bit >= 0; bit--) bits.push((value >> bit) & 1);
  };
  put(4, 4);
  put(bytes.length, version > 9 ? 16 : 8);
  for (const it of bytes) put(it, 8);
  const total = capacity(version) * 8;
  put(0, Math.min(4, total - bits.length));
  while (bits.length % 8) bits.push(0);
  for (let pad = 0xec; bits.length < total; pad ^= 0xec ^ 0x11) put(pad, 8);
  const data = [];
  for (let at = 0; at < bits.length; at += 8) data.push(parseInt(bits.slice(at, at + 8).join(''), 2));

  const [correction, a, n, b, m] = VERSIONS[version];
  const blocks = [];
  let at = 0;
  for (let block = 0; block < a + b; block++) {
    const length = block < a ? n : m;
    blocks.push(data.slice(at, at + length));
    at += length;
  }
  const checks = blocks.map((it) => remainder(it, correction));
  const out = [];
  for (let column = 0; column < Math.max(n, m); column++)
    for (const it of blocks) if (column < it.length) out.push(it[column]);
  for (let column = 0; column < correction; column++) for (const it of checks) out.push(it[column]);
  return out;
}

/** Reed–Solomon: the remainder of the data by the generator of that degree. */
function remainder(data, degree) {
  let generator = [1];
  for (let power = 0; power < degree; power++) {
    const next = [...generator, 0];
    generator.forEach((it, index) => {
      next[index + 1] ^= times(it, EXP[power]);
    });
    generator = next;
  }
  const rest = [...data, ...new Array(degree).fill(0)];
  for (let at = 0; at < data.length; at++) {
    const factor = rest[at];
    if (factor)
      generator.forEach((it, index) => {
        rest[at + index] ^= times(it, factor);
      });
  }
  return rest.slice(data.length);
}

const MASKS = [
  (r, c) => (r + c) % 2,
  (r) => r % 2,
  (r, c) => c % 3,
  (r, c) => (r + c) % 3,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2,
  (r, c) => ((r * c) % 2) + ((r * c) % 3),
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2,
];

function draw(version, size, words, mask) {
  const modules = Array.from({ length: size }, () => new Array(size).fill(null));
  const set = (row, column, dark) => {
    if (row >= 0 && column >= 0 && row < size && column < size) modules[row][column] = !!dark;
  };
  for (const [row, column] of [
    [0, 0],
    [0, size - 7],
    [size - 7, 0],
  ]) {
    for (let y = -1; y < 8; y++) {
      for (let x = -1; x < 8; x++) {
        const ring = Math.max(Math.abs(x - 3), Math.abs(y - 3));
        set(row + y, column + x, ring !== 2 && ring !== 4);
      }
    }
  }
  const centres = ALIGNMENTS[version];
  for (const row of centres) {
    for (const column of centres) {
      if (modules[row][column] !== null) continue;
      for (let y = -2; y <= 2; y++)
        for (let x = -2; x <= 2; x++) set(row + y, column + x, Math.max(Math.abs(x), Math.abs(y)) !== 1);
    }
  }
  for (let at = 8; at < size - 8; at++) {
    if (modules[6][at] === null) set(6, at, at % 2 === 0);
    if (modules[at][6] === null) set(at, 6, at % 2 === 0);
  }
  format(size, mask, set);
  if (version >= 7) versionMarks(version, size, set);
  set(size - 8, 8, true);

  let bit = 0;
  for (let right = size - 1; right > 0; right -= 2) {
    if (right === 6) right = 5;
    for (let step = 0; step < size; step++) {
      const row = ((right + 1) & 2) === 0 ? size - 1 - step : step;
      for (const column of [right, right - 1]) {
        if (modules[row][column] !== null) continue;
        const dark = bit < words.length * 8 ? (words[bit >> 3] >> (7 - (bit & 7))) & 1 : 0;
        bit += 1;
        modules[row][column] = !!dark !== (MASKS[mask](row, column) === 0);
      }
    }
  }
  return modules;
}

/** Level L and the mask, with BCH(15, 5), twice. */
function format(size, mask, set) {
  const data = (1 << 3) | mask;
  let rest = data;
  for (let it = 0; it < 10; it++) rest = (rest << 1) ^ ((rest >> 9) * 0x537);
  const bits = ((data << 10) | rest) ^ 0x5412;
  const bit = (at) => (bits >> at) & 1;
  for (let at = 0; at <= 5; at++) set(at, 8, bit(at));
  set(7, 8, bit(6));
  set(8, 8, bit(7));
  set(8, 7, bit(8));
  for (let at = 9; at < 15; at++) set(8, 14 - at, bit(at));
  for (let at = 0; at < 8; at++) set(8, size - 1 - at, bit(at));
  for (let at = 8; at < 15; at++) set(size - 15 + at, 8, bit(at));
}

function versionMarks(version, size, set) {
  let rest = version;
  for (let it = 0; it < 12; it++) rest = (rest << 1) ^ ((rest >> 11) * 0x1f25);
  const bits = (version << 12) | rest;
  for (let at = 0; at < 18; at++) {
    const [a, b] = [size - 11 + (at % 3), Math.floor(at / 3)];
    set(b, a, (bits >> at) & 1);
    set(a, b, (bits >> at) & 1);
  }
}

/** The mask penalty by three of the four rules: runs, blocks and balance. */
function penalty(modules, size) {
  let cost = 0;
  let dark = 0;
  for (let row = 0; row < size; row++) {
    for (const read of [(at) => modules[row][at], (at) => modules[at][row]]) {
      let run = 1;
      for (let at = 1; at <= size; at++) {
        if (at < size && read(at) === read(at - 1)) {
          run += 1;
        } else {
          if (run >= 5) cost += run - 2;
          run = 1;
        }
      }
    }
    for (let column = 0; column < size; column++) {
      if (modules[row][column]) dark += 1;
      if (
        row &&
        column &&
        modules[row][column] === modules[row - 1][column] &&
        modules[row][column] === modules[row][column - 1] &&
        modules[row][column] === modules[row - 1][column - 1]
      )
        cost += 3;
    }
  }
  return cost + 10 * Math.floor(Math.abs((dark * 20) / (size * size) - 10));
}

/** Returns an SVG: dark on white in any theme, with the quiet zone that readers need. */
export function qr(text, label) {
  const modules = qrModules(text);
  const quiet = 4;
  const size = modules.length + 2 * quiet;
  let path = '';
  modules.forEach((row, y) =>
    row.forEach((dark, x) => {
      if (dark) path += `M${x + quiet} ${y + quiet}h1v1h-1z`;
    }),
  );
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', `0 0 ${size} ${size}`);
  svg.setAttribute('class', 'qr-code');
  svg.setAttribute('role', 'img');
  svg.setAttribute('aria-label', label);
  const shape = (d, fill) => {
    const node = document.createElementNS('http://www.w3.org/2000/svg', 'path');
    node.setAttribute('d', d);
    node.setAttribute('fill', fill);
    svg.append(node);
  };
  shape(`M0 0h${size}v${size}h-${size}z`, '#fff');
  shape(path, '#000');
  return svg;
}
