// The pages before signing in: front page, sign-in, password reset. The others have modules of their own.

import { displayName } from '../core/displayname.js';
import { el } from '../core/dom.js';
import { say, sayProblem } from '../core/text/text.js';
import { noticePage, signInForm, sentence } from '../account/signin/form.js';
import { askCode, goIn, returnAddress, returnTo, signInAddress } from '../account/signin/enter.js';
import { isOld, oldReset } from '../account/email/mailpages.js';
import { device, passwordField } from '../account/signin/newcomer.js';
import { passkeySignIn } from '../account/security/passkeysignin.js';
import { issuerLinks, takeChallenge } from '../account/signin/issuers.js';
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
  const challenge = takeChallenge();
  const address = returnAddress(back, query);
  if (site.me) return returnTo(shell, address);
  if (challenge) return codePage(shell, challenge, address);
  const canJoin = ['open', 'approval'].includes(site.server.policy) && site.server.password_sign_in;
  if (canJoin && query?.has('new')) return join(shell, address);
  return passkeySignIn(site, device(), (user) => goIn(shell, user, address), (passkey) => passwordSignIn(shell, address, canJoin, passkey));
}

/** The second step of a sign-in at a provider. */
function codePage(shell, challenge, address) {
  const page = passwordSignIn(shell, address, false, null);
  askCode(shell, page, { code: 'second_factor_required', params: { challenge } }, address);
  return { ...page, shown: () => page.node.querySelector('input').focus() };
}

/** @param passkey the button to sign in without the password, if there is one */
function passwordSignIn(shell, address, canJoin, passkey) {
  const { site } = shell;
  const issuers = issuerLinks(site, { back: address });
  if (!site.server.password_sign_in) return issuerSignIn(shell, issuers, passkey);
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
      issuers.map((it) => el('div.field', null, it)),
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

/** The sign-in page of a site without passwords. */
function issuerSignIn({ site }, issuers, passkey) {
  const fault = el('p.form-fault', { role: 'alert', hidden: true });
  const tell = (error) => {
    fault.hidden = false;
    fault.textContent = error.sentence ?? sayProblem(error);
  };
  if (site.ban) tell(site.ban);
  const page = noticePage(site.server.name, say('signIn.only'), fault, issuers, passkey);
  return { ...page, tell, shown: () => page.node.querySelector('a').focus() };
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
          ['open', 'approval'].includes(site.server.policy) && site.server.password_sign_in && el('a.button', { href: '/sign-in?new' }, say('join.verb')),
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
