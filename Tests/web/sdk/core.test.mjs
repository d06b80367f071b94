// Functions of the app that need no page: the caret inside code, whole lists, and rows of unsent messages.

import assert from 'node:assert/strict';
import test from 'node:test';

import { everyPage } from '../../../Public/js/app/core/everypage.js';
import { isInCode } from '../../../Public/js/app/core/text/incode.js';
import { Problem } from '../../../Public/js/parley/problem.js';
import { sayProblem } from '../../../Public/js/app/core/text/text.js';
import { unsentRow } from '../../../Public/js/app/state/unsent.js';

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

test('the message of a problem has the words of the server, also from another tab', () => {
  const said = { status: 413, code: 'too_large', title: 'The body is too large.', detail: 'At most 1000 bytes are accepted.' };
  const errors = [{ field: 'title', code: 'missing' }, { field: 'url', code: 'invalid' }];
  for (const [problem, message] of [
    [said, 'The body is too large. At most 1000 bytes are accepted. [too_large]'],
    [{ code: 'invalid', title: 'The request is not valid.', errors }, 'The request is not valid. [invalid, title missing, url invalid]'],
    [{ code: 'network', detail: 'no answer' }, 'no answer [network]'],
    [{ code: 'closed' }, '[closed]'],
  ]) {
    assert.equal(new Problem(problem).message, message);
    const copy = new Problem(structuredClone(new Problem(problem).toJSON()));
    assert.deepEqual([copy.message, copy.code], [message, problem.code]);
  }
});

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

test('the row of an unsent message shows the progress of its uploads', () => {
  const files = [{ id: 'f1', name: 'a.png', size: 4, file_id: '9' }, { id: 'f2', name: 'b.png', size: 4, file_id: null }, { id: 'f3', name: 'c.png', size: 4, file_id: null }];
  const send = { id: 'c1', kind: 'send', state: 'pending', reason: null, files };
  const row = unsentRow({ id: null, text: 'Hello' }, [send], (file) => (file === 'f2' ? 0.5 : 0));
  assert.deepEqual([row.id, row.operation, row.text, row.state, row.fault], ['w-c1', 'c1', 'Hello', 'waiting', undefined]);
  assert.deepEqual(row.uploads.map(({ progress }) => progress), [1, 0.5, 0]);
  assert.deepEqual(unsentRow({}, [send]).uploads.map(({ progress }) => progress), [1, 0, 0]);
});

test('the row of a refused message tells why, and that of a refused change still waits', () => {
  const send = { id: 'c1', kind: 'send', state: 'pending', reason: null, files: [] };
  const refused = { state: 'failed', reason: { code: 'network' } };
  const fault = sayProblem({ code: 'network' });
  const known = ({ state, fault: found }) => [state, found];
  assert.deepEqual(known(unsentRow({}, [{ ...send, ...refused }])), ['failed', fault]);
  assert.deepEqual(known(unsentRow({}, [send, { ...send, kind: 'edit', ...refused }])), ['waiting', fault]);
});
