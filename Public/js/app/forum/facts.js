// The facts of a forum: description, creator, date, readers. For its details and the panel beside its room.

import { el, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { rich } from '../parts/message/rich.js';
import { forumAddress } from '../core/router.js';
import { say, sayWith } from '../core/text/text.js';
import { full, time } from '../core/text/times.js';
import { avatar } from '../parts/user/avatar.js';
import { fetchUser } from '../state/fetchuser.js';

/** The creator of a forum, with the day and the time of its creation. */
export function createdLine(site, forum) {
  const node = el('p.second.forum-created');
  const draw = (creator) => {
    const name = el('bdi', null, displayName(creator));
    const link = creator.name ? el('a', { href: `/u/${encodeURIComponent(creator.name)}` }, name) : name;
    const sentence = sayWith('forum.createdAt', { name: link, date: time(forum.created_at, full) });
    refill(node, avatar(creator, { size: 2 }), el('span', null, sentence));
  };
  draw(site.user(forum.created_by));
  fetchUser(site, forum.created_by).then((it) => it && draw(it));
  return node;
}

/** The facts as a block of the panel. */
export function forumFacts(site, forum) {
  return el(
    'div.panel-block.forum-facts',
    null,
    forum.description && rich(forum.description),
    createdLine(site, forum),
    el('p.second', null, say(`forum.audience.${forum.visibility}`)),
    el('a', { href: forumAddress(forum, 'about') }, say('forum.allDetails')),
  );
}
