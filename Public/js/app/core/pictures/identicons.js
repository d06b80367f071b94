// Generated pictures for users and forums without one, the same as on the server (`Picture` in Sources/Shared/Model). They
// are drawn here for names and titles that the server does not know yet. A test compares both.

import { sha256 } from '../../../parley/sha256.js';

const PALE = '#f6f4f1';
/** Ground, light, dark. */
const PALETTE = [
  ['#9a5d69', '#f6cbd1', '#76444e'],
  ['#9b5e5b', '#f7cbc8', '#784543'],
  ['#9a614f', '#f6cdc0', '#774738'],
  ['#966444', '#f3cfba', '#744a2f'],
  ['#91683b', '#eed2b5', '#6f4d27'],
  ['#886d37', '#e8d5b3', '#685123'],
  ['#7e7238', '#e0d8b3', '#605624'],
  ['#72773d', '#d7dcb6', '#555929'],
  ['#647b47', '#cedebb', '#4a5d31'],
  ['#557e52', '#c5e1c3', '#3d5f3b'],
  ['#468060', '#bde2cb', '#306146'],
  ['#37816d', '#b7e3d4', '#236251'],
  ['#2d817a', '#b3e3dd', '#18625c'],
  ['#2a7f86', '#b2e2e6', '#156066'],
  ['#307d91', '#b3e0ee', '#1c5e6f'],
  ['#3c7999', '#b8def4', '#275c76'],
  ['#4a769e', '#bedbf8', '#34587a'],
  ['#5971a1', '#c6d8f9', '#40557c'],
  ['#666da0', '#cfd5f9', '#4c517c'],
  ['#73699c', '#d8d2f6', '#574e79'],
  ['#7f6596', '#e1cff2', '#604a73'],
  ['#88618d', '#e8cdeb', '#68486c'],
  ['#905f82', '#eecbe3', '#6f4663'],
  ['#965e76', '#f3cbda', '#734459'],
];
/** The hues, after that of the ground, that a light colour may have. */
const COMPANIONS = [0, 2, 4, 20, 22];

const OUTER = [
  'M0 0C-22 -22 -16 -47 0 -47S22 -22 0 0Z',
  'M0 0Q-24 -30 0 -50Q24 -30 0 0Z',
  'M0 0C-9 -18 -26 -40 0 -46C26 -40 9 -18 0 0Z',
];
const MIDDLE = [
  'M0 0C-15 -15 -12 -38 0 -38S15 -15 0 0Z',
  'M0 -4Q-16 -24 0 -41Q16 -24 0 -4Z',
  'M0 0C-6 -14 -18 -32 0 -37C18 -32 6 -14 0 0Z',
];
const INNER = [
  'M0 0C-8 -8 -7 -22 0 -22S8 -8 0 0Z',
  'M0 0Q-9 -14 0 -25Q9 -14 0 0Z',
  'M-2 -12A3 3 0 1 1 -2 -11.9Z',
];
const PATCHES = [
  'M0 0H25A25 25 0 0 1 0 25Z',
  'M0 0A25 25 0 0 1 25 25A25 25 0 0 1 0 0Z',
  'M0 0H25L0 25Z',
  'M12.5 3A9.5 9.5 0 1 1 12.4 3Z',
  'M0 0H25A12.5 12.5 0 0 1 0 0Z',
  'M0 0A12.5 12.5 0 0 0 12.5 12.5A12.5 12.5 0 0 0 0 25Z',
];

/** Ground and dark of a hue, light of a companion. */
function colors(of) {
  const hue = of(PALETTE.map((_, index) => index));
  const [ground, , dark] = PALETTE[hue];
  return { ground, dark, light: PALETTE[(hue + of(COMPANIONS)) % PALETTE.length][1] };
}

/** For a user, of a digest of the name. */
export function blossom(digest) {
  const of = choices(digest);
  const { ground, light, dark } = colors(of);
  const petals = of([5, 6, 8, 9, 10]);
  const step = 360 / petals;
  const half = Math.floor(step / 2);
  const turn = of([0, half]);
  const ring = (petal, from, fill) =>
    Array.from({ length: petals }, (_, at) => path(fill, petal, `rotate(${from + at * step})`)).join('');
  let drawing = ring(of(OUTER), turn + half, dark);
  drawing += ring(of(MIDDLE), turn, light);
  if (of([true, false])) drawing += ring(of(INNER), turn + half, PALE);
  const hearts = [[[PALE, 8]], [[ground, 9], [PALE, 5]], [[PALE, 9], [ground, 4]]];
  for (const [fill, radius] of of(hearts)) drawing += `<circle fill="${fill}" r="${radius}"/>`;
  return svg(ground, `<g transform="translate(50 50)">${drawing}</g>`);
}

/** For a forum, of a digest of the title. Its corners mirror one another. */
export function quilt(digest) {
  const of = choices(digest);
  const { ground, light, dark } = colors(of);
  let corner = '';
  for (let index = 0; index < 4; index++) {
    const [x, y] = [(index % 2) * 25, Math.floor(index / 2) * 25];
    if (x === y) corner += path(dark, `M${x} ${y}h25v25h-25Z`);
    const patch = of(PATCHES);
    const turn = of([0, 90, 180, 270]);
    corner += path(light, patch, `translate(${x} ${y}) rotate(${turn} 12.5 12.5)`);
  }
  const mirrors = ['1 0 0 1 0 0', '-1 0 0 1 100 0', '1 0 0 -1 0 100', '-1 0 0 -1 100 100'];
  const drawing = mirrors.map((mirror) => `<g transform="matrix(${mirror})">${corner}</g>`).join('');
  return svg(ground, `<g transform="translate(4 4) scale(.92)">${drawing}</g>`);
}

/** @param {string} name As it will be; case makes no other face. */
export const faceOf = (name) => address(blossom(bytesOf(sha256(name.toLowerCase()))));
export const iconOf = (title) => address(quilt(bytesOf(sha256(title))));

const path = (fill, shape, transform) =>
  `<path fill="${fill}"${transform ? ` transform="${transform}"` : ''} d="${shape}"/>`;

const svg = (ground, drawing) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100">${path(ground, 'M0 0H100V100H0Z')}${drawing}</svg>\n`;

const address = (drawing) => `data:image/svg+xml,${encodeURIComponent(drawing)}`;

const bytesOf = (hex) => hex.match(/../g).map((byte) => parseInt(byte, 16));

/** Reads a digest byte by byte, around and around. */
function choices(digest) {
  let index = 0;
  return (values) => values[digest[index++ % digest.length] % values.length];
}
