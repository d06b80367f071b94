import { el } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { groupsOf } from '../core/groups.js';
import { groupBadge } from './groupbadge.js';
import { rich } from './rich.js';
import { statusLine } from '../core/status.js';
import { isolate, say } from '../core/text.js';
import { moment } from '../core/times.js';
import { avatar } from './avatar.js';
import { presenceWords, withPresence } from './presence.js';

/** The status and its end. */
function statusOf(person) {
  const line = statusLine(person);
  if (!line) return null;
  const end = person.status_expires_at;
  return el('p.person-status', null, isolate(line), end && ` · ${say('status.until', { at: moment(new Date(end)) })}`);
}

/** A user's card: picture, names, status, bio and actions. */
export function personCard(person, { actions = [], presence } = {}) {
  return el(
    'div.person',
    null,
    withPresence(avatar(person, { size: 4 }), presence),
    el(
      'div.person-words',
      null,
      el('h2.person-name', null, el('bdi', null, displayName(person))),
      el(
        'p.second',
        null,
        person.name ? isolate(`@${person.name}`) : '',
        person.role && person.role !== 'member' && ` · ${say(`role.${person.role}`)}`,
        presence && presenceWords(presence) && ` · ${presenceWords(presence)}`,
      ),
      el('p', null, groupsOf(person).map(groupBadge)),
      statusOf(person),
      person.created_at && el('p.mark', null, say('person.since', { at: moment(new Date(person.created_at)) })),
      person.bio && el('div.person-bio', null, rich(person.bio, person.bio_entities)),
    ),
    actions.length ? el('div.person-actions', null, actions) : null,
  );
}

/** A user in a list. */
export function personRow(person, { href, second, end, presence } = {}) {
  // A button stands beside a link, not in it.
  const isBeside = href && end?.tagName === 'BUTTON';
  const words = [second ?? (person.name ? isolate(`@${person.name}`) : ''), presenceWords(presence), isolate(statusLine(person))].filter(Boolean);
  const row = el(
    href ? 'a.person-row' : 'div.person-row',
    href ? { href } : {},
    withPresence(avatar(person, { size: 2 }), presence),
    el(
      'span.person-row-words',
      null,
      el('span.one-line', { dir: 'auto' }, displayName(person)),
      el('span.second.one-line', null, words.join(' · ')),
    ),
    isBeside ? null : end,
  );
  return isBeside ? el('div.person-line', null, row, end) : row;
}
