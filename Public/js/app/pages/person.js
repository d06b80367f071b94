// Someone: what they say of themselves, and what one can do.

import { el, redraw } from '../dom.js';
import { nameOf } from '../named.js';
import { decisions, orderItems } from '../order.js';
import { button } from '../parts/button.js';
import { ask, confirm, dialog } from '../parts/dialog.js';
import { choice, field } from '../parts/field.js';
import { menu } from '../parts/menu.js';
import { personCard } from '../parts/person.js';
import { pageBar } from '../parts/sidebar.js';
import { toast } from '../parts/toast.js';
import { say, sayProblem } from '../text.js';
import { writeTo } from './messages.js';

export async function open(shell, { name }) {
  const { place } = shell;
  const person = await place.personNamed(name);
  const isMe = person.id === place.me?.id;
  const decided = place.isModerator && !isMe ? decisions(place, person) : null;
  const written =
    person.name &&
    button(say('person.written'), {
      picture: 'search',
      on: () => shell.go(`/search?q=${encodeURIComponent(`from:@${person.name}`)}`),
    });
  const actions = !place.me
    ? []
    : isMe
      ? [button(say('you.profile'), { kind: 'primary', on: () => shell.go('/you/profile') }), written]
      : [
          button(say('act.write'), { kind: 'primary', picture: 'messages', on: () => writeTo(shell, person) }),
          written,
          button(say('act.more'), {
            picture: 'more',
            on: (event) => menu(event.currentTarget, items(shell, person, () => decided?.again()), say('act.more')),
          }),
        ];
  const drawn = (verbs) =>
    personCard(place.people.get(person.id) ?? person, { actions: verbs, presence: place.presenceOf(person.id) });
  const card = drawn(actions);
  const verbs = card.querySelector('.person-actions');
  // What can be pressed stays where it is, or a press that has begun would be lost.
  const draw = () => redraw(card, ...drawn([]).children, verbs);
  place.addEventListener('presence', draw);
  return {
    title: nameOf(person),
    here: isMe ? '/you' : null,
    node: [
      pageBar(nameOf(person), {
        back: () => shell.router.back('/'),
        state: place.state,
      }),
      el(
        'div.page-body',
        null,
        el('div.page-column', null, el('div.person-page', null, card), decided),
      ),
    ],
    close: () => place.removeEventListener('presence', draw),
  };
}

function items(shell, person, changed) {
  const { place } = shell;
  const done = async (work, words) => {
    try {
      await work();
      toast(say(words, { name: nameOf(person) }));
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  const relation = (name, method) => place.call(method, `/users/${person.id}/${name}`);
  const held = place.parley?.mirror.relations.get(person.id);
  return [
    held?.mute
      ? { words: say('person.unmute'), picture: 'bell', on: () => done(() => relation('mute', 'DELETE'), 'person.unmuted') }
      : { words: say('person.mute'), picture: 'bell-off', on: () => done(() => relation('mute', 'PUT'), 'person.muted') },
    held?.block && {
      words: say('person.unblock'),
      picture: 'undo',
      on: () => done(() => relation('block', 'DELETE'), 'person.unblocked'),
    },
    !held?.block && {
      words: say('person.block'),
      picture: 'lock',
      danger: true,
      on: async () => {
        if (
          await confirm(
            say('person.blockTitle', { name: nameOf(person) }),
            say('person.blockSentence'),
            say('person.block'),
          )
        ) {
          await done(() => relation('block', 'PUT'), 'person.blocked');
        }
      },
    },
    ...(place.isModerator && !['owner', 'admin'].includes(person.role) ? [null, ...orderItems(shell, person, changed)] : []),
    ...(place.isHost
      ? [
          null,
          {
            words: say('person.reset'),
            picture: 'key',
            on: () =>
              done(async () => {
                const made = await place.call('POST', `/users/${person.id}/reset`);
                dialog(say('person.reset'), [
                  el('p', null, say('person.resetSentence')),
                  Object.assign(field(say('invite.link'), { value: made.url })),
                ]);
              }, 'person.resetDone'),
          },
          {
            words: say('person.role'),
            picture: 'shield',
            on: async () => {
              const role = await ask(
                say('person.role'),
                choice(
                  say('person.roleField'),
                  ['admin', 'moderator', 'member', 'guest'].map((it) => [it, say(`role.${it}`)]),
                  { value: person.role },
                ),
                say('act.save'),
              );
              if (role)
                await done(async () => {
                  place.people.set(person.id, await place.call('PATCH', `/users/${person.id}`, { body: { role } }));
                }, 'person.roleDone');
            },
          },
        ]
      : []),
  ].filter((it) => it !== false && it !== undefined);
}
