// A user's page: profile and actions.

import { el, redraw } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { report } from '../account/stepup.js';
import { followButton } from '../feed/follow.js';
import { destroy } from '../moderation/destroy.js';
import { decisions, sanctionItems } from '../moderation/sanctions.js';
import { button } from '../parts/button.js';
import { ask, confirm, dialog } from '../parts/dialog.js';
import { choice, field } from '../parts/field.js';
import { menu } from '../parts/menu.js';
import { userCard } from '../parts/user.js';
import { pageBar } from '../parts/sidebar.js';
import { toggle } from '../parts/switch.js';
import { toast } from '../parts/toast.js';
import { say } from '../core/text.js';
import { writeTo } from './newconversation.js';
import { userNamed } from '../state/users.js';

export async function open(shell, { name }) {
  const { site } = shell;
  const user = await userNamed(site, name);
  const isMe = user.id === site.me?.id;
  const decided = site.isModerator && !isMe ? decisions(site, user) : null;
  const written =
    user.name &&
    button(say('user.written', { name: displayName(user) }), {
      picture: 'search',
      on: () => shell.go(`/search?q=${encodeURIComponent(`from:@${user.name}`)}`),
    });
  const follow = site.me && !isMe ? followButton(site, user) : null;
  const actions = !site.me
    ? []
    : isMe
      ? [button(say('you.profile'), { kind: 'primary', on: () => shell.go('/you/profile') }), written]
      : [
          button(say('act.write'), { kind: 'primary', picture: 'messages', on: () => writeTo(shell, user) }),
          follow,
          written,
          button(say('act.more'), {
            picture: 'more',
            on: (event) => menu(event.currentTarget, items(shell, user, () => decided?.again()), say('act.more')),
          }),
        ];
  const drawn = (verbs) =>
    userCard(site.users.get(user.id) ?? user, { actions: verbs, presence: site.presenceOf(user.id) });
  const card = drawn(actions);
  const verbs = card.querySelector('.user-actions');
  // Buttons keep their nodes, or a press in progress would be lost.
  const draw = () => {
    follow?.update();
    redraw(card, ...drawn([]).children, verbs);
  };
  const section = el('div');
  let posts = null;
  let isClosed = false;
  const filled = site.me && import('./feed.js').then((it) => it.fillWithPosts(shell, user, section));
  if (filled) filled.then((it) => (isClosed ? it?.close() : (posts = it)), () => {});
  const unlisten = site.listen(['users', 'presence'], draw);
  return {
    title: displayName(user),
    here: isMe ? '/you' : null,
    node: [
      pageBar(displayName(user), {
        back: () => shell.router.back('/'),
        state: site.state,
      }),
      el(
        'div.page-body',
        null,
        el('div.page-column', null, el('div.user-page', null, card), decided, section),
      ),
    ],
    pressed: (event) => posts?.pressed(event),
    close() {
      unlisten();
      isClosed = true;
      posts?.close();
    },
  };
}

function items(shell, user, changed) {
  const { site } = shell;
  const done = async (work, words, undo) => {
    try {
      await work();
      const isUndone = await toast(say(words, { name: displayName(user) }), undo && { undo: () => {} });
      if (isUndone) await undo();
    } catch (error) {
      report(error);
    }
  };
  const relation = (name, method) => site.call(method, `/users/${user.id}/${name}`);
  const held = site.parley?.mirror.relations.get(user.id);
  return [
    held?.mute
      ? { words: say('user.unmute'), picture: 'bell', on: () => done(() => relation('mute', 'DELETE'), 'user.unmuted') }
      : { words: say('user.mute'), picture: 'bell-off', on: () => done(() => relation('mute', 'PUT'), 'user.muted') },
    held?.block && {
      words: say('user.unblock'),
      picture: 'undo',
      on: () => done(() => relation('block', 'DELETE'), 'user.unblocked'),
    },
    !held?.block && {
      words: say('user.block'),
      picture: 'lock',
      danger: true,
      on: () => done(() => relation('block', 'PUT'), 'user.blocked', () => relation('block', 'DELETE')),
    },
    {
      words: say('act.report'),
      picture: 'flag',
      on: async () => {
        const reason = await ask(
          say('reportIt.userTitle', { name: displayName(user) }),
          field(say('reportIt.field'), { lines: 3, required: true, hint: say('reportIt.hint'), limit: 500 }),
          say('act.report'),
        );
        if (reason) await done(() => site.call('POST', '/reports', { body: { user: user.id, reason } }), 'reportIt.done');
      },
    },
    ...(site.isModerator && !['owner', 'admin'].includes(user.role) ? [null, ...sanctionItems(shell, user, changed)] : []),
    ...(site.isHost ? [null, ...hostItems(site, user, done)] : []),
    site.me.role === 'owner' && site.me.id !== user.id && {
      words: say('destroy.menu'),
      picture: 'delete',
      danger: true,
      on: () => destroy(site, { user: user.id }).then((is) => is && changed(), report),
    },
  ].filter((it) => it !== false && it !== undefined);
}

/** Operations of staff on an account. */
function hostItems(site, user, done) {
  return [
    {
      words: say('user.reset'),
      picture: 'key',
      on: () =>
        done(async () => {
          const made = await site.call('POST', `/users/${user.id}/reset`);
          dialog(say('user.reset'), [
            el('p', null, say('user.resetSentence')),
            Object.assign(field(say('invite.link'), { value: made.url })),
          ]);
        }, 'user.resetDone'),
    },
    {
      words: say('user.resetFactor'),
      picture: 'shield',
      on: async () => {
        if (await confirm(say('user.resetFactor'), say('user.resetFactorSentence', { name: displayName(user) }), say('twoStep.off')))
          await done(() => site.call('POST', `/users/${user.id}/reset-second-factor`), 'user.resetFactorDone');
      },
    },
    {
      words: say('user.role'),
      picture: 'shield',
      on: async () => {
        const field = choice(
          say('user.roleField'),
          ['admin', 'moderator', 'member', 'guest'].map((it) => [it, say(`role.${it}`)]),
          { value: user.role },
        );
        const end = toggle(say('user.endSessions'), { checked: true });
        const role = await ask(say('user.role'), Object.assign(el('div', null, field, end), { input: field.input }), say('act.save'));
        if (role)
          await done(async () => {
            const body = { role, ...(end.input.checked ? { end_sessions: true } : {}) };
            site.users.set(user.id, await site.call('PATCH', `/users/${user.id}`, { body }));
          }, 'user.roleDone');
      },
    },
  ];
}
