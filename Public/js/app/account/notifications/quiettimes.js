// Times without notifications: paused, snoozed, and quiet hours by the clock of their time zone.

const DAY_MINUTES = 1_440;
const DAYS = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];

/** Whether the settings allow a notification of a kind, or of none, at a time. */
export function allows({ paused, snoozed_until: end, quiet_hours: hours, push }, kind, now) {
  if (paused || (end && Date.parse(end) > now.getTime()) || (hours && isQuiet(hours, now))) return false;
  return push[kind] !== false;
}

/** Whether quiet hours hold at a time. The hours of a night belong to the day on which they begin. */
export function isQuiet({ from, to, days, time_zone: zone }, now) {
  const local = localTime(now, zone);
  if (!local) return false;
  const [start, end] = [minutes(from), minutes(to)];
  const begins = (daysBack) => days.includes(DAYS[(local.day - daysBack + DAYS.length) % DAYS.length]);
  if (start < end) return begins(0) && start <= local.minute && local.minute < end;
  return (begins(0) && local.minute >= start) || (begins(1) && local.minute < end);
}

const minutes = (text) => {
  const [hour, minute] = text.split(':').map(Number);
  return hour * 60 + minute;
};

/** The day of the week and the minute of the day; null for a zone that the browser does not know. */
function localTime(now, zone) {
  try {
    const options = { timeZone: zone, hourCycle: 'h23', weekday: 'long', hour: '2-digit', minute: '2-digit' };
    const parts = Object.fromEntries(new Intl.DateTimeFormat('en-US', options).formatToParts(now).map((it) => [it.type, it.value]));
    const minute = minutes(`${parts.hour}:${parts.minute}`) % DAY_MINUTES;
    return { day: DAYS.indexOf(parts.weekday.toLowerCase()), minute };
  } catch {
    return null;
  }
}
