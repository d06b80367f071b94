// The accounts at OpenID providers that sign the user in: link and unlink them.

import { el, refill } from '../../core/dom.js';
import { isolate, say, sayProblem } from '../../core/text/text.js';
import { moment } from '../../core/text/times.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { empty } from '../../parts/lists/empty.js';
import { confirm } from '../../parts/overlays/dialog.js';
import { toast } from '../../parts/overlays/toast.js';

const report = (error) => error.code !== 'step_up_required' && toast(sayProblem(error));

/** Fills the column. */
export async function identities({ site }, column) {
  const { data } = await site.client.calls.listIdentities();
  const redraw = () => identities({ site }, column);
  refill(
    column,
    el('p.second', null, say('accounts.lead')),
    el('div.form-foot', null, site.server.issuers.map((it) => linkButton(site, it))),
    data.length ? el('div.setting-list', null, data.map((it) => row(site, it, redraw))) : empty(say('accounts.none'), { picture: 'link' }),
  );
}

function linkButton(site, { id, name }) {
  const link = button(say('accounts.link', { name: isolate(name) }), {
    picture: 'plus',
    on: () =>
      whileBusy(link, async () => {
        const { url } = await site.call('POST', '/me/identities', { body: { issuer: id, back: '/you/accounts' } });
        location.assign(url);
      }).catch(report),
  });
  return link;
}

function row(site, account, changed) {
  const issuer = isolate(account.issuer_name);
  const facts = [
    isolate(account.name),
    account.issuer === null && say('accounts.off'),
    say('accounts.linked', { date: moment(new Date(account.created_at)) }),
    account.last_used_at ? say('accounts.used', { date: moment(new Date(account.last_used_at)) }) : say('accounts.unused'),
  ];
  const end = button(say('accounts.unlink'), {
    on: async () => {
      if (!(await confirm(say('accounts.unlinkTitle', { name: issuer }), say('accounts.unlinkSentence'), say('accounts.unlink')))) return;
      await site.call('DELETE', `/me/identities/${account.id}`).then(changed, report);
    },
  });
  end.setAttribute('aria-label', say('accounts.unlinkOne', { name: issuer }));
  return el('div.setting-row', null, el('span', null, el('span', null, issuer), el('span.second', null, facts.filter(Boolean).join(' · '))), end);
}
