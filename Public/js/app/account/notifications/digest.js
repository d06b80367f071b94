// The weekly digest: its switch, and the time zone of its hour.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { clock } from '../../core/text/times.js';
import { choice } from '../../parts/forms/field.js';
import { toggle } from '../../parts/forms/switch.js';
import { mailEffect } from './effects.js';
import { ownZone, selectZone, zoneOptions } from './zones.js';

/** The server sends it at this hour of Monday. */
const HOUR = 8;

/** The time zone that counts on the server. */
const zoneOf = ({ time_zone: zone, quiet_hours: hours }) => zone ?? hours?.time_zone ?? 'UTC';

/** The controls, for a user with a confirmed address. */
export function weeklyDigest(page) {
  const sent = say('notify.digestHint', { time: clock(new Date(2026, 0, 5, HOUR)) });
  const isOn = toggle(say('notify.digest'), {
    hint: sent,
    on: (on) => page.keep({ weekly_digest: on, ...(on && !page.settings.time_zone && { time_zone: ownZone() }) }),
  });
  const zones = choice(say('notify.quiet.zone'), zoneOptions(), { on: (name) => page.keep({ time_zone: name }) });
  page.parts.push((settings) => {
    isOn.input.checked = settings.weekly_digest;
    isOn.hint.textContent = mailEffect(settings, settings.weekly_digest, sent, new Date());
    zones.hidden = !settings.weekly_digest;
    selectZone(zones.input, zoneOf(settings));
  });
  return el('div', null, isOn, zones);
}
