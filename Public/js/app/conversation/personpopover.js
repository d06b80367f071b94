// The card of a user, beside the pressed name.

import { el } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { say } from '../core/text.js';
import { button } from '../parts/button.js';
import { personCard } from '../parts/person.js';
import { popover } from '../parts/popover.js';

export function showPersonCard(shell, author, anchor) {
  const { site } = shell;
  const person = site.users.get(author.id) ?? author;
  const isMe = person.id === site.me?.id;
  const write = async () => {
    node.close();
    (await import('../pages/newconversation.js')).writeTo(shell, person);
  };
  const actions = [
    !isMe && site.me && button(say('act.write'), { kind: 'primary', picture: 'messages', on: write }),
    el('a.button.button-plain', { href: `/u/${encodeURIComponent(person.name)}`, on: { click: () => node.close() } }, say('person.profile')),
  ].filter(Boolean);
  const node = popover(anchor, displayName(person), personCard(person, { actions, presence: site.presenceOf(person.id) }));
}
