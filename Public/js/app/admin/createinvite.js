// The form of a new invite: role, number of uses, expiry. Its link is shown once.

import { el } from '../core/dom.js';
import { copyLine } from '../parts/forms/copyline.js';
import { ask, dialog } from '../parts/overlays/dialog.js';
import { choice } from '../parts/forms/field.js';
import { say } from '../core/text/text.js';
import { report } from '../account/security/stepup.js';

const DAY = 86_400_000;
const SPANS = { day: DAY, week: 7 * DAY, month: 30 * DAY };
const USES = [1, 5, 25, 100];

/** The roles that the user may invite, as far as known. */
function rolesBy(site) {
  if (!site.isStaff) return ['member', 'guest'];
  return site.me.role === 'owner' ? ['member', 'guest', 'moderator', 'admin'] : ['member', 'guest', 'moderator'];
}

/** The key in the session storage of the code that the first run has made. */
export const firstInviteKey = (site) => `invite of ${site.me.id}`;

export const inviteAddress = (code) => `${location.origin}/i/${code}`;

export async function createInvite(site, changed) {
  const role = choice(say('invite.as'), rolesBy(site).map((it) => [it, say(`role.${it}`)]));
  const uses = choice(say('invite.howMany'), [['', say('invite.anyNumber')], ...USES.map((n) => [String(n), say('conversation.people', { n })])]);
  const span = choice(say('invite.expires'), [['', say('invite.untilEnded')], ...Object.keys(SPANS).map((it) => [it, say(`moderation.for.${it}`)])]);
  const controls = Object.assign(el('div', null, role, uses, span), { input: role.input });
  if ((await ask(say('invite.make'), controls, say('invite.makeVerb'))) === null) return;
  const body = {
    client_id: crypto.randomUUID(),
    role: role.input.value,
    ...(uses.input.value ? { max_uses: Number(uses.input.value) } : {}),
    ...(span.input.value ? { expires_at: new Date(Date.now() + SPANS[span.input.value]).toISOString() } : {}),
  };
  await site.call('POST', '/invites', { body }).then(
    ({ code }) => {
      const link = copyLine(say('invite.link'), inviteAddress(code), { hint: say('invite.linkHint') });
      dialog(say('invite.made'), link, { onClose: changed });
      link.input.select();
    },
    report,
  );
}
