// The first run: the community, the owner, three forums.

import { changePreferences } from '../settings/changeme.js';
import { el, refill } from '../../core/dom.js';
import { forumAddress } from '../../core/router.js';
import { say, sayProblem } from '../../core/text/text.js';
import { applyLook } from '../../core/theme.js';
import { copyLine } from '../../parts/forms/copyline.js';
import { field } from '../../parts/forms/field.js';
import { loadSettingsSheet } from '../../parts/lists/settingnav.js';
import { pictureField } from '../../parts/forms/picture.js';
import { toast } from '../../parts/overlays/toast.js';
import { firstInviteKey, inviteAddress } from '../../admin/createinvite.js';
import { signInForm, sentence } from './form.js';
import { newcomer } from './newcomer.js';
import { loadForums } from '../../state/forums.js';

/** The key of the first invite, one for each setup link. */

export async function setUp(shell, { code }) {
  const { site } = shell;
  // The link is used up by the second step. The owner may have reloaded the third.
  const isOwner = site.me?.role === 'owner';
  if (isOwner) await loadForums(site);
  else await site.call('GET', `/links/${encodeURIComponent(code)}`);
  await loadSettingsSheet();
  if (isOwner && site.forums.size) return void shell.go('/', { replace: true });
  const page = { title: say('setUp.title'), isOutside: true, keepsFocus: true, node: el('div') };
  const chosen = { hue: site.server.hue };
  const show = (next) => {
    refill(page.node, next.node);
    page.node.className = next.node.className;
    refill(page.node, ...next.node.childNodes);
    next.shown?.();
  };
  page.node.className = 'sign-in';
  const first = isOwner ? begin(shell) : community(site, chosen, () => show(you(shell, code, chosen, () => show(begin(shell)))));
  show(first);
  page.shown = first.shown;
  return page;
}

function steps(at) {
  return el(
    'div.sign-in-steps',
    { role: 'img', aria: { label: say('setUp.step', { n: at }) } },
    [1, 2, 3].map((it) => el('span.sign-in-step', { aria: { current: it === at ? 'step' : null } })),
  );
}

function community(site, chosen, onward) {
  const name = field(say('setUp.name'), {
    value: site.server.name === 'Parley' ? '' : site.server.name,
    placeholder: say('setUp.namePlaceholder'),
    limit: 64,
  });
  const slider = el('input', {
    type: 'range',
    min: 0,
    max: 359,
    value: String(chosen.hue),
    aria: { label: say('setUp.hue') },
  });
  slider.addEventListener('input', () => {
    chosen.hue = Number(slider.value);
    applyLook({}, chosen.hue);
  });
  const face = el('img.site-picture', { src: '/api/v1/icon', alt: '', width: 64, height: 64 });
  chosen.picture = pictureField(say('admin.picture'), {
    maxBytes: site.server.limits.file_bytes,
    on: (address) => face.setAttribute('src', address ?? '/api/v1/icon'),
  });
  return signInForm({
    site,
    title: say('setUp.title'),
    lead: say('setUp.lead'),
    steps: steps(1),
    isFirst: true,
    controls: [
      name,
      el('div.picture-row', null, face, chosen.picture),
      el(
        'div.field',
        null,
        el('span.field-label', null, say('setUp.hue')),
        el('div.hue', null, el('span.hue-dot'), slider),
      ),
    ],
    verb: say('setUp.onward'),
    work: async () => {
      if (!name.input.value.trim()) throw sentence(say('setUp.nameMissing'));
      chosen.name = name.input.value.trim();
      onward();
    },
  });
}

function you(shell, code, chosen, onward) {
  const { site } = shell;
  const who = newcomer(site);
  return signInForm({
    site,
    title: say('setUp.youTitle'),
    lead: say('setUp.youLead'),
    steps: steps(2),
    isFirst: true,
    controls: who.controls,
    verb: say('setUp.onward'),
    work: async () => {
      const { user } = await who.takeLink(code);
      await site.call('PATCH', '/settings', { body: { name: chosen.name, hue: chosen.hue } });
      // The community exists without its picture, too.
      const icon = await chosen.picture.send(site.client).catch((error) => void toast(sayProblem(error)));
      if (icon) await site.call('PATCH', '/settings', { body: { icon_file: icon } });
      site.server = { ...site.server, name: chosen.name, hue: chosen.hue, set_up: true };
      await site.enter(user);
      onward();
    },
  });
}

/** The code of an invite for the first users. A reload shows the same one. */
async function firstInvite(site) {
  const kept = sessionStorage.getItem(firstInviteKey(site));
  if (kept) return kept;
  const { code } = await site.call('POST', '/invites', { body: {} });
  sessionStorage.setItem(firstInviteKey(site), code);
  return code;
}

function begin(shell) {
  const { site } = shell;
  const titles = ['first', 'second', 'third'].map((it, index) =>
    field(say('setUp.forum', { n: index + 1 }), {
      value: say(`setUp.forum.${it}`),
      limit: site.server.limits.title_scalars,
    }),
  );
  const abouts = ['first', 'second', 'third'].map((it, index) =>
    field(say('setUp.about', { n: index + 1 }), { value: say(`setUp.about.${it}`), limit: site.server.limits.description_scalars }),
  );
  const link = copyLine(say('invite.link'), '', { hint: say('invite.linkHint') });
  const code = el('div.qr');
  firstInvite(site).then(
    async (invite) => {
      link.input.value = inviteAddress(invite);
      const { qr } = await import('../../core/pictures/qr.js');
      refill(code, qr(link.input.value, say('invite.qr')));
    },
    (error) => toast(sayProblem(error)),
  );
  return signInForm({
    site,
    title: say('setUp.startTitle'),
    lead: say('setUp.startLead'),
    steps: steps(3),
    isFirst: true,
    isWide: true,
    controls: [
      ...titles.flatMap((it, index) => [it, abouts[index]]),
      link,
      code,
    ],
    verb: say('setUp.finish'),
    work: async () => {
      let room = null;
      for (const [index, it] of titles.entries()) {
        const title = it.input.value.trim();
        const about = abouts[index].input.value.trim();
        if (!title) continue;
        it.clientID ??= crypto.randomUUID();
        const forum = await site.call('POST', '/forums', {
          body: { title, ...(about ? { description: about } : {}), visibility: 'members', is_default: true, client_id: it.clientID },
        });
        room ??= forum;
      }
      await changePreferences(site, { first_steps: true });
      await loadForums(site);
      shell.entered();
      shell.go(room ? forumAddress(room, 'room') : '/forums', { replace: true });
    },
  });
}
