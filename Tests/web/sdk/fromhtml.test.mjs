// Pasted HTML as Markdown.

import assert from 'node:assert/strict';
import test from 'node:test';

import { markdownOf } from '../../../Public/js/app/core/text/fromhtml.js';

const rows = [
  ['bold and italic', '<p>a <b>bold</b> and <em>italic</em> word</p>', 'a **bold** and *italic* word'],
  ['spaces stand outside of the marks', 'a<b> bold </b>word', 'a **bold** word'],
  ['styles of an editor', '<b style="font-weight:normal"><span style="font-weight:700">bold</span> <span style="font-style:italic">it</span> <span style="text-decoration:line-through">no</span></b>', '**bold** *it* ~~no~~'],
  ['a link', 'see <a href="https://example.org/a_(b)">the page</a>', 'see [the page](https://example.org/a_%28b%29)'],
  ['a nested list', '<ul><li>one<ul><li>inner</li></ul></li><li>two</li></ul>', '- one\n  - inner\n- two'],
  ['a list beside the items', '<ul><li>one</li><ul><li>inner</li></ul><li>two</li></ul>', '- one\n  - inner\n- two'],
  ['a numbered list', '<ol start="3"><li><p>three</p></li><li><p>four</p></li></ol>', '3. three\n4. four'],
  ['items without end tags', '<ul><li>a<li>b</ul>', '- a\n- b'],
  ['tasks', '<ul><li><input type="checkbox" checked> done</li><li><input type="checkbox"> open</li></ul>', '- [x] done\n- [ ] open'],
  ['code', 'use <code>a `b` c</code>', 'use ``a `b` c``'],
  ['a block of code', '<pre><code class="language-js">if (a &lt; b) {\n  go();\n}\n</code></pre>', '```js\nif (a < b) {\n  go();\n}\n```'],
  ['code with fences', '<pre>```\nx\n```</pre>', '````\n```\nx\n```\n````'],
  ['a quote', '<blockquote><p>one</p><p>two</p></blockquote><p>after</p>', '> one\n>\n> two\n\nafter'],
  ['headings', '<h1>Title</h1><p>text</p><h3><b>Part</b></h3>', '# Title\n\ntext\n\n### Part'],
  ['a table', '<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1|2</td><td><b>x</b></td></tr></tbody></table>', '| a | b |\n| --- | --- |\n| 1\\|2 | **x** |'],
  ['cells of a spreadsheet', '<html><body><!--StartFragment--><table><col><tr><td>1</td><td></td></tr><tr><td>2</td></tr></table><!--EndFragment--></body></html>', '| 1 |  |\n| --- | --- |\n| 2 |  |'],
  ['lines and paragraphs', '<p>a<br>b</p><p><i>c</i></p>', 'a\nb\n\n*c*'],
  ['lines of an editor', '<div>a</div><div><b>b</b></div>', 'a\n**b**'],
  ['marks end with their line', '<b>a<br>b</b>', '**a**\n**b**'],
  ['signs of markup', '<p><b>x</b> 2*3*4 snake_case _a_ [b] `c` &lt;b> \\</p><p># no title</p><p>1. no list</p>', '**x** 2\\*3\\*4 snake_case \\_a\\_ \\[b\\] \\`c\\` \\<b> \\\\\n\n\\# no title\n\n1\\. no list'],
  ['a rule', '<p>a</p><hr><p>b</p>', 'a\n\n---\n\nb'],
];

for (const [name, html, markdown] of rows) {
  test(name, () => assert.equal(markdownOf(html), markdown));
}

test('HTML without formatting is no Markdown', () => {
  for (const html of [
    '', 'plain', '<p>one</p><p>two</p>', '<meta charset="utf-8"><span style="color: red">red</span>', '<img src="https://example.org/a.png">',
    '<table><tr><td>a cell</td></tr></table>', '<a href="https://example.org/">https://example.org</a>', '<div style="font-family: monospace">x = 1;</div>',
  ]) assert.equal(markdownOf(html), null, html);
});

test('scripts, styles and other addresses leave nothing', () => {
  const html = '<style>b{color:red}</style><script>alert("<b>1</b>")</script><b onclick="x()">a</b> <a href="javascript:alert(1)">b</a> <a href="data:text/html,x">c</a>' +
    '<svg><b>d</b></svg><iframe src="https://example.org"></iframe><a href="https://u:p@example.org">e</a><!-- <b>f</b> --><template><b>g</b></template>';
  assert.equal(markdownOf(html), '**a** b ce');
});

test('any HTML ends in Markdown without markup of its own', () => {
  const parts = ['<b>', '</b>', '<i>', '</p>', '<ul>', '<li>', '</ul>', '<table>', '<tr>', '<td>', '</table>', '<pre>', '</pre>', '<a href="https://a.example/">', '</a>', '<h2>', '</h2>', 'x', ' ', '<', '&amp;', '&#0;', '<!--', '-->', '<script>', '</script>', '<br>'];
  let seed = 7;
  const next = (n) => (seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648) % n;
  for (let round = 0; round < 2_000; round++) {
    const html = Array.from({ length: 1 + next(40) }, () => parts[next(parts.length)]).join('');
    const found = markdownOf(html);
    assert.ok(found === null || typeof found === 'string', html);
  }
  assert.equal(markdownOf(`<b>a</b>${'<div><i>'.repeat(30_000)}<b>x</b>`), '**a**\nx');
  assert.equal(markdownOf(`<b>x</b>${' '.repeat(1_000_000)}`), null);
});

test('HTML made to be read slowly is read to its end', () => {
  const slow = [
    `<${'a'.repeat(290_000)}`, '<a '.repeat(90_000), '<!--StartFragment-->'.repeat(14_000), `<b>x${'<br>'.repeat(70_000)}x</b>`,
    `<pre>${' \n'.repeat(100_000)}x</pre>`, `<b>${'&nbsp;'.repeat(49_000)}x</b>`, `<pre>${'` '.repeat(140_000)}</pre>`,
    `<i style="${'text-decoration'.repeat(18_000)}">x</i>`,
  ];
  for (const html of slow) assert.equal(typeof markdownOf(html) === 'string', html.endsWith('>') && html.includes('</'), html.slice(0, 30));
});
