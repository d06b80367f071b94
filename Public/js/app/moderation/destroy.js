// Destroys illegal content for good: a message with its files, or a user. For owners.

import { el } from '../core/dom.js';
import { loadMoreText, say } from '../core/text/text.js';
import { ask, dialog } from '../parts/overlays/dialog.js';
import { field } from '../parts/forms/field.js';
import { toast } from '../parts/overlays/toast.js';

const REASON = 500;

export const mayDestroy = (site) => site.me?.role === 'owner';

/** Asks for the reason. Resolves to whether the content is destroyed. @param {{ message?: string, user?: string }} subject */
export async function destroy(site, subject) {
  await loadMoreText();
  const kind = subject.user ? 'User' : 'Message';
  const reason = field(say('remove.reason'), { limit: REASON, required: true, hint: say('destroy.hint') });
  const chosen = await ask(
    say(`destroy.title${kind}`),
    Object.assign(el('div', null, el('p.second.dialog-lead', null, say(`destroy.lead${kind}`)), reason), { input: reason.input }),
    say('destroy.verb'),
    'danger',
  );
  if (!chosen) return false;
  const { purged, copies } = await site.call('POST', '/destructions', { body: { ...subject, reason: chosen } });
  if (purged && !copies.length) toast(say('destroy.done'));
  else
    dialog(say('destroy.done'), [
      purged ? null : el('p', null, say('destroy.notPurged')),
      copies.length ? [el('p', null, say('destroy.copies')), el('ul', null, copies.map((it) => el('li', { dir: 'ltr' }, it)))] : null,
    ]);
  return true;
}
