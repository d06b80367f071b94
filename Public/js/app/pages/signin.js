// The pages before signing in: front page, sign-in, password reset. The others have modules of their own.

import { displayName } from '../core/displayname.js';
import { el } from '../core/dom.js';
import { say } from '../core/text/text.js';
import { signInForm, sentence } from '../account/signin/form.js';
import { askCode, goIn, returnAddress, returnTo, signInAddress } from '../account/signin/enter.js';
import { isOld, oldReset } from '../account/email/mailpages.js';
import { device, passwordField } from '../account/signin/newcomer.js';
import { passkeySignIn } from '../account/security/passkeysignin.js';
import { join } from '../account/signin/signup.js';
import { field } from '../parts/forms/field.js';
import { rich } from '../parts/message/rich.js';
import { tiles } from './forums.js';
import { loadForums } from '../state/forums.js';

export { setUp } from '../account/signin/setup.js';
export { invite } from '../account/signin/signup.js';
export { confirmAddress, forgot } from '../account/email/mailpages.js';

export async function signIn(shell, { back, query }) {
  const { site } = shell;
  const address = returnAddress(back, query);
  if (site.me) return returnTo(shell, address);
  const canJoin = ['open', 'approval'].includes(site.server.policy);
  if (canJoin && query?.has('new')) return join(shell, address);
  return passkeySignIn(site, device(), (user) => goIn(shell, user, address), (passkey) => passwordSignIn(shell, address, canJoin, passkey));
}

/** @param passkey the button to sign in without the password, if there is one */
function passwordSignIn(shell, address, canJoin, passkey) {
  const { site } = shell;
  const name = field(say('signIn.name'), { name: 'username', autocomplete: 'username webauthn' });
  const password = passwordField(site, false);
  const page = signInForm({
    site,
    title: site.server.name,
    lead: say('signIn.signInLead'),
    controls: [name, password],
    verb: say('act.signIn'),
    problem: site.ban,
    foot: [
      passkey && el('div.field', null, passkey),
      canJoin && el('p', null, say('join.newHere'), ' ', el('a', { href: signInAddress(address, true) }, say('join.verb'))),
      site.server.policy === 'invite' && el('p', null, say('signIn.byInvite')),
      site.server.mail && el('p', null, el('a', { href: '/forgot' }, say('forgot.link'))),
      !site.server.mail && site.server.policy !== 'invite' && el('p', null, say('signIn.forgot')),
    ],
    work: async () => {
      if (!name.input.value.trim() || !password.input.value) throw sentence(say('signIn.both'));
      try {
        const { user } = await site.call('POST', '/sessions', {
          body: {
            name: name.input.value.trim().replace(/^@/, ''),
            password: password.input.value,
            cookie: true,
            device: device(),
          },
        });
        await goIn(shell, user, address);
      } catch (error) {
        if (error.status === 401) throw sentence(say('signIn.wrong'));
        askCode(shell, page, error, address);
      }
    },
  });
  return page;
}

export async function front(shell) {
  const { site } = shell;
  const settings = await site.call('GET', '/settings').catch(() => ({}));
  await loadForums(site).catch(() => {});
  if (!site.server.set_up)
    return {
      title: site.server.name,
      isOutside: true,
      node: el(
        'div.sign-in',
        null,
        el(
          'div.sign-in-column',
          null,
          el('img.sign-in-icon', { src: '/api/v1/icon', alt: '', width: 64, height: 64 }),
          el('h1', null, say('signIn.newTitle')),
          el('p.sign-in-lead', null, say('signIn.newLead')),
        ),
      ),
    };
  return {
    title: null,
    isOutside: true,
    node: el(
      'div.sign-in',
      null,
      el(
        'div.sign-in-column',
        { class: site.forums.size ? 'is-front' : '' },
        el('img.sign-in-icon', { src: '/api/v1/icon', alt: '', width: 64, height: 64 }),
        el('h1', null, site.server.name),
        settings.welcome && el('div.sign-in-lead', null, rich(settings.welcome)),
        el(
          'div.empty-actions',
          null,
          el('a.button.button-primary', { href: '/sign-in' }, say('act.signIn')),
          ['open', 'approval'].includes(site.server.policy) && el('a.button', { href: '/sign-in?new' }, say('join.verb')),
        ),
        site.forums.size
          ? el('div.front-forums', null, el('h2.section-title', null, say('navigation.forums')), tiles(site))
          : null,
      ),
    ),
  };
}

export async function reset(shell, { code }) {
  const { site } = shell;
  let purpose;
  try {
    purpose = await site.call('GET', `/links/${encodeURIComponent(code)}`);
  } catch (error) {
    if (site.server.mail && isOld(error)) return oldReset();
    throw error;
  }
  const password = passwordField(site);
  const page = signInForm({
    site,
    title: say('reset.title'),
    lead: say('reset.lead', { name: displayName(purpose.user) }),
    controls: [password],
    verb: say('reset.verb'),
    work: async () => {
      try {
        const { user } = await site.call('POST', `/links/${encodeURIComponent(code)}`, {
          body: { password: password.input.value, cookie: true, device: device() },
        });
        await goIn(shell, user, '/');
      } catch (error) {
        askCode(shell, page, error, '/');
      }
    },
  });
  return page;
}
