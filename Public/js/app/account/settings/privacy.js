// Privacy: receipts, presence, discovery, muted and blocked users; leaving the site.

import { el, refill } from '../../core/dom.js';
import { say, sayProblem } from '../../core/text/text.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { confirm } from '../../parts/overlays/dialog.js';
import { choice, field } from '../../parts/forms/field.js';
import { savingForm } from '../../parts/forms/form.js';
import { userRow } from '../../parts/user/user.js';
import { toggle } from '../../parts/forms/switch.js';
import { toast } from '../../parts/overlays/toast.js';
import { changeMe } from './changeme.js';

export async function privacy(shell, column) {
  const { site } = shell;
  const lists = await Promise.all(['muted', 'blocked'].map((it) => left(site, it)));
  refill(
    column,
    toggle(say('privacy.receipts'), {
      checked: site.me.show_receipts,
      hint: say('privacy.receiptsHint'),
      on: (on) => changeMe(shell, { show_receipts: on }),
    }),
    toggle(say('privacy.presence'), {
      checked: site.me.show_presence,
      hint: say('privacy.presenceHint'),
      on: (on) => changeMe(shell, { show_presence: on }),
    }),
    toggle(say('privacy.stars'), {
      checked: site.me.show_stars,
      hint: say('privacy.starsHint'),
      on: (on) => changeMe(shell, { show_stars: on }),
    }),
    toggle(say('privacy.found'), {
      checked: site.me.discoverable,
      hint: say('privacy.foundHint'),
      on: (on) => changeMe(shell, { discoverable: on }),
    }),
    addresses(site),
    choice(
      say('privacy.reach'),
      ['anyone', 'shared', 'nobody'].map((it) => [it, say(`privacy.reach.${it}`)]),
      {
        value: site.me.reachable_by,
        on: (value) => changeMe(shell, { reachable_by: value }).catch(() => {}),
      },
    ),
    lists,
    el('h2.section-title', null, say('leaveSite.verb')),
    el(
      'div.panel-block',
      null,
      el('p.second', null, say('leaveSite.lead')),
      button(say('leaveSite.verb'), {
        kind: 'danger',
        on: async () => (await import('./leavesite.js')).leaveSite(shell),
      }),
    ),
  );
}

/** The contact addresses for discovery. The server stores digests only, so they can be replaced but not shown. */
function addresses(site) {
  if (site.parley?.settings?.discovery === false) return null;
  const own = field(say('addresses.own'), { lines: 2, hint: say('addresses.hint') });
  const lines = () => own.input.value.split('\n').map((it) => it.trim()).filter(Boolean);
  const save = button(say('addresses.save'), { type: 'submit' });
  const work = async () => {
    const given = lines();
    // Stored addresses are not shown, so an empty field asks for confirmation.
    if (!given.length && !(await confirm(say('addresses.none'), say('addresses.noneWords'), say('addresses.none')))) return;
    await site.call('PATCH', '/users/me', { body: { addresses: given } });
    own.input.value = '';
    toast(say('addresses.saved', { n: given.length }));
  };
  const words = (error) => {
    const wrong = lines()[/^addresses\[(\d+)\]$/.exec(error.field ?? '')?.[1]];
    return wrong ? say('addresses.wrong', { address: wrong }) : sayProblem(error);
  };
  return el('div.panel-block', null, savingForm(save, { work, words }, own));
}

/** Muted and blocked users, each with an undo button. */
async function left(site, kind) {
  const { data } = await site.call('GET', `/me/${kind}`, { query: { limit: 200 } });
  const verb = { muted: 'mute', blocked: 'block' }[kind];
  const row = (it) => {
    const end = button(say(`user.un${verb}`), {
      on: () =>
        whileBusy(end, () => site.call('DELETE', `/users/${it.id}/${verb}`)).then(
          () => node.remove(),
          (error) => toast(sayProblem(error)),
        ),
    });
    const node = el('div.setting-row', null, userRow(it, { href: `/u/${encodeURIComponent(it.name ?? it.id)}` }), end);
    return node;
  };
  return data.length ? [el('h2.section-title', null, say(`privacy.${kind}`)), el('div.setting-list', null, data.map(row))] : [];
}
