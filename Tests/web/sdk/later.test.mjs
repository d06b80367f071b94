// The times of the inbox's menu "Later".

import assert from 'node:assert/strict';
import test from 'node:test';

import { choices } from '../../../Public/js/app/conversation/later.js';

/** Local times, as the menu counts them. */
const found = (now) =>
  choices(new Date(now)).map(([name, at]) => {
    const two = (n) => `${n}`.padStart(2, '0');
    return `${name} ${two(at.getMonth() + 1)}-${two(at.getDate())} ${two(at.getHours())}:${two(at.getMinutes())}`;
  });

const CASES = {
  'a Monday morning': ['2026-11-23T07:00', 'hours 11-23 10:00', 'tomorrow 11-24 08:00', 'monday 11-30 08:00'],
  'a Tuesday evening': ['2026-11-24T21:15', 'hours 11-25 00:15', 'tomorrow 11-25 08:00', 'monday 11-30 08:00'],
  'late on a Saturday': ['2026-11-28T23:59', 'hours 11-29 02:59', 'tomorrow 11-29 08:00', 'monday 11-30 08:00'],
  'just after midnight': ['2026-11-26T00:05', 'hours 11-26 03:05', 'tomorrow 11-27 08:00', 'monday 11-30 08:00'],
  'the last day of a year': ['2026-12-31T12:00', 'hours 12-31 15:00', 'tomorrow 01-01 08:00', 'monday 01-04 08:00'],
  'the start of a Sunday': ['2026-11-29T00:00', 'hours 11-29 03:00', 'tomorrow 11-30 08:00'],
  'a Sunday at five': ['2026-11-29T05:00', 'hours 11-29 08:00', 'tomorrow 11-30 08:00'],
  'late on a Sunday': ['2026-11-29T23:30', 'hours 11-30 02:30', 'tomorrow 11-30 08:00'],
};

for (const [name, [now, ...expected]] of Object.entries(CASES)) {
  test(`the choices on ${name}`, () => assert.deepEqual(found(now), expected));
}

test('no two choices name one time, and all are to come', () => {
  for (let hour = 0; hour < 15 * 24; hour++) {
    const now = new Date(2026, 10, 20, hour, 30);
    const times = choices(now).map(([, at]) => at.getTime());
    assert.equal(new Set(times).size, times.length, `${now}`);
    assert.ok(times.every((at) => at > now.getTime()), `${now}`);
  }
});
