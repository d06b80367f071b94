// Settings of notifications: on this device, by kind, by mail, and the times without any. Each change is stored at once, and other
// devices show it.

import { el, freshID } from '../../core/dom.js';
import { region, say, sayProblem } from '../../core/text/text.js';
import { clock, moment, morning } from '../../core/text/times.js';
import { choice, field } from '../../parts/forms/field.js';
import { toggle } from '../../parts/forms/switch.js';
import { toast } from '../../parts/overlays/toast.js';
import { moderatedForums } from '../../moderation/forums.js';
import { emailOf } from '../email/email.js';
import { mailKinds } from '../email/mailkinds.js';
import { hourWords, pushEffect, quietEffect } from './effects.js';
import { pushContents } from './pushcontents.js';
import { isQuiet } from './quiettimes.js';
import { ownZone, selectZone, zoneOptions } from './zones.js';

const HOUR = 3_600_000;
const MINUTE = 60_000;
const KINDS = ['mention', 'reply', 'direct', 'room', 'request'];
/** Days of a week in the words of the API, and a Monday to name them. */
const DAYS = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const A_MONDAY = Date.UTC(2026, 0, 5);
const NIGHT = { from: '22:00', to: '07:00' };

/** Browsers of iPhones and iPads have notifications only for a site on the Home Screen. */
const needsInstall = () => /iPhone|iPad/.test(navigator.userAgent) || (navigator.userAgent.includes('Macintosh') && navigator.maxTouchPoints > 1);

/** The ends of a snooze that the page offers. */
const snoozes = {
  hour: (now) => new Date(now.getTime() + HOUR),
  tomorrow: (now) => morning(now, 1),
  week: (now) => new Date(now.getTime() + 7 * 24 * HOUR),
};

/** Fills the column. Returns the function that ends its updates. */
export async function notifications(shell, column) {
  const { site } = shell;
  const { calls } = site.client;
  const push = 'Notification' in window && (await import('./push.js'));
  const page = { site, parts: [] };
  /** The number of the latest change or request: an answer to an earlier one is not shown. */
  let turn = 0;
  /** The settings as the server has answered last. */
  let stored = null;
  const load = async () => {
    const own = ++turn;
    const [settings, email] = await Promise.all([calls.getNotificationSettings(), site.server.mail ? emailOf(site) : null]);
    if (own === turn) [page.settings, page.email] = [(stored = settings), email];
  };
  await load();
  const draw = () => {
    for (const part of page.parts) part(page.settings);
  };
  let last = Promise.resolve();
  /** Stores a change, after those before. The controls show the old value again after a refusal. */
  page.keep = async (body) => {
    const own = ++turn;
    // A change that follows before the answer builds on this one.
    page.settings = { ...page.settings, ...body };
    const storing = last.then(() => calls.updateNotificationSettings({ body }));
    last = storing.catch(() => {});
    try {
      stored = await storing;
    } catch (error) {
      toast(sayProblem(error));
    }
    if (own === turn) page.settings = stored;
    draw();
  };
  column.append(stateLine(page), ...devices(shell, page, push), ...kinds(page), ...quietHours(page));
  draw();
  // A snooze ends, and quiet hours begin.
  const ticking = setInterval(draw, MINUTE);
  const end = site.parley.on('event', async (event) => {
    if (event.event !== 'preferences.updated') return;
    await last;
    await load().catch(() => {});
    draw();
  });
  return () => {
    clearInterval(ticking);
    end();
  };
}

/** The present effect of the settings. */
function stateLine(page) {
  const line = el('p.second', { role: 'status' });
  page.parts.push((settings) => (line.textContent = words(settings, page.site, new Date())));
  return line;
}

function words({ paused, snoozed_until: end, quiet_hours: hours }, site, now) {
  if (paused) return say('notify.now.paused');
  if (end && new Date(end) > now) return say('notify.now.snoozed', { at: moment(new Date(end)) });
  if (hours && isQuiet(hours, now)) return say('notify.now.quiet', { at: hourWords(hours.to) });
  return say(site.server.vapid_key ? 'notify.now.sent' : 'notify.now.open');
}

