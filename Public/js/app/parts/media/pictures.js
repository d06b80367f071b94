// The pictures of a message. A picture with a preview shows it; without one, a small original; a large one on request.

import { el } from '../../core/dom.js';
import { bytes, number, say } from '../../core/text/text.js';
import { attachment } from './attachment.js';
import { button } from '../forms/button.js';
import { isPlayable, player } from './player.js';

/** The most pictures in the grid of a message. */
const MAX_GRID = 4;
/** Originals up to this size are shown without a preview, in bytes. */
const MAX_ORIGINAL = 1_000_000;
const TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/avif']);

const isPicture = (file) => TYPES.has(file.mime_type);
const content = (file) => file.href ?? `/api/v1/files/${file.id}/content`;

/** Whether a file is shown as a picture at once. */
export const isShown = (file) => !!file.picture || !!file.preview || (isPicture(file) && file.size <= MAX_ORIGINAL);

/** The grid; of more than four pictures the last shows how many follow, and the viewer shows all. */
export function pictureGrid(pictures) {
  if (!pictures.length) return null;
  const count = Math.min(pictures.length, MAX_GRID);
  return el(
    'div.pictures',
    { data: { count: count > 1 ? count : null } },
    pictures.map((it, index) => {
      const more = index === MAX_GRID - 1 ? pictures.length - MAX_GRID : 0;
      return picture(it, { hidden: index >= MAX_GRID }, more > 0 && el('span.picture-more', null, `+${number(more)}`));
    }),
  );
}

/**
 * For the text of a message: returns the picture that it places, or a link to another file.
 * @param {object[]} files @param {Set<object>} placed receives the pictures
 */
export function placing(files, placed) {
  return (number, description) => {
    const file = files[number - 1];
    if (!file) return null;
    const words = description || file.description;
    if (!isShown(file)) return el('a', { href: content(file), download: file.name }, words || file.name);
    placed.add(file);
    return picture({ ...file, description: words }, {});
  };
}

function picture(file, props, more) {
  const { width, height } = file.preview ?? file;
  const link = el(
    'a.picture',
    { href: content(file), data: { viewer: file.id, name: file.name }, ...props },
    el('img', {
      src: file.picture ?? file.preview?.url ?? content(file),
      alt: file.description || (file.name ?? ''),
      loading: 'lazy',
      decoding: 'async',
      // Its space before it loads; one of an unknown size fits into that space.
      class: width && height ? null : 'is-unsized',
      width: width ?? 320,
      height: height ?? 240,
      on: { error: () => link.replaceWith(missing(file)) },
    }),
    more,
  );
  return link;
}

/** A picture that could not be loaded: its name and size. */
function missing(file) {
  if (navigator.onLine) return attachment(file, { href: content(file) });
  return el('p.second.picture-missing', null, say('picture.unavailable', { name: file.name ?? say('file.one'), size: bytes(file.size ?? 0) }));
}

/** A file that is no shown picture: a player, or its card, and for a large picture a button that shows it. */
export function fileCard(file) {
  if (isPlayable(file)) return player(file, content(file));
  const card = attachment(file, { href: content(file) });
  if (!isPicture(file)) return card;
  const node = el(
    'div',
    null,
    card,
    button(say('picture.show', { size: bytes(file.size) }), { picture: 'image', on: () => node.replaceWith(el('div.pictures', null, picture(file, {}))) }),
  );
  return node;
}
