// A new password. After a foreign sign-in the page also lists where to look for what it may have added.

import { refill } from '../../core/dom.js';
import { say, sayProblem } from '../../core/text/text.js';
import { button } from '../../parts/forms/button.js';
import { field } from '../../parts/forms/field.js';
import { savingForm } from '../../parts/forms/form.js';
import { toggle } from '../../parts/forms/switch.js';
import { toast } from '../../parts/overlays/toast.js';

export async function password(shell, column, query) {
  const { site } = shell;
  const old = field(say('password.old'), { type: 'password', autocomplete: 'current-password', name: 'old_password' });
  const fresh = field(say('password.new'), {
    type: 'password',
    autocomplete: 'new-password',
    name: 'password',
    hint: say('signIn.passwordHint', { n: site.server.limits.password_min_scalars }),
  });
  const keep = toggle(say('password.keepTokens'), { hint: say('password.keepTokensHint') });
  const save = button(say('password.verb'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    await site.call('PUT', '/me/password', {
      body: { old_password: old.input.value, password: fresh.input.value, keep_tokens: keep.input.checked },
    });
    old.input.value = fresh.input.value = '';
    toast(say('password.done'));
  };
  const words = (error) => (error.field === 'old_password' ? say('password.wrong') : sayProblem(error));
  const more = query.get('after') === 'theft' && (await import('./traces.js')).traces(site);
  refill(column, savingForm(save, { work, words }, old, fresh, keep), more);
}
