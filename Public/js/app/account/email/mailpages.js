// Pages that mail leads to: a forgotten password, and the link that confirms an address.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { field } from '../../parts/forms/field.js';
import { toggle } from '../../parts/forms/switch.js';
import { ownZone } from '../notifications/zones.js';
import { signInForm, link, noticePage } from '../signin/form.js';

/** Whether a link was used, was replaced, or is too old. */
export const isOld = (error) => ['not_found', 'gone'].includes(error.code);

/** Asks for a link that resets the password. The answer is the same for each name. */
export function forgot({ site }) {
  const back = link('/sign-in', say('act.signIn'));
  if (!site.server.mail) return noticePage(say('forgot.title'), say('signIn.forgot'), back);
  const login = field(say('forgot.login'), { name: 'login', autocomplete: 'username', limit: 254 });
  login.input.dir = 'auto';
  const page = signInForm({
    site,
    title: say('forgot.title'),
    lead: say('forgot.lead'),
    controls: [login],
    verb: say('forgot.send'),
    foot: el('p', null, el('a', { href: '/sign-in' }, say('act.signIn'))),
    work: async () => {
      await site.call('POST', '/password-resets', { body: { login: login.input.value.trim().replace(/^@/, '') } });
      page.showNotice(say('forgot.sentTitle'), say('forgot.sent'), back);
    },
  });
  return page;
}

/** Confirms an address after a press by the user who set it: scanners of mail and strangers open links, too. */
export async function confirmAddress({ site }, { code }) {
  if (!site.me) {
    const back = encodeURIComponent(`/email/${code}`);
    return noticePage(say('email.confirmTitle'), say('email.signInFirst'), link(`/sign-in?back=${back}`, say('act.signIn'), 'primary'));
  }
  const { address: earlier } = await site.call('GET', '/me/email');
  // Only a change of the address ends other sessions.
  const keep = earlier && toggle(say('twoStep.keep'), { hint: say('twoStep.keepHint') });
  const page = signInForm({
    site,
    title: say('email.confirmTitle'),
    lead: say('email.confirmLead', { site: site.server.name }),
    controls: keep ? [keep] : [],
    verb: say('email.confirm'),
    work: async () => {
      try {
        const body = keep?.input.checked ? { code, keep_sessions: true } : { code };
        const { address } = await site.call('POST', '/email-confirmations', { body });
        await tellZone(site).catch(() => {});
        page.showNotice(
          say('email.confirmed'),
          say('email.confirmedLead', { address }),
          link('/you/notifications', say('email.toNotifications'), 'primary'),
        );
      } catch (error) {
        if (!isOld(error)) throw error;
        page.showNotice(say('email.old'), say('email.oldLead'), link('/you/email', say('email.settings'), 'primary'));
      }
    },
  });
  return page;
}

/** The weekly digest comes in the morning of the user's time zone. */
async function tellZone(site) {
  const settings = await site.call('GET', '/me/notifications');
  if (!settings.time_zone) await site.call('PATCH', '/me/notifications', { body: { time_zone: ownZone() } });
}

/** In place of the page of a reset link that is no longer valid. */
export const oldReset = () => noticePage(say('email.old'), say('forgot.old'), link('/forgot', say('forgot.again'), 'primary'));
