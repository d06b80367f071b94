// Texts of the web app: names in sentences, sentences for problems, times.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

import { isolate, knows, number, say, sayProblem, sayWith, useRegion, useText } from '../../../Public/js/app/core/text/text.js';
import { brief, clock, moment } from '../../../Public/js/app/core/text/times.js';

const TOP = new URL('../../../', import.meta.url);
const read = (path) => readFileSync(new URL(path, TOP), 'utf8');
const english = JSON.parse(read('Public/lang/en.json'));

globalThis.Node = class {}; // a browser's

const OMAR = 'عمر الخيّام';
const isolated = `\u2068${OMAR}\u2069`;

test('a name in a right-to-left script keeps its position in a sentence', () => {
  useText({ wrote: '{name} wrote {n} lines at {time}' });
  assert.equal(say('wrote', { name: OMAR, n: 3, time: '03:09' }), `${isolated} wrote 3 lines at 03:09`);
  assert.deepEqual(sayWith('wrote', { name: OMAR, n: 3, time: '03:09' }), ['', isolated, ' wrote ', '3', ' lines at ', '03:09', '']);
});

test('other names stay as they are', () => {
  for (const name of ['Ada', 'Žofia', '小林', '', undefined]) assert.equal(isolate(name), name);
  for (const name of [OMAR, 'רחל', 'Ada (עדה)', '𞤀𞤣𞤤𞤢𞤥']) assert.equal(isolate(name), `\u2068${name}\u2069`);
});

