// The present effects of the settings of notifications, in words.

import { say } from '../../core/text/text.js';
import { clock } from '../../core/text/times.js';
import { allows, isQuiet } from './quiettimes.js';

/** A time of the day, such as `22:00`, as users write it. */
export const hourWords = (text) => clock(new Date(2026, 0, 1, ...text.split(':').map(Number)));

/** The effect of the switch of a kind on devices. */
export function pushEffect({ server }, settings, kind, now) {
  if (!settings.push[kind]) return say('notify.does.off');
  if (!allows(settings, kind, now)) return say('notify.does.held');
  return say(server.vapid_key ? 'notify.does.sent' : 'notify.does.open');
}

/** The effect of the switch of a kind by mail, or of the digest. Quiet hours do not hold mail. */
export function mailEffect({ paused, snoozed_until: end }, isOn, sent, now) {
  if (!isOn) return say('notify.does.noMail');
  return paused || (end && new Date(end) > now) ? say('notify.does.mailHeld') : sent;
}

/** The effect of the quiet hours. */
export function quietEffect({ quiet_hours: hours }, now) {
  if (!hours) return say('notify.quietHint');
  return isQuiet(hours, now) ? say('notify.does.quiet', { at: hourWords(hours.to) }) : say('notify.does.loud', { at: hourWords(hours.from) });
}
