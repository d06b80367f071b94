// The sign-ins to the account and the failed attempts, and what to do about a foreign one. A mail or a notification about a sign-in
// names its session, and that entry stands first.

import { el, refill } from '../../core/dom.js';
import { say, sayProblem } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { empty } from '../../parts/lists/empty.js';
import { toast } from '../../parts/overlays/toast.js';

export async function signIns(shell, column, query) {
  const list = el('div.setting-list');
  const more = button(say('act.more'), { kind: 'quiet', on: () => whileBusy(more, load).catch((error) => toast(sayProblem(error))) });
  const session = query.get('session');
  let chosen;
  let next;
  const load = async () => {
    const page = await shell.site.client.calls.listSignIns({ query: { next } });
    list.append(...page.data.map((it) => row(shell, it)));
    chosen ??= page.data.find((it) => session && it.session_id === session);
    next = page.next;
    more.hidden = !next;
  };
  do await load();
  while (session && !chosen && next);
  refill(
    column,
    chosen && [el('h2.section-title', null, say('signIns.chosen')), el('div.setting-list', null, row(shell, chosen))],
    el('p.second', null, say('signIns.lead')),
    list.childElementCount ? list : empty(say('signIns.none'), { picture: 'clock' }),
    el('div.form-foot', null, more),
  );
}

function row(shell, entry) {
  const facts = [say(`signIns.method.${entry.method}`), entry.device, entry.address, entry.new_device && say('signIns.new')];
  const notMe = button(say('signIns.notMe'), {
    on: () => whileBusy(notMe, () => wasNotMe(shell, entry.session_id)).catch((error) => toast(sayProblem(error))),
  });
  return el(
    'div.setting-row',
    null,
    el(
      'span',
      null,
      el('span', null, say(`signIns.result.${entry.result}`), ' · ', time(entry.created_at, moment)),
      el('span.second', null, facts.filter(Boolean).join(' · ')),
    ),
    entry.new_device && entry.session_id && notMe,
  );
}

/** Ends the session of a foreign sign-in, and asks for a new password and for a look at what it may have added. */
export async function wasNotMe(shell, session) {
  await shell.site.client.calls.revokeSession({ id: session, query: { foreign: true } });
  toast(say('signIns.ended'));
  shell.router.go('/you/password?after=theft');
}
