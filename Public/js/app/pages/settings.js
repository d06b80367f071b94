// The settings of a user: the list of their pages, and the way out.

import { el, redraw } from '../core/dom.js';
import { say, sayProblem } from '../core/text/text.js';
import { appearance } from '../account/settings/appearance.js';
import { password } from '../account/security/password.js';
import { privacy } from '../account/settings/privacy.js';
import { profile } from '../account/settings/profile.js';
import { sessions, tokens } from '../account/security/sessions.js';
import { stars } from '../account/settings/stars.js';
import { button } from '../parts/forms/button.js';
import { confirm } from '../parts/overlays/dialog.js';
import { besideSettings, loadSettingsSheet, settingGroups, settingLink } from '../parts/lists/settingnav.js';
import { userRow } from '../parts/user/user.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';

const parts = { profile, groups, appearance, notifications, email, privacy, password, passkeys, accounts, twostep, sessions, signins, apps, tokens, stars, drafts, export: ownData };
/** The pages in their groups, with their pictures. */
const GROUPS = {
  account: { profile: 'user', groups: 'users', email: 'mail', privacy: 'eye' },
  preferences: { appearance: 'palette', notifications: 'bell' },
  security: { password: 'key', passkeys: 'passkey', accounts: 'link', twostep: 'lock', sessions: 'device', signins: 'clock', apps: 'forums', tokens: 'brackets' },
  content: { stars: 'star', drafts: 'edit', export: 'download' },
};

async function notifications(shell, column) {
  const page = await import('../account/notifications/notifications.js');
  return page.notifications(shell, column);
}

async function email(shell, column) {
  return (await import('../account/email/email.js')).emailSettings(shell, column);
}

async function apps(shell, column) {
  return (await import('../account/security/connectedapps.js')).connectedApps(shell, column);
}

async function groups(shell, column) {
  const { groupDirectory } = await import('./groups.js');
  return groupDirectory(shell, column);
}

export async function open(shell, { part, query }) {
  const { site } = shell;
  const isOffered = (it) => (it !== 'email' || site.server.mail) && (it !== 'accounts' || site.server.issuers.length);
  const offered = Object.entries(GROUPS).map(([group, pages]) => [
    say(`settings.group.${group}`),
    Object.keys(pages).filter(isOffered).map((it) => [`/you/${it}`, pages[it], say(`settings.${it}`)]),
  ]);
  if (Object.hasOwn(parts, part ?? '') && isOffered(part)) {
    const content = el('div.page-column');
    const [close] = await Promise.all([parts[part](shell, content, query), loadSettingsSheet()]);
    const split = besideSettings(say('settings.title'), offered, `/you/${part}`, content);
    split.classList.add('is-narrow');
    return {
      title: say(`settings.${part}`),
      here: '/you',
      node: [
        pageBar(say(`settings.${part}`), { back: () => shell.router.back('/you'), state: site.state }),
        el('div.page-body', null, split),
      ],
      close,
    };
  }
  const column = el('div.page-column');
  const draw = () => site.me && redraw(column, settingsMenu(shell, offered));
  draw();
  return {
    title: say('navigation.you'),
    here: '/you',
    node: [pageBar(say('navigation.you'), { state: site.state }), el('div.page-body', null, column)],
    // A new role changes the links.
    close: site.listen(['me'], draw),
  };
}

function settingsMenu(shell, offered) {
  const { site } = shell;
  return [
    userRow(site.me, { href: `/u/${encodeURIComponent(site.me.name)}` }),
    settingGroups(say('settings.title'), [
      ...offered,
      site.isModerator
        ? [say('admin.title'), [['/admin', 'shield', site.server.name]]]
        : site.mayInvite && [say('admin.group.community'), [['/admin/invites', 'link', say('invite.people')]]],
    ].filter(Boolean)),
    siteLinks(site),
    el('div.panel-block', null, button(say('act.signOut'), { picture: 'leave', on: () => signOut(shell) })),
  ];
}

/** The links of the operator, if there are any. */
function siteLinks({ server }) {
  const links = [
    [server.privacy_url, 'shield', 'settings.privacyNotice'],
    [server.contact_url, 'mail', 'signIn.contact'],
  ].filter(([address]) => address);
  return links.length > 0 && el('nav.setting-list', { aria: { label: server.name } }, links.map(([address, picture, words]) => settingLink(address, picture, say(words))));
}

async function passkeys(shell, column) {
  return (await import('../account/security/passkeys.js')).passkeys(shell, column);
}

async function accounts(shell, column) {
  return (await import('../account/security/identities.js')).identities(shell, column);
}

async function twostep(shell, column) {
  return (await import('../account/security/twostep.js')).twoStep(shell, column);
}

async function signins(shell, column, query) {
  return (await import('../account/security/signins.js')).signIns(shell, column, query);
}

async function drafts(shell, column) {
  return (await import('../account/settings/drafts.js')).drafts(shell, column);
}

async function ownData(shell, column) {
  return (await import('../account/settings/export.js')).ownData(shell, column);
}

/** Signs out and erases the cache; asks if messages are unsent. */
async function signOut(shell) {
  const { site } = shell;
  try {
    await site.signOut();
  } catch (error) {
    if (error.code !== 'unsent') return toast(sayProblem(error));
    if (await confirm(say('signOut.title'), say('signOut.waiting', { n: error.params.count }), say('act.signOut')))
      await site.signOut({ isForced: true });
  }
  return undefined;
}
