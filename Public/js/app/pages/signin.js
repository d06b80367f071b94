// Front page, sign-in, invite, first setup and password reset.

import { el, refill } from '../core/dom.js';
import { applyLook } from '../core/theme.js';
import { displayName } from '../core/displayname.js';
import { avatar } from '../parts/avatar.js';
import { inviteAddress } from '../account/createinvite.js';
import { door, link, sentence } from '../account/door.js';
import { takeLanguage } from '../account/language.js';
import { confirmAddress, forgot, isOld, oldReset } from '../account/mailpages.js';
import { passkeyDoor } from '../account/passkeydoor.js';
import { copyLine } from '../parts/copyline.js';
import { faceField } from '../parts/face.js';
import { pictureField } from '../parts/picture.js';
import { codeField } from '../account/codefield.js';
import { field } from '../parts/field.js';
import { toast } from '../parts/toast.js';
import { rich } from '../parts/rich.js';
import { backAddress, forumAddress } from '../core/router.js';
import { say, sayProblem } from '../core/text.js';
import { compare } from '../state/site.js';
import { tiles } from './forums.js';

export { confirmAddress, forgot };

/** The device name for the list of sessions. */
function device() {
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(navigator.userAgent)?.[0] ?? '';
  const browser = /Firefox|Edg|Chrome|Safari/.exec(navigator.userAgent)?.[0]?.replace('Edg', 'Edge') ?? '';
  return [browser, system].filter(Boolean).join(', ').slice(0, 64) || 'Browser';
}

function nameField(value) {
  return field(say('door.name'), { name: 'name', autocomplete: 'username', hint: say('door.nameHint'), value });
}

function passwordField(site, isNew = true) {
  return field(say('door.password'), {
    name: 'password',
    type: 'password',
    autocomplete: isNew ? 'new-password' : 'current-password',
    hint: isNew ? say('door.passwordHint', { n: site.server.limits.password_min_scalars }) : null,
  });
}

/** The second step of a sign-in whose password was right; `error` has the challenge. Throws another error. */
function askCode(shell, page, error, address) {
  if (error.code !== 'second_factor_required') throw error;
  const { site } = shell;
  const code = codeField();
  const next = door({
    site,
    title: site.server.name,
    lead: say('door.codeLead'),
    controls: [code],
    verb: say('act.signIn'),
    foot: el('p', null, el('a', { href: signInAddress(address), on: { click: () => location.assign(signInAddress(address)) } }, say('door.again'))),
    work: async () => {
      const { user } = await site.call('POST', '/sessions/second-factor', {
        body: { challenge: error.params.challenge, code: code.input.value.trim(), cookie: true, device: device() },
      });
      await goIn(shell, user, address);
    },
  });
  refill(page.node, ...next.node.childNodes);
  code.input.focus();
}

async function goIn(shell, me, address) {
  await shell.site.enter(me);
  if (takeLanguage(me.preferences?.language)) return location.replace(address);
  shell.entered();
  return shell.go(address, { replace: true });
}

/** Into the room of the invite's forum, the site's arrival room, or the liveliest default room, where the first message is one press away. */
async function arrive(shell, me, forumID = null) {
  const { site } = shell;
  await site.enter(me);
  const joined = [...site.forums.values()].filter((it) => it.role).sort((a, b) => compare(b.last_message_id ?? b.id, a.last_message_id ?? a.id));
  const forum = joined.find(({ id }) => id === forumID) ?? joined.find(({ id }) => id === site.parley.settings?.arrival_forum) ?? joined.find((it) => it.is_default) ?? joined[0];
  shell.arrival = { site: site.server.name, forums: joined.map(({ title }) => title) };
  shell.entered();
  shell.go(forum ? forumAddress(forum, 'room') : '/', { replace: true });
}

/** Where to return to: the page that asked for a session, or `?back=` of the address, with its fragment. */
const returnAddress = (back, query) => backAddress(back ?? (query?.get('back') ?? '/') + location.hash);

/** The sign-in page or the sign-up page, with the address to return to. */
const signInAddress = (back, isNew = false) =>
  `/sign-in?${isNew ? 'new&' : ''}${new URLSearchParams(back === '/' ? {} : { back })}`.replace(/[?&]$/, '');

