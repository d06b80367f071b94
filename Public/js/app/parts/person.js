import { el } from '../dom.js';
import { rich } from '../rich.js';
import { say } from '../text.js';
import { avatar } from './avatar.js';

/** Someone at a glance: picture, names, what they say of themselves, and what one can do. */
export function personCard(person, { actions = [] } = {}) {
  const name = person.display_name || person.name || say('person.gone');
  return el(
    'div.person',
    null,
    avatar(person, { size: 4 }),
    el(
      'div.person-words',
      null,
      el('h2.person-name', null, name),
      el(
        'p.second',
        null,
        person.name ? `@${person.name}` : '',
        person.role && person.role !== 'member' && ` · ${say(`role.${person.role}`)}`,
      ),
      person.bio && el('div.person-bio', null, rich(person.bio, person.bio_entities)),
    ),
    actions.length ? el('div.person-actions', null, actions) : null,
  );
}

/** Someone in a list. */
export function personRow(person, { href, second, end } = {}) {
  const name = person.display_name || person.name || say('person.gone');
  return el(
    href ? 'a.person-row' : 'div.person-row',
    href ? { href } : {},
    avatar(person, { size: 2 }),
    el(
      'span.person-row-words',
      null,
      el('span.one-line', null, name),
      el('span.second.one-line', null, second ?? `@${person.name ?? ''}`),
    ),
    end,
  );
}
