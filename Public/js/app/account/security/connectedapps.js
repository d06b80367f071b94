// The apps that the user has allowed to use their account.

import { el, refill } from '../../core/dom.js';
import { isolate, say, sayProblem } from '../../core/text/text.js';
import { moment } from '../../core/text/times.js';
import { button } from '../../parts/forms/button.js';
import { empty } from '../../parts/lists/empty.js';
import { showMoreButton } from '../../parts/lists/showmore.js';
import { confirm } from '../../parts/overlays/dialog.js';
import { toast } from '../../parts/overlays/toast.js';

/** Fills the column. */
export async function connectedApps({ site }, column) {
  const forums = await site.client.calls.listForums({ query: { limit: 200 } });
  const titles = new Map(forums.data.map((it) => [it.id, it.title]));
  const list = el('div.setting-list');
  const foot = el('div');
  const load = async (next) => {
    const page = await site.call('GET', '/me/apps', { query: { next } });
    const rows = page.data.map((it) => appRow(site, it, titles, load));
    if (next) list.append(...rows);
    else refill(list, rows.length ? rows : empty(say('connected.none'), { picture: 'link' }));
    refill(foot, page.next && showMoreButton(() => load(page.next)));
  };
  refill(column, el('p.second', null, say('connected.lead')), list, foot);
  await load();
}

function appRow(site, app, titles, changed) {
  const name = isolate(app.name);
  const facts = [
    !app.verified && say('apps.unverified'),
    say(`scope.${app.scope}`),
    app.forums && app.forums.map((id) => isolate(titles.get(id) ?? id)).join(', '),
    app.grant_count > 1 && say('connected.devices', { n: app.grant_count }),
    say('connected.used', { at: moment(new Date(app.last_used_at)) }),
  ];
  const end = button(say('connected.end'), {
    on: async () => {
      if (!(await confirm(say('connected.endTitle', { name }), say('connected.endSentence'), say('connected.end')))) return;
      await site.call('DELETE', `/me/apps/${app.id}`).then(changed, (error) => toast(sayProblem(error)));
    },
  });
  end.setAttribute('aria-label', say('connected.endOne', { name }));
  return el('div.setting-row', null, el('span', null, el('span', null, name), el('span.second', null, facts.filter(Boolean).join(' · '))), end);
}