export async function signIn(shell, { back, query }) {
  const { site } = shell;
  const address = returnAddress(back, query);
  if (site.me) return shell.go(address, { replace: true });
  const canJoin = ['open', 'approval'].includes(site.server.policy);
  if (canJoin && query?.has('new')) return join(shell, address);
  return passkeyDoor(site, device(), (user) => goIn(shell, user, address), (passkey) => passwordDoor(shell, address, canJoin, passkey));
}

/** @param passkey the button to sign in without the password, if there is one */
function passwordDoor(shell, address, canJoin, passkey) {
  const { site } = shell;
  const name = field(say('door.name'), { name: 'username', autocomplete: 'username webauthn' });
  const password = passwordField(site, false);
  const page = door({
    site,
    title: site.server.name,
    lead: say('door.signInLead'),
    controls: [name, password],
    verb: say('act.signIn'),
    problem: site.ban,
    foot: [
      passkey,
      canJoin && el('p', null, say('join.newHere'), ' ', el('a', { href: signInAddress(address, true) }, say('join.verb'))),
      site.server.policy === 'invite' && el('p', null, say('door.byInvite')),
      site.server.mail && el('p', null, el('a', { href: '/forgot' }, say('forgot.link'))),
      !site.server.mail && site.server.policy !== 'invite' && el('p', null, say('door.forgot')),
    ],
    work: async () => {
      if (!name.input.value.trim() || !password.input.value) throw sentence(say('door.both'));
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
        if (error.status === 401) throw sentence(say('door.wrong'));
        askCode(shell, page, error, address);
      }
    },
  });
  return page;
}

export async function front(shell) {
  const { site } = shell;
  const settings = await site.call('GET', '/settings').catch(() => ({}));
  await site.loadForums().catch(() => {});
  if (!site.server.set_up)
    return {
      title: site.server.name,
      isOutside: true,
      node: el(
        'div.door',
        null,
        el(
          'div.door-column',
          null,
          el('img.door-icon', { src: '/api/v1/icon', alt: '', width: 64, height: 64 }),
          el('h1', null, say('door.newTitle')),
          el('p.door-lead', null, say('door.newLead')),
        ),
      ),
    };
  return {
    title: null,
    isOutside: true,
    node: el(
      'div.door',
      null,
      el(
        'div.door-column',
        { class: site.forums.size ? 'is-front' : '' },
        el('img.door-icon', { src: '/api/v1/icon', alt: '', width: 64, height: 64 }),
        el('h1', null, site.server.name),
        settings.welcome && el('div.door-lead', null, rich(settings.welcome)),
        el(
          'div.empty-actions',
          null,
          el('a.button.button-primary', { href: '/sign-in' }, say('act.signIn')),
          ['open', 'approval'].includes(site.server.policy) && el('a.button', { href: '/sign-in?new' }, say('join.verb')),
        ),
        site.forums.size
          ? el('div.front-forums', null, el('h2.section-title', null, say('place.forums')), tiles(site))
          : null,
      ),
    ),
  };
}

export async function invite(shell, { code }) {
  const { site } = shell;
  const [{ invite: welcome }, settings] = await Promise.all([
    site.call('GET', `/links/${encodeURIComponent(code)}`),
    site.call('GET', '/settings').catch(() => ({})),
  ]);
  const inviter = displayName(welcome.inviter);
  const who = newcomer(site);
  return door({
    site,
    title: welcome.forum_title
      ? say('invite.toForum', { forum: welcome.forum_title })
      : say('invite.to', { site: site.server.name }),
    lead: inviter ? say('invite.by', { name: inviter, site: site.server.name }) : null,
    above: [welcome.inviter && el('div.door-inviter', null, avatar(welcome.inviter, { size: 3 })), rules(settings)],
    controls: who.controls,
    verb: settings.rules ? say('invite.acceptRules') : say('invite.accept'),
    foot: haveAccount(),
    work: async () => {
      const { user } = await who.register({ invite: code, ...(settings.rules ? { accept_rules: true } : {}) });
      await arrive(shell, user, welcome.forum_id);
    },
  });
}

