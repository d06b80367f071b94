import { el } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { faceOf } from '../../core/pictures/identicons.js';

/** A user's picture: the uploaded one, else the drawing of the name, which costs no request. Decorative beside the name; `named` gives it an accessible name. */
export function avatar(user, { size = 2, named = false } = {}) {
  return el('img.avatar', {
    class: `avatar-${size}`,
    alt: named ? displayName(user) : '',
    loading: 'lazy',
    decoding: 'async',
    draggable: 'false',
    width: [0, 24, 32, 36, 96][size],
    height: [0, 24, 32, 36, 96][size],
    src: user?.name && !user.avatar_file ? faceOf(user.name) : (user?.avatar ?? '/icon.svg'),
  });
}

/** Several people as one picture: the first two, one over the other. */
export function avatarPair(users, { size = 2 } = {}) {
  if (users.length < 2) return avatar(users[0], { size });
  return el(
    'span.avatar-pair',
    { class: `avatar-pair-${size}` },
    users.slice(0, 2).map((it) => avatar(it, { size: 1 })),
  );
}
