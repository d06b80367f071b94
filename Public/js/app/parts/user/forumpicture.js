import { el } from '../../core/dom.js';
import { hueOf } from '../../core/pictures/identicons.js';
import { forumIcon } from '../../core/titles.js';

/** A forum's picture in a list or a bar: the uploaded icon, else the first letter of the title, which costs no request. Decorative beside the title. */
export function forumPicture(forum, size = 20) {
  if (forum.icon_file || forum.icon_url) return el(`img.forum-picture.forum-${size}`, { src: forumIcon(forum), alt: '', loading: 'lazy', width: size, height: size });
  const title = forum.title ?? '';
  const node = el(`i.forum-picture.forum-${size}`, { aria: { hidden: 'true' } }, (/[\p{L}\p{N}]/u.exec(title)?.[0] ?? [...title][0] ?? '').toUpperCase());
  node.style.setProperty('--tint', hueOf(title));
  return node;
}
