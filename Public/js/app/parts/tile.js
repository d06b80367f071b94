import { el } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { number, say } from '../core/text.js';
import { time } from '../core/times.js';
import { avatar } from './avatar.js';

/** A forum tile: picture with the creator's avatar, title, one line of description, unread count. */
export function tile(forum, { href, creator, unread = 0, at } = {}) {
  return el(
    'a.tile',
    { href, class: unread ? 'is-unread' : '' },
    el(
      'span.tile-picture',
      null,
      el('img', { src: forum.icon, alt: '', loading: 'lazy', decoding: 'async', width: 320, height: 180 }),
      creator && el('span.tile-creator', { title: displayName(creator) }, avatar(creator, { size: 1 })),
    ),
    el(
      'span.tile-words',
      null,
      el('span.tile-title.one-line', null, forum.title),
      el('span.second.one-line', null, forum.description || say('forum.noDescription')),
      el(
        'span.tile-foot.mark',
        null,
        at ? time(at) : el('span', null, say('forum.quiet')),
        unread ? el('span.tile-new.count', null, say('list.new', { n: unread, count: number(unread) })) : null,
      ),
    ),
  );
}
