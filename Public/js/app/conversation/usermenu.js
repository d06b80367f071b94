// The menu of a user: mute, block, report, and the operations of moderators and staff.

import { el } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { report } from '../account/security/stepup.js';
import { destroy } from '../moderation/destroy.js';
import { sanctionItems } from '../moderation/sanctions.js';
import { ask, confirm, dialog } from '../parts/overlays/dialog.js';
import { choice, field } from '../parts/forms/field.js';
import { menu } from '../parts/overlays/menu.js';
import { toggle } from '../parts/forms/switch.js';
import { toast } from '../parts/overlays/toast.js';
import { loadMoreText, say } from '../core/text/text.js';

/** Opens the menu beside a name or avatar. */
export async function showUserMenu(shell, user, anchor) {
  await loadMoreText();
  const profile = { words: say('user.profile'), picture: 'user', on: () => shell.go(`/u/${encodeURIComponent(user.name ?? user.id)}`) };
  menu(anchor, [profile, ...userItems(shell, user)], say('act.more'));
}

export function userItems(shell, user, changed = () => {}) {
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
    ...(site.isStaff ? [null, ...staffItems(site, user, done)] : []),
    site.me.role === 'owner' && site.me.id !== user.id && {
      words: say('destroy.menu'),
      picture: 'delete',
      danger: true,
      on: () => destroy(site, { user: user.id }).then((is) => is && changed(), report),
    },
  ].filter((it) => it !== false && it !== undefined);
}

/** Takes a stolen account from the thief, and shows the link for a new password. */
async function recover(site, user) {
  const name = displayName(user);
  const { data } = await site.client.calls.listUserIdentities({ id: user.id });
  const none = ['', say('user.recoverNone')];
  const keep = choice(say('user.recoverKeep'), [none, ...data.map((it) => [it.id, `${it.issuer_name}: ${it.name}`])]);
  keep.hidden = !data.length;
  const sentence = el('p', null, say('user.recoverSentence', { name }));
  const control = Object.assign(el('div', null, sentence, keep), { input: keep.input });
  const kept = await ask(say('user.recover'), control, say('user.recoverVerb'), 'danger');
  if (kept === null) return;
  const body = kept ? { keep_identity: kept } : {};
  const { link } = await site.call('POST', `/users/${user.id}/recover`, { body });
  dialog(say('user.recover'), [
    el('p', null, say(link ? 'user.recoverDone' : 'user.recoverKept', { name })),
    link && field(say('format.link'), { value: link.url }),
  ]);
}

/** The link by which the person that an imported user is takes over the account. */
async function handOver(site, user) {
  const { inviteAddress } = await import('../admin/createinvite.js');
  const { code } = await site.call('POST', '/invites', { body: { user_id: user.id, client_id: crypto.randomUUID() } });
  dialog(say('user.handOver'), [
    el('p', null, say('user.handOverSentence', { name: displayName(user) })),
    field(say('invite.link'), { value: inviteAddress(code) }),
  ]);
}

/** Operations of staff on an account. */
function staffItems(site, user, done) {
  if (user.imported) return [{ words: say('user.handOver'), picture: 'key', on: () => handOver(site, user).catch(report) }];
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
      words: say('user.recover'),
      picture: 'shield',
      danger: true,
      on: () => recover(site, user).catch(report),
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
            const body = { role, end_sessions: end.input.checked };
            site.users.set(user.id, await site.call('PATCH', `/users/${user.id}`, { body }));
          }, 'user.roleDone');
      },
    },
  ];
}
