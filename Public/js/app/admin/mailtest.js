// A test mail: staff see what the mail server says.

import { el, freshID, refill } from '../core/dom.js';
import { say, sayProblem } from '../core/text/text.js';
import { banner } from '../parts/navigation/banner.js';
import { button } from '../parts/forms/button.js';
import { savingForm } from '../parts/forms/form.js';
import { emailField, emailOf, loadMailSheet } from '../account/email/email.js';

/** The form, with the own address. */
export async function mailTest(site) {
  const [own] = await Promise.all([emailOf(site).catch(() => null), loadMailSheet()]);
  const address = emailField(say('mailTest.address'), { value: own?.address ?? own?.pending ?? '' });
  const result = el('div', { role: 'status' });
  const work = async () => {
    address.setFault(null);
    refill(result);
    try {
      const to = address.input.value.trim();
      refill(result, testResult(await site.call('POST', '/settings/mail-test', { body: { address: to } }), to));
      result.scrollIntoView({ block: 'nearest' });
    } catch (error) {
      if (error.field !== 'address') throw error;
      address.setFault(sayProblem(error));
      address.input.focus();
    }
  };
  const form = savingForm(button(say('mailTest.send'), { type: 'submit' }), { work }, address);
  form.noValidate = true;
  const id = freshID('mail-test');
  return el('section', { aria: { labelledby: id } }, el('h2.section-title', { id }, say('mailTest.title')), form, result);
}

/** The outcome, and the words of the mail server or the reason why there are none. */
export function testResult({ outcome, detail }, address) {
  return el(
    'div.mail-test',
    null,
    banner(say(`mailTest.outcome.${outcome}`, { address }), { kind: outcome === 'accepted' ? 'good' : 'bad' }),
    detail && el('p.second', null, el('code', { dir: 'auto' }, detail)),
  );
}
