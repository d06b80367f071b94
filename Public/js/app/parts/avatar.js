import { el } from '../core/dom.js';
import { displayName } from '../core/displayname.js';

/** Someone's picture. Decoration wherever the name stands beside it; `named` where it does not. */
export function avatar(person, { size = 2, named = false } = {}) {
  return el('img.avatar', {
    class: `avatar-${size}`,
    alt: named ? displayName(person) : '',
    loading: 'lazy',
    decoding: 'async',
    draggable: 'false',
    width: [0, 24, 32, 36, 96][size],
    height: [0, 24, 32, 36, 96][size],
    src: person?.avatar ?? '/icon.svg',
  });
}

/** Several people as one picture: the first two, one over the other. */
export function avatarPair(people, { size = 2 } = {}) {
  if (people.length < 2) return avatar(people[0], { size });
  return el(
    'span.avatar-pair',
    { class: `avatar-pair-${size}` },
    people.slice(0, 2).map((it) => avatar(it, { size: 1 })),
  );
}
