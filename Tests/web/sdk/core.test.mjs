// Functions of the app that need no page: the caret inside code, and whole lists.

import assert from 'node:assert/strict';
import test from 'node:test';

import { everyPage } from '../../../Public/js/app/core/everypage.js';
import { isInCode } from '../../../Public/js/app/core/text/incode.js';

/** Texts with the caret at `|`. */
const CODE = [
  '`:smi|`', 'see `a :smi|` here', '`:smi|', 'a `:smi|', '``a ` :smi|``', '```\n:smi|\n```', '```js\na\n\nb :smi|', '~~~\n```\n:smi|',
  'it`s :smi| `', '(`:smi|', 'a `b` `c :smi|',
];
const WORDS = [
  ':smi|', '`a` :smi|', 'see `a` and `b` :smi|', 'it`s :smi|', '`a\n\n:smi|', '```\na\n```\n:smi|', '``a`` :smi|', ':smi| `a`',
  '~~~\na\n~~~\n:smi|', '```a``` :smi|',
];

for (const [texts, expected] of [[CODE, true], [WORDS, false]]) {
  test(`the caret is ${expected ? '' : 'not '}in code`, () => {
    for (const text of texts) assert.equal(isInCode(text.replace('|', ''), text.indexOf('|')), expected, JSON.stringify(text));
  });
}

test('a list is read page by page', async () => {
  const pages = { start: { data: [1, 2], next: 'b' }, b: { data: [], next: 'c' }, c: { data: [3], next: null } };
  const asked = [];
  const all = await everyPage(async (next) => {
    asked.push(next);
    return pages[next ?? 'start'];
  });
  assert.deepEqual(all, [1, 2, 3]);
  assert.deepEqual(asked, [undefined, 'b', 'c']);
});
