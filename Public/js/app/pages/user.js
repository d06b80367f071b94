// A user's page: profile and actions.

import { el, redraw } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { report } from '../account/stepup.js';
import { destroy } from '../moderation/destroy.js';
import { decisions, sanctionItems } from '../moderation/sanctions.js';
import { button } from '../parts/button.js';
import { ask, confirm, dialog } from '../parts/dialog.js';
import { choice, field } from '../parts/field.js';
import { menu } from '../parts/menu.js';
import { personCard } from '../parts/person.js';
import { pageBar } from '../parts/sidebar.js';
import { toggle } from '../parts/switch.js';
import { toast } from '../parts/toast.js';
import { say } from '../core/text.js';
import { writeTo } from './newconversation.js';
import { userNamed } from '../state/users.js';

export async function open(shell, { name }) {
  const { site } = shell;
  const person = await userNamed(site, name);
  const isMe = person.id === site.me?.id;
  const decided = site.isModerator && !isMe ? decisions(site, person) : null;
  const written =
    person.name &&
    button(say('person.written', { name: displayName(person) }), {
      picture: 'search',
      on: () => shell.go(`/search?q=${encodeURIComponent(`from:@${person.name}`)}`),
    });
  const actions = !site.me
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
    personCard(site.users.get(person.id) ?? person, { actions: verbs, presence: site.presenceOf(person.id) });
  const card = drawn(actions);
  const verbs = card.querySelector('.person-actions');
  // Buttons keep their nodes, or a press in progress would be lost.
  const draw = () => redraw(card, ...drawn([]).children, verbs);
  const unlisten = site.listen(['users', 'presence'], draw);
  return {
    title: displayName(person),
    here: isMe ? '/you' : null,
    node: [
      pageBar(displayName(person), {
        back: () => shell.router.back('/'),
        state: site.state,
      }),
      el(
        'div.page-body',
        null,
        el('div.page-column', null, el('div.person-page', null, card), decided),
      ),
    ],
    close: unlisten,
  };
}

function items(shell, person, changed) {
  const { site } = shell;
  const done = async (work, words, undo) => {
    try {
      await work();
      const isUndone = await toast(say(words, { name: displayName(person) }), undo && { undo: () => {} });
      if (isUndone) await undo();
    } catch (error) {
      report(error);
    }
  };
  const relation = (name, method) => site.call(method, `/users/${person.id}/${name}`);
  const held = site.parley?.mirror.relations.get(person.id);
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
      on: () => done(() => relation('block', 'PUT'), 'person.blocked', () => relation('block', 'DELETE')),
    },
    {
      words: say('act.report'),
      picture: 'flag',
      on: async () => {
        const reason = await ask(
          say('reportIt.userTitle', { name: displayName(person) }),
          field(say('reportIt.field'), { lines: 3, required: true, hint: say('reportIt.hint'), limit: 500 }),
          say('act.report'),
        );
        if (reason) await done(() => site.call('POST', '/reports', { body: { user: person.id, reason } }), 'reportIt.done');
      },
    },
    ...(site.isModerator && !['owner', 'admin'].includes(person.role) ? [null, ...sanctionItems(shell, person, changed)] : []),
    ...(site.isHost ? [null, ...hostItems(site, person, done)] : []),
    site.me.role === 'owner' && site.me.id !== person.id && {
      words: say('destroy.menu'),
      picture: 'delete',
      danger: true,
      on: () => destroy(site, { user: person.id }).then((is) => is && changed(), report),
    },
  ].filter((it) => it !== false && it !== undefined);
}

/** What staff does with an account. */
function hostItems(site, person, done) {
  return [
    {
      words: say('person.reset'),
      picture: 'key',
      on: () =>
        done(async () => {
          const made = await site.call('POST', `/users/${person.id}/reset`);
          dialog(say('person.reset'), [
            el('p', null, say('person.resetSentence')),
            Object.assign(field(say('invite.link'), { value: made.url })),
          ]);
        }, 'person.resetDone'),
    },
    {
      words: say('person.resetFactor'),
      picture: 'shield',
      on: async () => {
        if (await confirm(say('person.resetFactor'), say('person.resetFactorSentence', { name: displayName(person) }), say('twoStep.off')))
          await done(() => site.call('POST', `/users/${person.id}/reset-second-factor`), 'person.resetFactorDone');
      },
    },
    {
      words: say('person.role'),
      picture: 'shield',
      on: async () => {
        const field = choice(
          say('person.roleField'),
          ['admin', 'moderator', 'member', 'guest'].map((it) => [it, say(`role.${it}`)]),
          { value: person.role },
        );
        const end = toggle(say('person.endSessions'), { checked: true });
        const role = await ask(say('person.role'), Object.assign(el('div', null, field, end), { input: field.input }), say('act.save'));
        if (role)
          await done(async () => {
            const body = { role, ...(end.input.checked ? { end_sessions: true } : {}) };
            site.users.set(person.id, await site.call('PATCH', `/users/${person.id}`, { body }));
          }, 'person.roleDone');
      },
    },
  ];
}
