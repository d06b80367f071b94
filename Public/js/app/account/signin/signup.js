// Sign-up: by an invite, or where registration is open.

import { displayName } from '../../core/displayname.js';
import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { button } from '../../parts/forms/button.js';
import { avatar } from '../../parts/user/avatar.js';
import { rich } from '../../parts/message/rich.js';
import { signInForm, link } from './form.js';
import { arrive, goIn, signInAddress } from './enter.js';
import { issuerLinks } from './issuers.js';
import { newcomer } from './newcomer.js';

export async function invite(shell, { code }) {
  const { site } = shell;
  const [{ invite: welcome }, settings] = await Promise.all([
    site.call('GET', `/links/${encodeURIComponent(code)}`),
    site.call('GET', '/settings').catch(() => ({})),
  ]);
  const inviter = displayName(welcome.inviter);
  const who = newcomer(site);
  return signInForm({
    site,
    title: welcome.forum_title
      ? say('invite.toForum', { forum: welcome.forum_title })
      : say('invite.to', { site: site.server.name }),
    lead: inviter ? say('invite.by', { name: inviter, site: site.server.name }) : null,
    above: [welcome.inviter && el('div.sign-in-inviter', null, avatar(welcome.inviter, { size: 3 })), rules(settings)],
    controls: who.controls,
    verb: settings.rules ? say('invite.acceptRules') : say('invite.accept'),
    foot: [issuerLinks(site, { invite: code }).map((it) => el('div.field', null, it)), haveAccount()],
    work: async () => {
      const { user } = await who.register({ invite: code, ...(settings.rules ? { accept_rules: true } : {}) });
      await arrive(shell, user, welcome.forum_id);
    },
  });
}

/** Sign-up without an invite: open, or with approval by staff. */
export async function join(shell, address) {
  const { site } = shell;
  const settings = await site.call('GET', '/settings').catch(() => ({}));
  const isAsked = site.server.policy === 'approval';
  const who = newcomer(site, { hasFace: !isAsked });
  const page = signInForm({
    site,
    title: say('invite.to', { site: site.server.name }),
    lead: isAsked ? say('join.asksLead') : null,
    above: [rules(settings)],
    controls: who.controls,
    verb: say(isAsked ? 'join.ask' : settings.rules ? 'invite.acceptRules' : 'invite.accept'),
    foot: [issuerLinks(site, { back: address }).map((it) => el('div.field', null, it)), haveAccount(address)],
    work: async () => {
      const { user } = await who.register(settings.rules ? { accept_rules: true } : {});
      if (user.state !== 'pending') return address === '/' ? arrive(shell, user) : goIn(shell, user, address);
      return page.showNotice(site.server.name, say('join.waits', { name: displayName(user) }), link('/sign-in', say('act.signIn')));
    },
  });
  return page;
}

const haveAccount = (address = '/') => [
  say('invite.haveAccount'),
  ' ',
  el('a', { href: signInAddress(address) }, say('act.signIn')),
];

/** Long rules are folded until they or a link in them gets the focus. */
function rules(settings) {
  if (!settings.rules) return null;
  const unfold = () => text.classList.add('is-whole');
  const text = el('div.sign-in-rules-text', { tabindex: '-1', on: { focusin: unfold } }, rich(settings.rules));
  const more = button(say('signIn.readAll'), { kind: 'quiet', on: () => text.focus({ preventScroll: true }) });
  new ResizeObserver(() => {
    more.hidden = text.scrollHeight <= text.clientHeight;
    text.classList.toggle('is-cut', !more.hidden);
  }).observe(text);
  return el('section.sign-in-rules', null, el('h2', null, say('signIn.rules')), text, more);
}
