// The sessions and tokens of the user.

import { el, refill } from '../../core/dom.js';
import { say, sayProblem } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { ask, dialog } from '../../parts/overlays/dialog.js';
import { field } from '../../parts/forms/field.js';
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
  const page = await site.call('GET', '/me/tokens');
  const make = async () => {
    const name = await ask(
      say('tokens.make'),
      field(say('tokens.name'), { hint: say('tokens.nameHint'), required: true, limit: 64 }),
      say('tokens.make'),
    );
    if (!name) return;
    try {
      const made = await site.call('POST', '/me/tokens', {
        body: { name, scope: 'write', client_id: crypto.randomUUID() },
      });
      dialog(
        say('tokens.made'),
        [el('p', null, say('tokens.once')), field(say('tokens.token'), { value: made.token })],
        { onClose: () => tokens(shell, column) },
      );
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  refill(
    column,
    el('p.second', null, say('tokens.lead')),
    el(
      'div.setting-list',
      null,
      page.data.map((it) =>
        endable(
          site,
          it.name,
          [say(`scope.${it.scope}`), ' · ', it.last_used_at ? time(it.last_used_at, moment) : say('tokens.unused')],
          say('tokens.end'),
          `/me/tokens/${it.id}`,
        ),
      ),
    ),
    el('div.form-foot', null, button(say('tokens.make'), { picture: 'plus', on: make })),
  );
}
