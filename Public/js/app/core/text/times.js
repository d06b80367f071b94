// Relative and short times: "now", "4 min", "21:04" or "9:04 PM" by region, "Yesterday 21:04", "3 May". The `title` of `<time>`
// has the full date.

import { el } from '../dom.js';
import { region, say } from './text.js';

const MINUTE = 60_000;
const DAY = 86_400_000;

export function startOfDay(date) {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate());
}

const MORNING = 8;

/** Eight o'clock, so many days later. */
export const morning = (now, days) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days, MORNING);

function daysApart(date, now) {
  return Math.round((startOfDay(now) - startOfDay(date)) / DAY);
}

const formats = new Map();
function format(name, date) {
  const options = {
    clock: { timeStyle: 'short' },
    day: { day: 'numeric', month: 'long' },
    short: { day: 'numeric', month: 'short' },
    dated: { day: 'numeric', month: 'short', year: 'numeric' },
    weekday: { weekday: 'long', day: 'numeric', month: 'long' },
    full: { dateStyle: 'full', timeStyle: 'short' },
  }[name];
  const key = `${region()} ${name}`;
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(region(), options));
  return formats.get(key).format(date);
}

export const clock = (date) => format('clock', date);
export const full = (date) => format('full', date);
export const dated = (date) => format('dated', date);

/** In lists: as short as it can be. */
export function brief(date, now = new Date()) {
  const minutes = Math.floor((now - date) / 60_000);
  if (minutes < -1) return soon(date, now);
  if (minutes < 1) return say('time.now');
  if (minutes < 60) return say('time.minutes', { n: minutes });
  const days = daysApart(date, now);
  if (days <= 0) return clock(date);
  if (days === 1) return say('time.yesterday');
  return dayOf(date, now);
}

/** A time to come, in lists. */
function soon(date, now) {
  const minutes = Math.round((date - now) / 60_000);
  if (minutes < 60) return say('time.in', { n: minutes });
  const days = daysApart(date, now);
  if (days === 0) return clock(date);
  return days === -1 ? say('time.tomorrow') : dayOf(date, now);
}

const dayOf = (date, now) => format(date.getFullYear() === now.getFullYear() ? 'short' : 'dated', date);

/** Clocks of a server and a device may differ by this, in milliseconds. */
const SKEW = 60_000;

/** In texts: when exactly, in words that don't age within the day. A future time has its day. */
export function moment(date, now = new Date()) {
  const days = daysApart(date, now);
  if (days === 0 && date - now < SKEW) return clock(date);
  if (days === 1) return say('time.yesterdayAt', { time: clock(date) });
  return say('time.dayAt', { day: dayOf(date, now), time: clock(date) });
}

/** The quiet word between two days of a conversation. */
export function day(date, now = new Date()) {
  const days = daysApart(date, now);
  if (days === 0) return say('time.today');
  if (days === 1) return say('time.yesterday');
  if (days > 0 && days < 7) return format('weekday', date);
  return date.getFullYear() === now.getFullYear() ? format('day', date) : format('dated', date);
}

/** @param {string|Date} at @param {(date: Date) => string} words */
export function time(at, words = brief) {
  const date = at instanceof Date ? at : new Date(at);
  return aging(el('time', { datetime: date.toISOString(), title: full(date) }), () => words(date));
}

/** An element with words that age. */
export function aging(node, words) {
  node.renew = () => {
    if (node.textContent !== words()) node.textContent = words();
  };
  node.renew();
  return node;
}

/** Writes the words that age again, each minute. */
export function keepTimes() {
  setInterval(() => {
    for (const it of document.querySelectorAll('time, .day-line > span')) it.renew?.();
  }, MINUTE);
}