/** All codes of problems and of their fields, from the sources of the server. */
function codes() {
  const refusals = read('Sources/Shared/Model/Refusal.swift');
  const [, enumeration] = /enum UserState[^{]*\{(.*?)^\}/ms.exec(read('Sources/Shared/Model/Users/User.swift'));
  const states = [...enumeration.matchAll(/^  case (\w+)$/gm)].map(([, it]) => it);
  const found = [...refusals.matchAll(/^ +case \.\w+.*: "(\w+)"$/gm)].map(([, it]) => it);
  const fields = read('Sources/Shared/JSON/JSONError.swift').matchAll(/^ +case \.[\w, .]+: "(\w+)"$/gm);
  const passkeys = read('Sources/Shared/Model/Users/Passkey.swift').matchAll(/^ +case \w+ = "(passkey_\w+)"$/gm);
  const folders = ['Sources/Server/API/', 'Sources/Server/Serving/', 'Sources/Server/Web/'];
  const problems = folders.flatMap((folder) =>
    readdirSync(new URL(folder, TOP), { recursive: true })
      .filter((name) => name.endsWith('.swift'))
      .flatMap((name) => [...read(folder + name).matchAll(/code: "(\w+)"/g)].map(([, it]) => it)),
  );
  assert.ok(found.length > 25 && states.length === 6 && problems.length > 10);
  const accounts = states.filter((it) => it !== 'active').map((it) => `account_${it}`);
  return new Set([...found, ...accounts, ...[...fields, ...passkeys].map(([, it]) => it), ...problems]);
}

test('each code of the API has a sentence', () => {
  useText(english);
  assert.deepEqual([...codes()].filter((code) => !knows(`problem.${code}`)), []);
});

test('each sentence about a problem belongs to a code of the API', () => {
  const known = new Set([...codes(), 'network', 'other']);
  const keys = Object.keys(english).filter((key) => key.startsWith('problem.'));
  assert.deepEqual(keys.filter((key) => !key.split('.').slice(1).some((part) => known.has(part))), []);
});

test('errors of accounts, notifications and sign-in name the next step', () => {
  useText(english);
  const rows = [
    ['name', 'missing', 'Enter a username.'],
    ['password', 'missing', 'Enter a password.'],
    ['password', 'too_common', 'This password is too easy to guess.'],
    ['endpoint', 'invalid', "The push service of this browser can't be used. Update the browser, or use another one."],
    ['endpoint', 'unreachable', "The push service of this browser can't be used. Update the browser, or use another one."],
    ['keys.p256dh', 'invalid', "The keys of this browser for notifications aren't valid. Turn notifications off and on again."],
    ['keys.auth', 'invalid', "The keys of this browser for notifications aren't valid. Turn notifications off and on again."],
    ['quiet_hours.time_zone', 'unknown', "The server doesn't know this time zone. Choose another one."],
    ['quiet_hours.to', 'invalid', "Quiet hours can't end when they begin. Choose another time."],
    ['snoozed_until', 'invalid', 'Choose a time in the future, at most a year from now.'],
    ['time_zone', 'unknown', "The server doesn't know this time zone. Choose another one."],
    ['quiet_hours.days', 'invalid', 'Choose at least one day.'],
    ['address', 'invalid', 'Enter an email address, such as ada@example.org.'],
    ['code', 'invalid', 'This code is wrong. Check it, or wait for the next one.'],
    ['code', 'used', 'This code was used before. Wait for the next one of your app. If it is a recovery code, use another.'],
    ['code', 'none_left', 'All your recovery codes are used. Ask an admin to turn off your two-step sign-in.'],
    ['code', 'clock_off', 'This code is from another time. Set the clock of your phone to automatic.'],
    ['code', 'key_lost', "The server can't check codes from apps. Use a recovery code, or ask an admin."],
    ['challenge', 'unknown', 'That took too long. Sign in again.'],
  ];
  for (const [field, code, sentence] of rows) {
    assert.equal(sayProblem({ code: 'invalid', errors: [{ field, code }] }), sentence, `${field} ${code}`);
  }
  // Each failed check of a passkey has a sentence of its own, with what to do after it.
  const passkeys = [...codes()].filter((it) => /^passkey_/.test(it)).map((it) => sayProblem({ code: 'invalid', errors: [{ field: 'credential', code: it }] }));
  assert.ok(passkeys.length > 15);
  assert.equal(new Set(passkeys).size, passkeys.length);
  assert.deepEqual(passkeys.filter((it) => !/^[^.]+\. [^.]+\.$/.test(it)), []);
});

test('a ban is told with its end and its reason', () => {
  useText(english);
  const text = (params) => sayProblem({ code: 'account_disabled', params });
  const until = new Date(new Date().getFullYear(), 10, 24, 3, 21).toISOString();
  assert.equal(text({ until, reason: 'Spam.' }), 'You are banned until 24 Nov, 03:21. Reason: Spam.');
  assert.equal(text({ until }), 'You are banned until 24 Nov, 03:21.');
  assert.equal(text({ reason: 'Spam.' }), 'You are banned. Reason: Spam.');
  assert.equal(text({}), 'This account is disabled.');
});

test('a problem is told with its numbers, or without them', () => {
  useText(english);
  const text = (code, params) => sayProblem({ code: 'invalid', errors: [{ field: 'hue', code, params }] });
  assert.equal(text('out_of_range', { min: 0, max: 359 }), 'Enter a number from 0 to 359.');
  assert.equal(text('out_of_range', {}), 'Some fields are invalid.');
  assert.equal(text('too_many', { limit: 10 }), "You've reached the limit of 10.");
  const until = new Date(new Date().getFullYear(), 10, 24, 3, 21).toISOString();
  const params = { limit: 'links', max_per_hour: 4, until };
  assert.match(sayProblem({ code: 'newcomer_limited', params }), /^New members can share 4 links an hour\. Try again at 24 Nov, 03:21/);
});

test('numbers are grouped as the language does', () => {
  assert.deepEqual([7, 999, 1042, 1234567].map(number), ['7', '999', '1,042', '1,234,567']);
});

test('a future time has its day', () => {
  useText(english);
  const now = new Date(2026, 10, 23, 12, 0);
  const on = (day, hours, minutes) => new Date(2026, 10, day, hours, minutes);
  assert.equal(moment(on(24, 3, 21), now), '24 Nov, 03:21');
  assert.equal(moment(on(23, 18, 0), now), '23 Nov, 18:00');
  assert.equal(moment(on(23, 11, 0), now), '11:00');
  assert.equal(moment(on(22, 11, 0), now), 'Yesterday 11:00');
  assert.equal(brief(on(23, 12, 5), now), 'in 5 min');
  assert.equal(brief(on(23, 18, 0), now), '18:00');
  assert.equal(brief(on(24, 3, 21), now), 'tomorrow');
  assert.equal(brief(on(28, 3, 21), now), '28 Nov');
  assert.equal(brief(on(23, 11, 55), now), '5 min');
  assert.equal(brief(on(23, 12, 0), now), 'now');
});

test('a chosen region and clock change dates, times and numbers, and no texts', () => {
  const at = new Date(2026, 4, 3, 21, 4);
  const seen = (chosen) => {
    useRegion(chosen);
    return [clock(at), number(1234.5)];
  };
  useText({}, 'en');
  const before = seen({});
  assert.deepEqual(seen({ region: 'DE' }), ['21:04', '1.234,5']);
  assert.deepEqual(seen({ region: 'US' }).map((it) => it.replace('\u202f', ' ')), ['9:04 PM', '1,234.5']);
  assert.equal(seen({ region: 'US', clock: '24' })[0], '21:04');
  assert.match(seen({ region: 'DE', clock: '12' })[0], /^0?9:04.(pm|PM)$/);
  // Other programs may have stored anything.
  assert.deepEqual(seen({ region: 'x', clock: {} }), before);
  assert.deepEqual(seen({}), before);
});
