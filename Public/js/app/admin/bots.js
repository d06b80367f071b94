// The bots of the site: list, create. For staff. A new bot's token is shown once.

import { el, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { isolate, say, sayProblem } from '../core/text/text.js';
import { moment, time } from '../core/text/times.js';
import { button } from '../parts/forms/button.js';
import { dialog } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { choice, field } from '../parts/forms/field.js';
import { forumChoice } from '../parts/forms/forumchoice.js';
import { savingForm } from '../parts/forms/form.js';
import { rateField, showToken } from '../parts/forms/newtoken.js';
import { userRow } from '../parts/user/user.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { toast } from '../parts/overlays/toast.js';

/** Fills the column. */
export async function botsPage({ site }, column) {
  const list = el('div.setting-list');
  const foot = el('div');
  const load = async (next) => {
    const page = await site.client.calls.listBots({ query: { include: 'users', next } });
    const owners = new Map(page.included.users.map((it) => [it.id, it]));
    const rows = page.data.map((it) => botRow(it, owners.get(it.owner_id)));
    if (next) list.append(...rows);
    else refill(list, rows.length ? rows : empty(say('bots.none'), { picture: 'bot' }));
    refill(foot, page.next && showMoreButton(() => load(page.next)));
  };
  const make = button(say('bots.make'), { kind: 'primary', picture: 'plus', on: () => createBot(site, load) });
  refill(column, el('p.second', null, say('bots.lead')), el('div.form-foot', null, make), list, foot);
  await load();
}

function botRow(bot, owner) {
  const facts = [
    isolate(`@${bot.name}`),
    owner && say('bots.owner', { who: isolate(displayName(owner)) }),
    bot.state === 'active' ? null : say('bots.inactive'),
  ];
  const used = bot.last_used_at ? time(bot.last_used_at, moment) : say('tokens.unused');
  return userRow(bot, {
    href: `/u/${encodeURIComponent(bot.name)}`,
    second: facts.filter(Boolean).join(' · '),
    end: el('span.second', null, used),
  });
}

async function createBot(site, changed) {
  const forums = (await site.client.calls.listForums({ query: { limit: 200 } })).data;
  // A repeated press creates no second bot.
  const id = crypto.randomUUID();
  const name = field(say('signIn.name'), { required: true, limit: 64, hint: say('bots.nameHint'), autocomplete: 'off' });
  const display = field(say('signIn.display'), { limit: 64, autocomplete: 'off' });
  const scope = choice(say('bots.scope'), ['write', 'read'].map((it) => [it, say(`scope.${it}`)]));
  const joins = forumChoice(forums.map((it) => [it.id, it.title]), say('bots.forumsHint'));
  const rate = rateField();
  const create = button(say('bots.create'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const made = await site.call('POST', '/bots', {
      body: {
        client_id: id,
        name: name.input.value.trim().replace(/^@/, ''),
        display_name: display.input.value.trim() || undefined,
        scope: scope.input.value,
        forums: joins.chosen(),
        limits: rate.rate() && { rate_limit: rate.rate() },
      },
    });
    node.close();
    // The token is shown only once, also if the list can't be loaded.
    showToken(say('bots.made', { name: isolate(displayName(made.user)) }), made.token, { lost: say('bots.lost') });
    changed().catch((error) => toast(sayProblem(error)));
  };
  const node = dialog(
    say('bots.make'),
    savingForm(
      create,
      { work },
      name,
      display,
      scope,
      joins.node,
      rate,
    ),
  );
  name.input.focus();
}
