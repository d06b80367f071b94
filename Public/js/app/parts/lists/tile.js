import { el, icon } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { isolate, number, say } from '../../core/text/text.js';
import { time } from '../../core/text/times.js';
import { avatar } from '../user/avatar.js';
import { topicsBadge } from '../navigation/badge.js';

/** The given facts, with dots between them. */
const separated = (facts) => facts.filter(Boolean).map((it, index) => [index > 0 && el('span', null, ' · '), it]);

/** The signs beside the title: who can read the forum, and whether it is locked or archived. */
const SIGNS = { private: 'lock', public: 'globe' };

/**
 * A forum tile: picture with the creator's avatar, title, one line of description, the last topic, its writer and time,
 * members, unread count. Only titles, descriptions and names are cut off. `isQuiet`: the server knows of no message. `join`: a button
 * beside the link.
 */
export function tile(forum, { href, creator, unread = 0, topics = 0, at, last, members, isQuiet = false, join } = {}) {
  const sign = SIGNS[forum.visibility];
  const link = el(
    'a.tile',
    { href, class: unread || topics ? 'is-unread' : '' },
    el(
      'span.tile-picture',
      { class: forum.icon_file || forum.icon_url ? '' : 'is-drawn' },
      el('img', { src: forum.icon, alt: '', loading: 'lazy', decoding: 'async', width: 320, height: 107 }),
      creator && el('span.tile-creator', { title: displayName(creator) }, avatar(creator, { size: 2 })),
    ),
    el(
      'span.tile-words',
      null,
      el(
        'span.tile-head',
        null,
        el('span.tile-title.one-line', { dir: 'auto' }, forum.title),
        sign && icon(sign, say(`forum.visibility.${forum.visibility}`)),
        (forum.archived || forum.locked) && icon('lock', say(forum.archived ? 'forum.archived' : 'topic.locked')),
        el('span.tile-counts', null, topicsBadge(topics), unread ? el('span.tile-new.count', null, say('list.new', { n: unread, count: number(unread) })) : null),
      ),
      el('span.tile-about.second.one-line', { dir: 'auto' }, forum.description),
      last && el('span.tile-last.one-line', { dir: 'auto' }, last.title),
      el('span.tile-foot.mark', null, separated([
        last && el('span.one-line', null, isolate(last.writer)),
        at ? time(at) : isQuiet && el('span', null, say('forum.quiet')),
        members && el('span', null, say('forum.members', { n: members })),
      ])),
    ),
  );
  return join ? el('div.tile-with-join', null, link, join) : link;
}
