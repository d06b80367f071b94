// Quiet hours of the notification settings.

import assert from 'node:assert/strict';
import test from 'node:test';

import { allows, isQuiet } from '../../../Public/js/app/account/notifications/quiettimes.js';

const all = ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'];
const night = { from: '22:00', to: '07:00', days: all, time_zone: 'Europe/Berlin' };
const at = (text, hours = night) => isQuiet(hours, new Date(text));

test('a night, by the clock of its zone and through both of its changes', () => {
  assert.equal(at('2027-01-15T21:00:00Z'), true);
  assert.equal(at('2027-01-15T20:59:59Z'), false);
  assert.equal(at('2027-03-28T04:59:59Z'), true);
  assert.equal(at('2027-03-28T05:00:00Z'), false);
  assert.equal(at('2027-10-31T05:59:59Z'), true);
  assert.equal(at('2027-10-31T06:00:00Z'), false);
  assert.equal(at('2027-10-30T22:30:00Z'), true);
});

test('the hours of a night belong to the day on which they begin', () => {
  // 2027-01-15 is a Friday.
  const friday = { ...night, days: ['friday'], time_zone: 'UTC' };
  assert.equal(at('2027-01-15T06:00:00Z', friday), false);
  assert.equal(at('2027-01-15T22:00:00Z', friday), true);
  assert.equal(at('2027-01-16T06:59:00Z', friday), true);
  assert.equal(at('2027-01-16T22:00:00Z', friday), false);
});

test('hours within a day, and a zone that the browser does not know', () => {
  const noon = { ...night, from: '12:00', to: '13:00', time_zone: 'UTC' };
  assert.equal(at('2027-01-15T12:00:00Z', noon), true);
  assert.equal(at('2027-01-15T13:00:00Z', noon), false);
  assert.equal(at('2027-01-15T12:00:00Z', { ...noon, time_zone: 'Mars/Olympus' }), false);
});

test('a pause, a snooze, quiet hours and an unwanted kind hold notifications back', () => {
  const now = new Date('2027-01-15T22:30:00Z');
  const settings = { paused: false, snoozed_until: null, quiet_hours: null, push: { mention: true, direct: false } };
  const isShown = (kind, change) => allows({ ...settings, ...change }, kind, now);
  assert.equal(isShown('mention'), true);
  assert.equal(isShown(null), true);
  assert.equal(isShown('direct'), false);
  assert.equal(isShown('mention', { paused: true }), false);
  assert.equal(isShown('mention', { snoozed_until: '2027-01-15T22:30:01Z' }), false);
  assert.equal(isShown('mention', { snoozed_until: '2027-01-15T22:30:00Z' }), true);
  assert.equal(isShown('mention', { quiet_hours: { ...night, time_zone: 'UTC' } }), false);
  assert.equal(isShown(null, { quiet_hours: { ...night, time_zone: 'UTC', from: '23:00' } }), true);
});
