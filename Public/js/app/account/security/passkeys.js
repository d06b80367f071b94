// The passkeys of the account: add, rename, delete.

import { el, refill } from '../../core/dom.js';
import { say, sayProblem } from '../../core/text/text.js';
import { moment } from '../../core/text/times.js';
import { button, iconButton, whileBusy } from '../../parts/forms/button.js';
import { ask, confirm } from '../../parts/overlays/dialog.js';
import { empty } from '../../parts/lists/empty.js';
import { field } from '../../parts/forms/field.js';
import { toast } from '../../parts/overlays/toast.js';
import { addPasskey, canUsePasskeys } from './passkey.js';

const report = (error) => error.code !== 'step_up_required' && toast(error.sentence ?? sayProblem(error));

export async function passkeys(shell, column) {
  const { site } = shell;
  const { data } = await site.call('GET', '/me/passkeys');
  const redraw = () => passkeys(shell, column);
  const add = button(say('passkeys.add'), {
    kind: 'primary',
    picture: 'plus',
    on: () =>
      whileBusy(add, async () => {
        await addPasskey(site);
        toast(say('passkeys.added'));
        await redraw();
        column.querySelector('.button-primary').focus();
      }).catch(report),
  });
  refill(
    column,
    el('p.second', null, say('passkeys.lead')),
    canUsePasskeys() ? el('div.form-foot', null, add) : el('p.banner', null, say('passkeys.unsupported')),
    data.length ? el('div.setting-list', null, data.map((it) => row(site, it, redraw))) : empty(say('passkeys.none'), { picture: 'key' }),
  );
}

function row(site, passkey, redraw) {
  const { id, name, host } = passkey;
  const on = (work) => () => work(site, passkey).then((isDone) => isDone && redraw()).catch(report);
  const facts = [
    say('passkeys.created', { date: moment(new Date(passkey.created_at)) }),
    passkey.last_used_at ? say('passkeys.used', { date: moment(new Date(passkey.last_used_at)) }) : say('passkeys.unused'),
    passkey.backed_up && say('passkeys.synced'),
    host !== location.hostname && say('passkeys.host', { host }),
  ];
  return el(
    'div.setting-row',
    { data: { id } },
    el('span', null, el('span', null, name), el('span.second', null, facts.filter(Boolean).join(' · '))),
    iconButton('edit', say('passkeys.renameOne', { name }), { on: on(rename) }),
    iconButton('delete', say('passkeys.deleteOne', { name }), { on: on(remove) }),
  );
}

/** Resolves to whether it has a new name. */
async function rename(site, { id, name }) {
  const next = await ask(say('passkeys.rename'), field(say('passkeys.name'), { value: name, required: true, limit: 100 }), say('act.save'));
  if (!next || next === name) return false;
  await site.call('PATCH', `/me/passkeys/${id}`, { body: { name: next } });
  return true;
}

/** Resolves to whether it is gone. */
async function remove(site, { id }) {
  if (!(await confirm(say('passkeys.delete'), say('passkeys.deleteSentence'), say('act.delete')))) return false;
  await site.call('DELETE', `/me/passkeys/${id}`);
  return true;
}
