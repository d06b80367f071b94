// Step-up: asks for the password, and for a code with two-step sign-in, before a sensitive request is repeated.

import { el } from '../../core/dom.js';
import { isolate, loadMoreText, say, sayProblem } from '../../core/text/text.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { dialog } from '../../parts/overlays/dialog.js';
import { field } from '../../parts/forms/field.js';
import { codeField } from './codefield.js';
import { canUsePasskeys, provePasskey } from './passkey.js';

/** Resolves to whether the session is proved. */
export async function prove(site, problem) {
  await loadMoreText();
  const password = field(say('signIn.password'), { type: 'password', name: 'password', autocomplete: 'current-password', required: true });
  const { methods = [] } = problem.params;
  const code = methods.includes('password_and_code') ? codeField() : null;
  const hasPassword = code || methods.includes('password');
  const fault = el('p.form-fault', { role: 'alert', hidden: true });
  const submit = button(say('act.continue'), { kind: 'primary', type: 'submit' });
  submit.setAttribute('form', 'proof-form');
  return new Promise((resolve) => {
    // The window of a provider tells at its end that the session is proved.
    const channel = new BroadcastChannel('parley.proof');
    channel.onmessage = () => node.close('yes');
    const issuers = site.server.issuers
      .filter(({ url }) => problem.params.issuers?.includes(url))
      .map(({ id, name }) =>
        button(say('signIn.with', { name: isolate(name) }), {
          picture: 'onward',
          wide: true,
          on: () => {
            fault.hidden = true;
            lead.textContent = say('proof.issuerLead');
            window.open(`/oidc/${id}?${new URLSearchParams({ prove: '', back: `/oidc/${id}/proved` })}`, '_blank', 'popup,width=520,height=720');
          },
        }),
      );
    const tryWith = async (work) => {
      try {
        await work();
        node.close('yes');
      } catch (error) {
        fault.hidden = false;
        fault.textContent = error.sentence ?? (error.field === 'password' ? say('password.wrong') : sayProblem(error));
        (error.field === 'code' && code ? code : password).input.focus();
      }
    };
    const byPassword = () => {
      const body = { password: password.input.value, ...(code ? { code: code.input.value.trim() } : {}) };
      return site.client.call('POST', '/sessions/current/proof', { body });
    };
    const passkey =
      methods.includes('passkey') &&
      canUsePasskeys() &&
      button(say('proof.passkey'), { picture: 'key', wide: true, on: () => whileBusy(passkey, () => tryWith(() => provePasskey(site.client))) });
    const lead = el('p', null, say(code ? 'proof.leadCode' : hasPassword ? 'proof.lead' : 'proof.linkedLead'));
    const form = el(
      'form',
      {
        id: 'proof-form',
        on: {
          submit: (event) => {
            event.preventDefault();
            whileBusy(submit, () => tryWith(byPassword));
          },
        },
      },
      lead,
      fault,
      hasPassword && password,
      code,
      passkey,
      issuers,
    );
    const node = dialog(say('proof.title'), form, {
      actions: [button(say('act.cancel'), { on: () => node.close() }), hasPassword && submit].filter(Boolean),
      onClose: (value) => {
        channel.close();
        resolve(value === 'yes');
      },
    });
    (hasPassword ? password.input : form.querySelector('button'))?.focus();
  });
}
