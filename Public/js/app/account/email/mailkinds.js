// The kinds of notifications that mail tells of: switches with a confirmed address, otherwise what is missing.

import { el, freshID, refill } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { toggle } from '../../parts/forms/switch.js';
import { weeklyDigest } from '../notifications/digest.js';
import { mailEffect } from '../notifications/effects.js';
import { isConfirmed } from './email.js';

/** The group of the notification settings; null if the server sends no mail. */
export function mailKinds(page, offered) {
  if (!page.email) return null;
  const id = freshID('mail');
  const switches = offered.map((kind) => {
    const on = (isOn) => page.keep({ mail: { ...page.settings.mail, [kind]: isOn } });
    const node = toggle(say(`notify.kind.${kind}`), { hint: ' ', on });
    page.parts.push((settings) => {
      node.input.checked = settings.mail[kind];
      node.hint.textContent = mailEffect(settings, settings.mail[kind], say('notify.does.mailed'), new Date());
    });
    return node;
  });
  const lead = el('p.second');
  const list = el('div', null, switches, weeklyDigest(page));
  page.parts.push(() => {
    list.hidden = !isConfirmed(page.email);
    refill(lead, isConfirmed(page.email) ? say('notify.mailHint', { address: page.email.address }) : missing(page.email));
  });
  return el('section', { aria: { labelledby: id } }, el('h2.section-title', { id }, say('notify.mailKinds')), lead, list);
}

/** The steps before mail is sent, with a link to the next. */
function missing({ address, pending, stopped_at: stopped }) {
  const words = stopped ? say('notify.mailStopped', { address }) : pending && say('notify.mailWaits', { address: pending });
  return [words && [words, ' '], el('a', { href: '/you/email' }, say(words ? 'email.settings' : 'email.add'))];
}
