// The sessions and tokens of the user.

import { el, refill } from '../../core/dom.js';
import { isolate, say, sayProblem } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { dialog } from '../../parts/overlays/dialog.js';
import { field } from '../../parts/forms/field.js';
import { savingForm } from '../../parts/forms/form.js';
import { forumChoice } from '../../parts/forms/forumchoice.js';
import { rateField, showToken } from '../../parts/forms/newtoken.js';
import { toast } from '../../parts/overlays/toast.js';

/** A row of a session or token, with a button that ends it if there is a `verb`. */
function endable(site, words, second, verb, path) {
  const row = el('div.setting-row', null, el('span', null, el('span', null, words), el('span.second', null, second)));
  const end = () =>
    site.call('DELETE', path).then(
      () => row.remove(),
      (error) => toast(sayProblem(error)),
    );
  if (verb) row.append(button(verb, { on: end }));
  return row;
}

export async function sessions(shell, column) {
  const { site } = shell;
  const page = await site.call('GET', '/sessions');
  const endOthers = button(say('sessions.endOthers'), {
    on: () => whileBusy(endOthers, () => site.call('DELETE', '/sessions')).then(() => sessions(shell, column), (error) => toast(sayProblem(error))),
  });
  refill(
    column,
    el('p.second', null, say('sessions.lead')),
    el(
      'div.setting-list',
      null,
      page.data.map((it) =>
        endable(
          site,
          it.name || say('sessions.unnamed'),
          [it.current ? say('sessions.current') : time(it.last_used_at ?? it.created_at, moment), it.address && ` · ${it.address}`],
          it.current ? null : say('sessions.end'),
          `/sessions/${it.id}`,
        ),
      ),
    ),
    page.data.length > 1 && el('div.form-foot', null, endOthers),
  );
}

export async function tokens(shell, column) {
  const { site } = shell;
  const [page, forums] = await Promise.all([site.call('GET', '/me/tokens'), site.client.calls.listForums({ query: { limit: 200 } })]);
  const titles = new Map(forums.data.map((it) => [it.id, it.title]));
  const facts = (it) => [
    say(`scope.${it.scope}`),
    it.forums && it.forums.map((id) => isolate(titles.get(id) ?? id)).join(', '),
    it.last_used_at ? time(it.last_used_at, moment) : say('tokens.unused'),
  ];
  refill(
    column,
    el('p.second', null, say('tokens.lead')),
    el(
      'div.setting-list',
      null,
      page.data.map((it) => endable(site, it.name, separated(facts(it)), say('tokens.end'), `/me/tokens/${it.id}`)),
    ),
    el(
      'div.form-foot',
      null,
      button(say('tokens.make'), { picture: 'plus', on: () => createToken(site, titles, () => tokens(shell, column)) }),
    ),
  );
}

function separated(facts) {
  return facts.filter(Boolean).flatMap((it, index) => (index ? [' · ', it] : [it]));
}

function createToken(site, forums, changed) {
  // A repeated press creates no second token.
  const id = crypto.randomUUID();
  const name = field(say('tokens.name'), { hint: say('tokens.nameHint'), required: true, limit: 64 });
  const limits = forumChoice([...forums], say('tokens.forumsHint'));
  const rate = rateField();
  const create = button(say('tokens.make'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const made = await site.call('POST', '/me/tokens', {
      body: { name: name.input.value.trim(), scope: 'write', client_id: id, forums: limits.chosen(), rate_limit: rate.rate() },
    });
    node.close();
    showToken(say('tokens.made'), made.token, { lost: say('tokens.lost'), onClose: changed });
  };
  const node = dialog(
    say('tokens.make'),
    savingForm(
      create,
      { work },
      name,
      limits.node,
      rate,
    ),
  );
  name.input.focus();
}
