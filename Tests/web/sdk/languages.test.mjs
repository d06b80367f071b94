// The files of Public/lang: the same keys and parameters in each, every plural form that the language has, and no English
// left. A message names each key and its file.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import test from 'node:test';

const TOP = new URL('../../../', import.meta.url);
const read = (path) => readFileSync(new URL(path, TOP), 'utf8');
const CODES = readdirSync(new URL('Public/lang/', TOP)).map((it) => it.replace('.json', ''));
const parse = (code) => JSON.parse(read(`Public/lang/${code}.json`));
const english = parse('en');
const OTHERS = CODES.filter((it) => it !== 'en');
const forms = (text) => (typeof text === 'string' ? { '': text } : text);
const parameters = (text) => [...new Set(text.match(/\{\w+\}/g))].sort().join(' ');

/** Texts that are the same as in English in every language. */
const SAME = new Set([
  'audit.other', 'change.value', 'entry.reason', 'file.sending', 'file.units', 'forum.addHint', 'gone.because',
  'language.direction', 'message.label', 'message.labelReply', 'page.date', 'page.decimal', 'page.group', 'page.minute',
  'time.dayAt', 'timeline.short', 'webhooks.url',
]);
/** Words that a language shares with English. */
const SHARED = {
  de: ['Audio: {name}', 'Backups', 'Bot', 'Bots', 'Code', 'Community', 'Details', 'Feed', 'Format', 'Forum', 'Forum {n}', 'in {name}', 'Link', 'Moderation', 'Moderator', 'Name', 'Normal', 'Offline', 'online', '{n} online', 'Option {n}', 'Passkey', 'Passkeys', 'Position', 'Region', 'Server', 'Spoiler', 'Status', 'Tags', 'Token', 'Video: {name}', 'Webhooks'],
  es: ['{n} min', 'Audio: {name}', 'Bot', 'Bots', 'Color', 'Feed', 'Normal', 'Token', 'Webhooks'],
  fr: ['{n} message', '{n} messages', '{n} min', '{n} vote', '{n} votes', '30 minutes', 'Action', 'Administration', 'Code', 'Contact', 'Conversation', 'Description', 'Forum', 'Forum {n}', 'Forums', 'Mentions', 'Message', 'Messages', 'Messages {n}', 'Normal', 'Notifications', 'Option {n}', 'Pages', 'Position', 'Questions', 'Secret', 'Section', 'Solution', 'Suggestions', 'Tags', 'Votes', 'Webhooks'],
};

test('every file has every key', () => {
  const missing = OTHERS.flatMap((code) => {
    const texts = parse(code);
    return Object.keys(english).filter((key) => !(key in texts)).map((key) => `${key} is missing in Public/lang/${code}.json`);
  });
  assert.deepEqual(missing, []);
});

test('no file has a key that English does not have', () => {
  const left = OTHERS.flatMap((code) =>
    Object.keys(parse(code)).filter((key) => !(key in english)).map((key) => `${key} of Public/lang/${code}.json is not in en.json`));
  assert.deepEqual(left, []);
});

test('no file has a key twice', () => {
  const twice = CODES.flatMap((code) => {
    const keys = [...read(`Public/lang/${code}.json`).matchAll(/^ {2}("[^"]+"):/gm)].map(([, it]) => it);
    return keys.filter((key, at) => keys.indexOf(key) !== at).map((key) => `${key} stands twice in Public/lang/${code}.json`);
  });
  assert.deepEqual(twice, []);
});

test('each text has the parameters of the English one', () => {
  const wrong = OTHERS.flatMap((code) =>
    Object.entries(parse(code)).flatMap(([key, text]) => {
      const wanted = parameters(Object.values(forms(english[key] ?? '')).join(''));
      const found = Object.values(forms(text));
      // A form for one number may name it in words.
      const isRight = parameters(found.join('')) === wanted && found.every((it) => parameters(it).split(' ').every((one) => wanted.includes(one)));
      return isRight ? [] : [`${key} of Public/lang/${code}.json: ${parameters(found.join(''))} in place of ${wanted}`];
    }));
  assert.deepEqual(wrong, []);
});

test('each text with a number has the plural forms of its language', () => {
  const wrong = CODES.flatMap((code) => {
    const wanted = new Intl.PluralRules(code).resolvedOptions().pluralCategories.toSorted().join(' ');
    return Object.entries(parse(code)).flatMap(([key, text]) => {
      if ((typeof text === 'object') !== (typeof english[key] === 'object')) return [`${key} of Public/lang/${code}.json has plural forms, or English has`];
      const found = typeof text === 'object' ? Object.keys(text).sort().join(' ') : wanted;
      return found === wanted ? [] : [`${key} of Public/lang/${code}.json: ${found} in place of ${wanted}`];
    });
  });
  assert.deepEqual(wrong, []);
});

test('no text is left in English', () => {
  const left = OTHERS.flatMap((code) =>
    Object.entries(parse(code)).flatMap(([key, text]) => {
      const others = new Set(Object.values(forms(english[key] ?? '')));
      const same = Object.values(forms(text)).filter((it) => others.has(it) && !SHARED[code]?.includes(it));
      return same.length && !SAME.has(key) ? [`${key} of Public/lang/${code}.json is English: ${same[0]}`] : [];
    }));
  assert.deepEqual(left, []);
});

test('words that a language shares with English exist', () => {
  for (const [code, words] of Object.entries(SHARED)) {
    const found = new Set(Object.values(parse(code)).flatMap((text) => Object.values(forms(text))));
    assert.deepEqual(words.filter((it) => !found.has(it)), [], code);
  }
});

test('each language names its direction, its months and its units', () => {
  for (const code of CODES) {
    const texts = parse(code);
    assert.match(texts['language.direction'], /^(ltr|rtl)$/, code);
    assert.equal(texts['page.months'].split(' ').length, 12, code);
    assert.equal(texts['file.units'].split(' ').length, 5, code);
    assert.notEqual(new Intl.DisplayNames([code], { type: 'language' }).of(code), code, code);
  }
});
