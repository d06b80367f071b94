// Deactivating or deleting the own account, with or without erasing its messages.

import { el } from '../../core/dom.js';
import { ask, confirm } from '../../parts/overlays/dialog.js';
import { choice, field } from '../../parts/forms/field.js';
import { toast } from '../../parts/overlays/toast.js';
import { say } from '../../core/text/text.js';
import { report } from '../security/stepup.js';

const WAYS = ['deactivate', 'leave', 'erase'];

export async function leaveSite(shell) {
  const { site } = shell;
  const password = field(say('signIn.password'), { type: 'password', autocomplete: 'current-password', required: true });
  const meaning = el('p.second', { role: 'status' }, say('leaveSite.deactivateSentence'));
  const way = choice(
    say('leaveSite.how'),
    WAYS.map((it) => [it, say(`leaveSite.${it}`)]),
    { on: (value) => (meaning.textContent = say(`leaveSite.${value}Sentence`)) },
  );
  const controls = Object.assign(el('div', null, way, el('div.field', null, meaning), password), { input: way.input });
  const how = await ask(say('leaveSite.title', { name: site.server.name }), controls, say('leaveSite.verb'), 'danger');
  if (!how) return;
  const { unsent } = site.parley;
  if (unsent && !(await confirm(say('leaveSite.title', { name: site.server.name }), say('signOut.waiting', { n: unsent }), say('leaveSite.verb')))) return;
  try {
    await site.call('DELETE', '/users/me', { body: { how, password: password.input.value } });
  } catch (error) {
    if (error.field === 'password') toast(say('password.wrong'));
    else report(error);
    return;
  }
  await site.signOut({ isForced: true, isForGood: true });
}
