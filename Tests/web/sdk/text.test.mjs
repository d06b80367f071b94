// Texts of the web app: names in sentences.

import assert from 'node:assert/strict';
import test from 'node:test';

import { isolate, say, sayWith, useText } from '../../../Public/js/app/core/text.js';

globalThis.Node = class {}; // a browser's

const OMAR = 'عمر الخيّام';
const isolated = `\u2068${OMAR}\u2069`;

test('a name in a right-to-left script keeps its place in a sentence', () => {
  useText({ wrote: '{name} wrote {n} lines at {time}' });
  assert.equal(say('wrote', { name: OMAR, n: 3, time: '03:09' }), `${isolated} wrote 3 lines at 03:09`);
  assert.deepEqual(sayWith('wrote', { name: OMAR, n: 3, time: '03:09' }), ['', isolated, ' wrote ', '3', ' lines at ', '03:09', '']);
});

test('other names stay as they are', () => {
  for (const name of ['Ada', 'Žofia', '小林', '', undefined]) assert.equal(isolate(name), name);
  for (const name of [OMAR, 'רחל', 'Ada (עדה)', '𞤀𞤣𞤤𞤢𞤥']) assert.equal(isolate(name), `\u2068${name}\u2069`);
});
