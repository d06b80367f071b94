import { el } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { groupsOf } from '../../core/groups.js';
import { groupBadge } from './groupbadge.js';
import { rich } from '../message/rich.js';
import { statusLine } from '../../core/status.js';
import { isolate, say } from '../../core/text/text.js';
import { dated, moment } from '../../core/text/times.js';
import { avatar } from './avatar.js';
import { presenceWords, withPresence } from './presence.js';

/** The status and its end. */
function statusOf(user) {
  const line = statusLine(user);
  if (!line) return null;
  const end = user.status_expires_at;
  return el('p.user-status', null, isolate(line), end && ` · ${say('status.until', { at: moment(new Date(end)) })}`);
}

/** A user's card: picture, names, status, bio and actions. `href`: the page that the name leads to */
export function userCard(user, { actions = [], presence, href } = {}) {
  const name = el('bdi', null, displayName(user));
  return el(
    'div.user',
    null,
    withPresence(avatar(user, { size: 4 }), presence),
    el(
      'div.user-words',
      null,
      el('h2.user-name', null, href ? el('a', { href }, name) : name),
      el(
        'p.second',
        null,
        user.name ? isolate(`@${user.name}`) : '',
        user.role && user.role !== 'member' && ` · ${say(`role.${user.role}`)}`,
        presence && presenceWords(presence) && ` · ${presenceWords(presence)}`,
      ),
      el('p', null, groupsOf(user).map(groupBadge)),
      statusOf(user),
      user.created_at && el('p.mark', null, say('user.since', { at: dated(new Date(user.created_at)) })),
      user.bio && el('div.user-bio', null, rich(user.bio)),
    ),
    actions.length ? el('div.user-actions', null, actions) : null,
  );
}

/** A user in a list. */
export function userRow(user, { href, second, end, presence } = {}) {
  // A button stands beside a link, not in it.
  const isBeside = href && end?.tagName === 'BUTTON';
  const words = [second ?? (user.name ? isolate(`@${user.name}`) : ''), presenceWords(presence), isolate(statusLine(user))].filter(Boolean);
  const row = el(
    href ? 'a.user-row' : 'div.user-row',
    href ? { href } : {},
    withPresence(avatar(user, { size: 2 }), presence),
    el(
      'span.user-row-words',
      null,
      el('span.one-line', { dir: 'auto' }, displayName(user)),
      el('span.second.one-line', null, words.join(' · ')),
    ),
    isBeside ? null : end,
  );
  return isBeside ? el('div.user-line', null, row, end) : row;
}
