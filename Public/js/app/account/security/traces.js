// Links to the pages that list additions to the account, for a user to look through after a foreign sign-in.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { settingLink } from '../../parts/lists/settingnav.js';

export function traces({ server, isStaff, isModerator, mayInvite }) {
  const links = [
    ['/you/twostep', 'lock', 'settings.twostep'],
    ['/you/passkeys', 'key', 'settings.passkeys'],
    server.issuers.length > 0 && ['/you/accounts', 'link', 'settings.accounts'],
    server.mail && ['/you/email', 'mail', 'settings.email'],
    ['/you/apps', 'link', 'settings.apps'],
    ['/you/tokens', 'key', 'settings.tokens'],
    (mayInvite || isModerator) && ['/admin/invites', 'link', 'admin.invites'],
    isStaff && ['/admin/bots', 'key', 'admin.bots'],
    isStaff && ['/admin/webhooks', 'link', 'admin.webhooks'],
    isStaff && ['/admin/endpoints', 'link', 'admin.endpoints'],
    isStaff && ['/admin/commands', 'send', 'admin.commands'],
  ];
  const words = say('signIns.traces');
  return [
    el('h2.section-title', null, words),
    el('nav.setting-list', { aria: { label: words } }, links.filter(Boolean).map(([address, picture, name]) => settingLink(address, picture, say(name)))),
  ];
}