function devices(shell, page, push) {
  const { site } = page;
  const shows = choice(
    say('push.shows'),
    pushContents(site.parley.settings?.push_shows).map((it) => [it, say(`push.shows.${it}`)]),
    { hint: say('push.showsHint'), on: (value) => page.keep({ push_shows: value }) },
  );
  const pause = toggle(say('notify.pause'), { hint: say('notify.pauseHint'), on: (paused) => page.keep({ paused }) });
  page.parts.push((settings) => {
    shows.input.value = settings.push_shows;
    // The site may show less.
    if (!shows.input.value) shows.input.selectedIndex = 0;
    pause.input.checked = settings.paused;
    pause.hint.textContent = say(settings.paused ? 'notify.does.paused' : 'notify.pauseHint');
  });
  const device = push ? push.deviceSettings(shell) : needsInstall() && el('p.second', null, say('push.install'));
  return [device, pause, snooze(page), site.server.vapid_key && shows].filter(Boolean);
}

function snooze(page) {
  const now = new Date();
  const options = Object.entries(snoozes).map(([key, end]) => [key, say(`notify.snooze.${key}`, { time: clock(end(now)) })]);
  const node = choice(say('notify.snooze'), [['', say('notify.snooze.off')], ...options, ['until', '']], {
    on: (key) => {
      if (key !== 'until') page.keep({ snoozed_until: snoozes[key]?.(new Date()).toISOString() ?? null });
    },
  });
  const until = node.input.lastElementChild;
  page.parts.push(({ snoozed_until: end }) => {
    const isOn = end && new Date(end) > new Date();
    until.hidden = !isOn;
    until.textContent = isOn ? say('notify.snooze.until', { at: moment(new Date(end)) }) : '';
    node.input.value = isOn ? 'until' : '';
  });
  return node;
}

function kinds(page) {
  const { site } = page;
  const moderates = site.isModerator || moderatedForums(site).length > 0;
  const offered = [...KINDS, ...(moderates ? ['report'] : []), ...(site.isStaff ? ['endpoint_disabled', 'alert'] : [])];
  const switches = offered.map((kind) => {
    const on = (isOn) => page.keep({ push: { ...page.settings.push, [kind]: isOn } });
    const node = toggle(say(`notify.kind.${kind}`), { hint: ' ', on });
    page.parts.push((settings) => {
      node.input.checked = settings.push[kind];
      node.hint.textContent = pushEffect(site, settings, kind, new Date());
    });
    return node;
  });
  const id = freshID('push');
  return [
    el('section', { aria: { labelledby: id } }, el('h2.section-title', { id }, say('notify.kinds')), switches),
    mailKinds(page, offered),
    el('p.second', null, say('notify.security')),
  ].filter(Boolean);
}

function quietHours(page) {
  const keep = (change) => page.keep({ quiet_hours: { ...page.settings.quiet_hours, ...change } });
  const zone = ownZone();
  const isOn = toggle(say('notify.quiet'), {
    hint: say('notify.quietHint'),
    on: (on) => page.keep({ quiet_hours: on ? { ...NIGHT, days: DAYS, time_zone: zone } : null }),
  });
  const times = ['from', 'to'].map((it) => {
    const node = field(say(`notify.quiet.${it}`), { type: 'time', required: true });
    node.input.addEventListener('change', () => node.input.value && keep({ [it]: node.input.value }));
    page.parts.push(({ quiet_hours: hours }) => (node.input.value = hours?.[it] ?? NIGHT[it]));
    return node;
  });
  const zones = choice(say('notify.quiet.zone'), zoneOptions(), { on: (name) => keep({ time_zone: name }) });
  const details = el('div.quiet-hours', null, el('div.field-pair', null, times), weekdays(page, keep), zones);
  page.parts.push((settings) => {
    const hours = settings.quiet_hours;
    isOn.input.checked = !!hours;
    isOn.hint.textContent = quietEffect(settings, new Date());
    details.hidden = !hours;
    selectZone(zones.input, hours?.time_zone ?? zone);
  });
  return [isOn, details];
}

function weekdays(page, keep) {
  const short = new Intl.DateTimeFormat(region(), { weekday: 'short', timeZone: 'UTC' });
  const long = new Intl.DateTimeFormat(region(), { weekday: 'long', timeZone: 'UTC' });
  const chips = DAYS.map((day, index) => {
    const date = new Date(A_MONDAY + index * 24 * HOUR);
    const node = el('button.chip', { type: 'button', aria: { label: long.format(date) } }, short.format(date));
    node.addEventListener('click', () => {
      const days = new Set(page.settings.quiet_hours.days);
      if (!days.delete(day)) days.add(day);
      if (days.size) keep({ days: DAYS.filter((it) => days.has(it)) });
    });
    page.parts.push(({ quiet_hours: hours }) => node.setAttribute('aria-pressed', String(hours?.days.includes(day) ?? true)));
    return node;
  });
  return el('div.chips', { role: 'group', aria: { label: say('notify.quiet.days') } }, chips);
}