/** Where anyone may come in, or ask to. */
async function join(shell, address) {
  const { site } = shell;
  const settings = await site.call('GET', '/settings').catch(() => ({}));
  const isAsked = site.server.policy === 'approval';
  const who = newcomer(site, { hasFace: !isAsked });
  const page = door({
    site,
    title: say('invite.to', { site: site.server.name }),
    lead: isAsked ? say('join.asksLead') : null,
    above: [rules(settings)],
    controls: who.controls,
    verb: say(isAsked ? 'join.ask' : settings.rules ? 'invite.acceptRules' : 'invite.accept'),
    foot: haveAccount(address),
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

/** The fields of a new user: display name, name, picture, password. Without a session no picture can be uploaded, so the
 * field is missing then. */
function newcomer(site, { hasFace = true } = {}) {
  const display = field(say('door.display'), { name: 'display_name', autocomplete: 'name', hint: say('door.displayHint') });
  const name = nameField();
  const password = passwordField(site);
  const face = hasFace ? faceField(() => name.input.value, { maxBytes: site.server.limits.file_bytes }) : null;
  // The default name is the first word of the display name.
  display.input.addEventListener('input', () => {
    if (name.isTouched) return;
    const [first] = display.input.value.trim().split(/\s+/);
    name.input.value = first.toLowerCase().normalize('NFKD').replace(/[^a-z0-9_.-]/g, '');
    face?.draw();
  });
  name.input.addEventListener('input', () => {
    name.isTouched = true;
    face?.draw();
  });
  const clientID = crypto.randomUUID();
  const values = () => ({
    name: name.input.value.trim(),
    password: password.input.value,
    cookie: true,
    device: device(),
    ...(display.input.value.trim() ? { display_name: display.input.value.trim() } : {}),
  });
  /** Continues after sign-up, even if the picture upload failed. */
  const withFace = async (answer) => {
    if (answer.user.state !== 'pending') await face?.keep(site.client).catch((error) => toast(sayProblem(error)));
    return answer;
  };
  return {
    controls: [display, name, face, password].filter(Boolean),
    register: (more) =>
      site.call('POST', '/users', { body: { ...values(), client_id: clientID, ...more } }).then(withFace),
    takeLink: (code) => site.call('POST', `/links/${encodeURIComponent(code)}`, { body: values() }).then(withFace),
  };
}

function rules(settings) {
  return settings.rules
    ? el('section.door-rules', null, el('h2', null, say('door.rules')), rich(settings.rules))
    : null;
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
  const page = door({
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

// MARK: First run: the community, you, start

/** Of this set-up link. */
const firstInviteKey = () => `invite of ${location.pathname}`;

export async function setUp(shell, { code }) {
  const { site } = shell;
  // The link is used up by the second step. The owner may have reloaded the third.
  const isOwner = site.me?.role === 'owner';
  if (isOwner) await site.loadForums();
  else await site.call('GET', `/links/${encodeURIComponent(code)}`);
  if (isOwner && site.forums.size) return void shell.go('/', { replace: true });
  const page = { title: say('setUp.title'), isOutside: true, keepsFocus: true, node: el('div') };
  const chosen = { hue: site.server.hue };
  const show = (next) => {
    refill(page.node, next.node);
    page.node.className = next.node.className;
    refill(page.node, ...next.node.childNodes);
    next.shown?.();
  };
  page.node.className = 'door';
  const first = isOwner ? begin(shell) : community(site, chosen, () => show(you(shell, code, chosen, () => show(begin(shell)))));
  show(first);
  page.shown = first.shown;
  return page;
}

function steps(at) {
  return el(
    'div.door-steps',
    { role: 'img', aria: { label: say('setUp.step', { n: at }) } },
    [1, 2, 3].map((it) => el('span.door-step', { aria: { current: it === at ? 'step' : null } })),
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
  const face = el('img.place-picture', { src: '/api/v1/icon', alt: '', width: 64, height: 64 });
  chosen.picture = pictureField(say('admin.picture'), {
    maxBytes: site.server.limits.file_bytes,
    on: (address) => face.setAttribute('src', address ?? '/api/v1/icon'),
  });
  return door({
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
  return door({
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
  const kept = sessionStorage.getItem(firstInviteKey());
  if (kept) return kept;
  const { code } = await site.call('POST', '/invites', { body: {} });
  sessionStorage.setItem(firstInviteKey(), code);
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
      const { qr } = await import('../core/qr.js');
      refill(code, qr(link.input.value, say('invite.qr')));
    },
    (error) => toast(sayProblem(error)),
  );
  return door({
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
      await site.updateMe({ preferences: { ...site.me.preferences, first_steps: true } });
      await site.loadForums();
      sessionStorage.removeItem(firstInviteKey());
      shell.entered();
      shell.go(room ? forumAddress(room, 'room') : '/forums', { replace: true });
    },
  });
}
