// The settings of the community: a form for administrators, text for moderators.

import { mailTest } from './mailtest.js';
import { pushContents } from '../account/notifications/pushcontents.js';
import { el, refill } from '../core/dom.js';
import { loadSheet } from '../core/sheet.js';
import { applyLook, rememberLook } from '../core/theme.js';
import { rich } from '../parts/message/rich.js';
import { button } from '../parts/forms/button.js';
import { choice, field } from '../parts/forms/field.js';
import { savingForm } from '../parts/forms/form.js';
import { pictureField } from '../parts/forms/picture.js';
import { toggle } from '../parts/forms/switch.js';
import { toast } from '../parts/overlays/toast.js';
import { say } from '../core/text/text.js';

/** The lifetimes of sessions, in days. */
const SESSION_DAYS = ['session_idle_days', 'session_max_days', 'staff_session_idle_days', 'staff_session_max_days'];

export async function siteSettings(shell, column) {
  const { site } = shell;
  let kept = await site.call('GET', '/settings');
  if (!site.isStaff) return readOnly(site, column, kept);
  const name = field(say('setUp.name'), { value: kept.name, limit: 64, required: true });
  const welcome = field(say('admin.welcome'), { value: kept.welcome, lines: 3, hint: say('admin.welcomeHint') });
  const rules = field(say('signIn.rules'), { value: kept.rules, lines: 5, hint: say('admin.rulesHint') });
  const hue = hueSlider(site, kept.hue);
  const policy = policyChoice(kept.registration);
  const mayInvite = circleChoice('admin.mayInvite', kept.may_invite);
  const mayCreate = circleChoice('admin.mayCreate', kept.may_create_forums);
  const secondFactor = secondFactorChoice(kept.require_second_factor);
  const days = dayFields(kept);
  const shows = pushShowsChoice(kept.push_shows);
  const arrival = arrivalChoice(site, kept.arrival_forum);
  const face = el('img.site-picture', { src: '/api/v1/icon', alt: '', width: 64, height: 64 });
  const picture = pictureField(say('admin.picture'), {
    maxBytes: site.server.limits.file_bytes,
    on: (address) => face.setAttribute('src', address ?? '/api/v1/icon'),
  });
  const discovery = toggle(say('admin.discovery'), { checked: kept.discovery, hint: say('admin.discoveryHint') });
  const engines = toggle(say('admin.searchEngines'), { checked: kept.search_engines, hint: say('admin.searchEnginesHint') });
  const contact = field(say('admin.contact'), { value: kept.contact_url ?? '', hint: say('admin.contactHint') });
  const privacy = field(say('admin.privacy'), { value: kept.privacy_url ?? '', hint: say('admin.privacyHint') });
  const save = button(say('act.save'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    kept = await site.call('PATCH', '/settings', {
      body: {
        name: name.input.value.trim(),
        welcome: welcome.input.value,
        rules: rules.input.value,
        hue: Number(hue.value),
        ...(picture.file ? { icon_file: await picture.send(site.client) } : {}),
        registration: policy.input.value,
        may_invite: mayInvite.input.value,
        may_create_forums: mayCreate.input.value,
        require_second_factor: secondFactor.input.value,
        push_shows: shows.input.value,
        ...Object.fromEntries(days.map(({ input }) => [input.name, Number(input.value)])),
        arrival_forum: arrival.input.value || null,
        discovery: discovery.input.checked,
        search_engines: engines.input.checked,
        contact_url: linkOf(contact),
        privacy_url: linkOf(privacy),
        if_revision: kept.revision,
      },
    });
    if (picture.file) await fetch('/api/v1/icon', { cache: 'reload' }).catch(() => {});
    const { name: title, hue: shade, registration, contact_url, privacy_url } = kept;
    site.server = { ...site.server, name: title, hue: shade, policy: registration, contact_url, privacy_url };
    rememberLook(site.me.preferences ?? {}, kept.hue);
    site.say('me');
    toast(say('act.saved'));
  };
  refill(
    column,
    savingForm(
      save,
      { work },
      [name, hueField(hue), el('div.picture-row', null, face, picture), welcome, rules, contact, privacy],
      el('h2.section-title', null, say('admin.access')),
      [policy, mayInvite, arrival, mayCreate, discovery, engines],
      el('h2.section-title', null, say('admin.security')),
      [secondFactor, el('div.field-pair', null, days), shows],
    ),
    site.server.mail && (await mailTest(site)),
  );
}

const policyChoice = (value) =>
  choice(
    say('admin.registration'),
    ['open', 'approval', 'invite', 'closed'].map((it) => [it, say(`admin.registration.${it}`)]),
    { value },
  );

/** The lifetimes of sessions. */
const dayFields = (settings) =>
  SESSION_DAYS.map((it) => {
    const node = field(say(`change.${it}`), { type: 'number', name: it, required: true, value: String(settings[it]) });
    Object.assign(node.input, { min: 1, max: 400 });
    return node;
  });

/** The members that must have two-step sign-in. */
const secondFactorChoice = (value) =>
  choice(
    say('admin.secondFactor'),
    ['none', 'staff', 'all'].map((it) => [it, say(`admin.secondFactor.${it}`)]),
    { value, hint: say('admin.secondFactorHint') },
  );

const hueField = (slider) =>
  el('div.field', null, el('span.field-label', null, say('setUp.hue')), el('div.hue', null, el('span.hue-dot'), slider));

const pushShowsChoice = (value) =>
  choice(
    say('change.push_shows'),
    pushContents().map((it) => [it, say(`push.shows.${it}`)]),
    { value, hint: say('admin.pushShowsHint') },
  );

/** The forum where new members arrive. A private forum has no automatic members. */
function arrivalChoice(site, chosen) {
  const forums = [...site.forums.values()].filter((it) => it.visibility !== 'private').map((it) => [it.id, it.title]);
  return choice(say('admin.arrival'), [['', say('admin.arrivalLively')], ...forums], {
    value: forums.some(([id]) => id === chosen) ? chosen : '',
    hint: say('admin.arrivalHint'),
  });
}

/** A slider that shows its hue at once. */
function hueSlider(site, hue) {
  const slider = el('input', { type: 'range', min: 0, max: 359, value: String(hue), aria: { label: say('setUp.hue') } });
  slider.addEventListener('input', () => applyLook(site.me.preferences ?? {}, Number(slider.value)));
  return slider;
}

const circleChoice = (key, value) =>
  choice(
    say(key),
    ['users', 'moderators', 'staff'].map((it) => [it, say(`admin.circle.${it}`)]),
    { value },
  );

/** An address of people needs no scheme. */
function linkOf(input) {
  const text = input.input.value.trim();
  if (!text) return null;
  return /^[^\s:/@]+@[^\s:/@]+$/.test(text) ? `mailto:${text}` : text;
}

/** The settings as text. */
async function readOnly(site, column, kept) {
  await loadSheet('/css/parts/lists/report.css');
  const circle = (value) => say(`admin.circle.${value}`);
  const flag = (value) => say(value ? 'change.on' : 'change.off');
  const link = (address) => address && el('a', { href: address }, address);
  const rows = [
    ['setUp.name', kept.name],
    ['admin.welcome', kept.welcome && rich(kept.welcome)],
    ['signIn.rules', kept.rules && rich(kept.rules)],
    ['admin.registration', say(`admin.registration.${kept.registration}`)],
    ['admin.mayInvite', circle(kept.may_invite)],
    ['admin.mayCreate', circle(kept.may_create_forums)],
    ['admin.secondFactor', say(`admin.secondFactor.${kept.require_second_factor}`)],
    ...SESSION_DAYS.map((it) => [`change.${it}`, String(kept[it])]),
    ['change.push_shows', say(`push.shows.${kept.push_shows}`)],
    ['admin.arrival', site.forums.get(kept.arrival_forum)?.title ?? say('admin.arrivalLively')],
    ['admin.discovery', flag(kept.discovery)],
    ['admin.searchEngines', flag(kept.search_engines)],
    ['admin.contact', link(kept.contact_url)],
    ['admin.privacy', link(kept.privacy_url)],
  ];
  return refill(
    column,
    el('p.second', null, say('admin.readOnly')),
    // Without controls the page scrolls by the keyboard only if it can be focused.
    el('dl.facts', { tabindex: '0' }, rows.map(([name, value]) => [el('dt', null, say(name)), el('dd', null, value || say('change.none'))])),
  );
}
