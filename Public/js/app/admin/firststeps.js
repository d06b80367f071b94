// The owner's first steps, in the room after the first run. Each ticks itself from what the site has.

import { changePreferences } from '../account/settings/changeme.js';
import { el, icon, refill } from '../core/dom.js';
import { loadSheet } from '../core/sheet.js';
import { say, sayProblem } from '../core/text/text.js';
import { iconButton } from '../parts/forms/button.js';
import { copyLine } from '../parts/forms/copyline.js';
import { toast } from '../parts/overlays/toast.js';
import { firstInviteKey, inviteAddress } from './createinvite.js';

/** Fills the node with the steps that are left, unless the owner has closed the list. */
export async function firstSteps(shell, node) {
  const { site } = shell;
  const { calls } = site.client;
  const [settings, invites, backups] = await Promise.all([calls.getSettings(), calls.listInvites(), calls.listBackups(), loadSheet('/css/parts/pages/steps.css')]);
  const backUp = async () => {
    try {
      await calls.createBackup();
      await firstSteps(shell, node);
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  const steps = [
    ['invite', invites.data.some((it) => it.uses > 0) || site.users.size > 1, '/admin/invites'],
    ['welcome', !!settings.welcome, '/admin/settings'],
    ['rules', !!settings.rules, '/admin/settings'],
    ['backup', backups.data.length > 0, backUp],
    ['notifications', 'Notification' in window && Notification.permission === 'granted', '/you/notifications'],
  ];
  const close = async () => {
    node.hidden = true;
    sessionStorage.removeItem(firstInviteKey(site));
    await changePreferences(site, { first_steps: false }).catch(() => {});
  };
  const isDone = steps.every(([, done]) => done);
  if (isDone) return close();
  const link = await inviteLink(sessionStorage.getItem(firstInviteKey(site)));
  refill(
    node,
    el('div.section-head', null, el('h2.section-title', null, say('steps.title')), iconButton('close', say('act.close'), { on: close })),
    el('ul.first-steps', null, steps.map(([name, done, to]) => [
      el('li', { class: done ? 'is-done' : '' }, step(name, done, to)),
      name === 'invite' && !done && link,
    ])),
  );
  node.hidden = false;
  return undefined;
}

/** The link of the first run's invite: to copy, and as a code for a camera. */
async function inviteLink(code) {
  if (!code) return null;
  const { qr } = await import('../core/pictures/qr.js');
  const address = inviteAddress(code);
  const words = say('invite.qr');
  return el('li.first-invite', null, copyLine(say('invite.link'), address), el('details', null, el('summary', null, words), el('div.qr', null, qr(address, words))));
}

function step(name, isDone, to) {
  const words = say(`steps.${name}`);
  if (isDone) return [icon('check', say('steps.done')), el('span', null, words)];
  const open = icon('onward');
  return typeof to === 'string' ? [open, el('a', { href: to }, words)] : [open, el('button.first-step', { type: 'button', on: { click: to } }, words)];
}
