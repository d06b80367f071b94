// The app draws the same avatars as the server, for names that the server does not know yet: both must have the same
// hash of a thousand drawings of each kind (`PictureTests` has it too).

import assert from 'node:assert/strict';
import test from 'node:test';

import { blossom, faceOf, hueOf, iconOf, quilt } from '../../../Public/js/app/core/pictures/identicons.js';
import { sha256 } from '../../../Public/js/parley/sha256.js';

/** SplitMix64, as in the Swift tests. */
function* seeded(seed) {
  const word = (value) => BigInt.asUintN(64, value);
  for (let state = word(seed); ; ) {
    state = word(state + 0x9e3779b97f4a7c15n);
    let mixed = word((state ^ (state >> 30n)) * 0xbf58476d1ce4e5b9n);
    mixed = word((mixed ^ (mixed >> 27n)) * 0x94d049bb133111ebn);
    yield mixed ^ (mixed >> 31n);
  }
}

test('a drawing never changes and equals the server\'s', () => {
  const random = seeded(7n);
  const byte = () => Number(random.next().value & 0xffn);
  const digests = Array.from({ length: 1000 }, (_, number) => [number % 24, ...Array.from({ length: 31 }, byte)]);
  assert.equal(sha256(digests.map(blossom).join('')), 'be503621daf50834a824849e02c24841d79ec61c1dd32e067b49d70aefe7b9c5');
  assert.equal(sha256(digests.map(quilt).join('')), 'b2cb09e819c3ee0610de5ed00212dc52195c899dedd43ab5e1f2e83cee7b75df');
});

test('letter case does not change an avatar', () => {
  assert.equal(faceOf('Ada'), faceOf('ada'));
  assert.notEqual(faceOf('ada'), faceOf('adam'));
});

test('a letter has the hue of the drawing', () => {
  const [, ground] = /fill="#(\w+)"/.exec(quilt([hueOf('Garden') / 15]));
  assert.match(decodeURIComponent(iconOf('Garden')), new RegExp(`fill="#${ground}"`));
});
