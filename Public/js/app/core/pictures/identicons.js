// Generated pictures for users and forums without one, the same as on the server (`Picture` in Sources/Shared/Model). Drawn
// here, they cost no request, and names that the server does not know yet have theirs. A test compares both.

import { sha256 } from '../../../parley/sha256.js';

/** By hue, 15 degrees apart: ground and figure in the light theme, ground and figure in the dark one. */
const TONES = (
  'fae0e7edbbc93a242b58333efbe0e1efbbbe3b2426593336fbe1dcefbdb43b252159342efae2d8edbfab3a261d583627' +
  'f8e4d4e9c2a4382719553820f4e6d2e2c69f362917513b1cf0e7d2dac99e322b164b3e1beae9d3d0cda02e2c1744411d' +
  'e5ebd5c5d1a5292e1a3c4421dfedd9bad4ad242f1e334628dbeedeb0d6b61e3022294830d6efe3a7d8c11a3127204938' +
  'd3efe8a0d8cc16312c174941d2efee9dd7d7143131124949d2eef39dd6e0143035134850d4edf7a1d4e8162f381a4656' +
  'd7ebfaa8d1ee1b2e3b22435adbe9fcb1cdf21f2c3d2b415ce0e7fdbbc9f3242b3d343e5de5e6fcc6c6f129293c3d3b5c' +
  'ebe4fad0c2ed2e273a443959f0e2f6dabfe63226374b3754f4e1f2e2bddd35253450354ef8e0ece8bbd338242f553446'
).match(/.{24}/g);

const OUTER = [
  'M0 0C-22 -22 -16 -47 0 -47S22 -22 0 0Z',
  'M0 0Q-24 -30 0 -50Q24 -30 0 0Z',
  'M0 0C-9 -18 -26 -40 0 -46C26 -40 9 -18 0 0Z',
  'M0 0L-15 -32L0 -49L15 -32Z',
];
const MIDDLE = [
  'M0 0C-15 -15 -12 -38 0 -38S15 -15 0 0Z',
  'M0 -4Q-16 -24 0 -41Q16 -24 0 -4Z',
  'M0 0C-6 -14 -18 -32 0 -37C18 -32 6 -14 0 0Z',
  'M0 -6L-8 -26L0 -40L8 -26Z',
];
const INNER = [
  '',
  'M0 0C-8 -8 -7 -22 0 -22S8 -8 0 0Z',
  'M0 0Q-9 -14 0 -25Q9 -14 0 0Z',
  'M-2 -12A3 3 0 1 1 -2 -11.9Z',
];
/** Radii of circles in turns of figure and ground. */
const HEARTS = [[], [9], [9, 5], [11, 8, 4]];
const PATCHES = [
  'M0 0H25A25 25 0 0 1 0 25Z',
  'M0 0A25 25 0 0 1 25 25A25 25 0 0 1 0 0Z',
  'M0 0H25L0 25Z',
  'M12.5 3A9.5 9.5 0 1 1 12.4 3Z',
  'M0 0H25A12.5 12.5 0 0 1 0 0Z',
  'M0 0A12.5 12.5 0 0 0 12.5 12.5A12.5 12.5 0 0 0 0 25Z',
];

/** For a user, of a digest of the name. */
export function blossom(digest) {
  const of = choices(digest);
  const tones = of(TONES);
  const petals = of([5, 6, 8, 9, 10, 12]);
  const step = 360 / petals;
  const half = Math.floor(step / 2);
  const turn = of([0, half]);
  const ring = (petal, from) =>
    Array.from({ length: petals }, (_, at) => path(petal, `rotate(${from + at * step})`)).join('');
  let drawing = figure(ring(of(OUTER), turn + half));
  drawing += ring(of(MIDDLE), turn + of([0, half]));
  const inner = of(INNER);
  if (inner) drawing += figure(ring(inner, turn + half));
  of(HEARTS).forEach((radius, at) => (drawing += `<circle${at % 2 ? '' : FIGURE} r="${radius}"/>`));
  return svg(tones, `<g transform="translate(50 50)">${drawing}</g>`);
}

/** For a forum, of a digest of the title. Its corners mirror one another. */
export function quilt(digest) {
  const of = choices(digest);
  const tones = of(TONES);
  let corner = '';
  for (let index = 0; index < 4; index++) {
    const [x, y] = [(index % 2) * 25, Math.floor(index / 2) * 25];
    const patch = of(PATCHES);
    const turned = path(patch, `translate(${x} ${y}) rotate(${of([0, 90, 180, 270])} 12.5 12.5)`);
    // Every other square is a patch of the ground on the figure.
    corner += x === y ? figure(path(`M${x} ${y}h25v25h-25Z`)) + turned : figure(turned);
  }
  const mirrors = ['1 0 0 1 0 0', '-1 0 0 1 100 0', '1 0 0 -1 0 100', '-1 0 0 -1 100 100'];
  const drawing = mirrors.map((mirror) => `<g transform="matrix(${mirror})">${corner}</g>`).join('');
  return svg(tones, `<g transform="translate(4 4) scale(.92)">${drawing}</g>`);
}

const faces = new Map();

/** @param {string} name As it will be; case makes no other face. */
export function faceOf(name) {
  const key = name.toLowerCase();
  if (!faces.has(key)) faces.set(key, address(blossom(digestOf(key))));
  return faces.get(key);
}

export const iconOf = (title) => address(quilt(digestOf(title)));
/** The hue of a forum's drawing, in degrees. */
export const hueOf = (title) => 15 * (digestOf(title)[0] % TONES.length);

const FIGURE = ' fill="currentColor"';
const figure = (shapes) => `<g${FIGURE}>${shapes}</g>`;
const path = (shape, transform) => `<path${transform ? ` transform="${transform}"` : ''} d="${shape}"/>`;

/** Shapes without a colour have that of the ground. An image takes the theme of the page around it. */
function svg(tones, drawing) {
  const [ground, shape, darkGround, darkShape] = tones.match(/.{6}/g);
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 100" fill="#${ground}" color="#${shape}">` +
    `<style>@media(prefers-color-scheme:dark){svg{fill:#${darkGround};color:#${darkShape}}}</style>` +
    `${path('M0 0H100V100H0Z')}${drawing}</svg>\n`
  );
}

const address = (drawing) => `data:image/svg+xml,${drawing.replaceAll('#', '%23')}`;

const digestOf = (text) => sha256(text).match(/../g).map((byte) => parseInt(byte, 16));

/** Reads a digest byte by byte, around and around. */
function choices(digest) {
  let index = 0;
  return (values) => values[digest[index++ % digest.length] % values.length];
}
