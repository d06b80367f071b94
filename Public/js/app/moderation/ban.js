// A ban, with the messages of the last hours and the open reports: one dialog, one undo.

import { el } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { button } from '../parts/forms/button.js';
import { dialog } from '../parts/overlays/dialog.js';
import { choice } from '../parts/forms/field.js';
import { toggle } from '../parts/forms/switch.js';
import { toast } from '../parts/overlays/toast.js';
import { report } from '../account/security/stepup.js';
import { say, sayProblem } from '../core/text/text.js';
import { countMessages, durations, reasonField, startOf, starts, until } from './sanctionform.js';

/**
 * Asks for duration, reason and what is removed, and bans.
 * @param {object} options removes: whether messages are removed unless the moderator changes it; reports: whether the
 *   open reports about the user are resolved; changed: called after the ban and after the undo
 */
export function banDialog(site, user, { removes = false, reports = false, changed = () => {} } = {}) {
  const name = displayName(user);
  const duration = choice(say('moderation.howLong'), durations(), { value: removes ? 'ever' : 'day' });
  const reason = reasonField(user);
  const remove = toggle(say('ban.removes'), { checked: removes, on: () => look() });
  const since = choice(say('moderation.since'), starts(), { value: 'day', on: () => look() });
  const verb = button(say('moderation.ban'), { kind: 'danger', on: () => node.close('yes') });
  let found = { n: 0, since: startOf('day') };
  const look = async () => {
    since.hidden = !remove.input.checked;
    verb.lastChild.textContent = say('moderation.ban');
    if (!remove.input.checked) return;
    const wanted = startOf(since.input.value);
    found = { n: 0, since: wanted };
    try {
      const { n, isMore } = await countMessages(site, user, wanted);
      if (found.since !== wanted) return;
      found = { n, since: wanted };
      verb.lastChild.textContent = say(isMore ? 'ban.verbMore' : n ? 'ban.verb' : 'moderation.ban', { n });
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  const node = dialog(
    say('moderation.banTitle', { name }),
    [el('p.second.dialog-lead', null, say('ban.sentence')), duration, reason, remove, since],
    {
      actions: [button(say('act.cancel'), { on: () => node.close() }), verb],
      onClose: (value) => {
        if (value !== 'yes') return;
        const because = reason.input.value.trim();
        const from = remove.input.checked ? found.since : null;
        ban(site, user, { until: until(duration.input.value), because, from, reports, changed });
      },
    },
  );
  duration.input.focus();
  look();
}

/** Bans, removes messages since `from` and resolves reports. The toast undoes all of it. */
async function ban(site, user, { until: end, because, from, reports, changed }) {
  const path = `/users/${user.id}`;
  const reason = because ? { reason: because } : {};
  const undo = [];
  try {
    await site.call('PUT', `${path}/ban`, { body: { ...(end ? { until: end } : {}), ...reason } });
    undo.push(() => site.call('DELETE', `${path}/ban`));
    if (from) {
      const body = { author: user.id, since: from, client_id: crypto.randomUUID(), ...reason };
      const made = await site.call('POST', '/removals', { body });
      undo.push(() => site.call('DELETE', `/removals/${made.id}`));
    }
    if (reports) undo.push(await resolveReports(site, user, { state: 'acted', ...(because ? { outcome: because } : {}) }));
  } catch (error) {
    report(error);
  }
  changed();
  if (!undo.length) return;
  const isUndone = await toast(say(from ? 'ban.done' : 'moderation.banDone', { name: displayName(user) }), { undo: () => {} });
  if (!isUndone) return;
  for (const work of undo.reverse()) await work().catch(report);
  changed();
}

/** Resolves all open reports about a user. @returns {Promise<() => Promise<void>>} reopens them */
export async function resolveReports(site, user, decision) {
  const { handled_at } = await site.call('PATCH', '/reports', { body: { user: user.id, ...decision } });
  const { forum_id } = decision;
  return async () => {
    if (handled_at) await site.call('PATCH', '/reports', { body: { user: user.id, ...(forum_id ? { forum_id } : {}), state: 'open', handled_at } });
  };
}
