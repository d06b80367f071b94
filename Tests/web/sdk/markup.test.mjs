// Checks the JavaScript parser with the cases of the server's parser. The HTML is written here, since the library
// builds nodes instead.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';

import { buildNodes, parseMarkup, plainText } from '../../../Public/js/parley/markup.js';

const cases = JSON.parse(readFileSync(new URL('../../Contract/markup.json', import.meta.url), 'utf8'));

test('all cases of the server are read', () => assert.ok(cases.length >= 150));

for (const { name, text, limit, pictures, html, entities, plain } of cases) {
  test(`markup: ${name}`, () => {
    const markup = parseMarkup(text);
    assert.equal(writeHTML(markup.children, pictures), html);
    assert.deepEqual(markup.entities, entities);
    assert.equal(plainText(markup, limit ?? Infinity), plain);
  });
}

test('hostile texts take linear time', () => {
  for (const piece of ['*a ', '[a](', '[', '`a``', '||a', '> ', '- ', '<a@', '&#1', 'a@', '![](', '![a](attachment:1', '![](attachment:1)', '_a*', '|-|\n|', '\\|`']) {
    // CPU time in microseconds, independent of other load.
    const before = process.cpuUsage();
    parseMarkup(piece.repeat(16_000 / piece.length));
    const { user, system } = process.cpuUsage(before);
    assert.ok(user + system < 2_000_000, `${JSON.stringify(piece)} took ${user + system} µs`);
  }
});

test('no text breaks the parser, and text never becomes an element', () => {
  const pieces = ['*', '_', '~~', '||', '`', '[', '](', ')', '<', '>', '!', '#', '@a', 'http://a.b', '\n', '\n\n', '- ', '1. ', '| ', '\t', ' ', '\\',
    '&amp;', '<script>', 'é', '語', '\u{1f331}', '\ud800', '```', '---', '[x] ', 'javascript:', '"', "'", '](attachment:1)'];
  let seed = 7;
  const random = (below) => (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let round = 0; round < 3000; round++) {
    const text = Array.from({ length: random(40) }, () => pieces[random(pieces.length)]).join('');
    const markup = parseMarkup(text);
    const html = writeHTML(markup.children);
    assert.ok(!html.includes('<script'), text);
    for (const href of html.matchAll(/href="([^"]*)"/g)) assert.match(href[1], /^(https?:\/\/|mailto:)/i);
    for (const { pos, len } of markup.entities) assert.ok(pos >= 0 && len > 0 && pos + len <= Array.from(text).length);
  }
});

test('nodes are built from text only', () => {
  const made = buildNodes(parseMarkup('**<b>** [a](https://example.org "t") @ada\n- one\n- [x] two').children, { document: new Paper() });
  assert.equal(
    made.write(),
    '<p><strong>&lt;b&gt;</strong> <a href="https://example.org" rel="nofollow noopener noreferrer ugc" title="t">a</a> ' +
      '<span class="mention">@ada</span></p><ul><li>one</li><li><input type="checkbox" checked disabled> two</li></ul>',
  );
});

test('a picture that the app does not build is text', () => {
  const text = '![a *bed*](attachment:2)';
  assert.equal(buildNodes(parseMarkup(text).children, { document: new Paper() }).write(), '<p>![a <em>bed</em>](attachment:2)</p>');
});

test('an app can build some nodes itself', () => {
  const paper = new Paper();
  const make = (node, children) => {
    if (node.type !== 'spoiler') return undefined;
    const button = paper.createElement('button');
    button.append(children);
    return button;
  };
  assert.equal(buildNodes(parseMarkup('||a *b*||').children, { document: paper, make }).write(), '<p><button>a <em>b</em></button></p>');
});

/** The part of a document that the builder needs. */
class Paper {
  createDocumentFragment() { return new Element(null); }
  createElement(tag) { return new Element(tag); }
  createTextNode(text) { return new Element(null, text); }
}

class Element {
  constructor(tag, text) {
    this.tag = tag;
    this.nodes = text === undefined ? [] : [text];
    this.attributes = [];
  }

  setAttribute(name, value) { this.attributes.push(`${name}="${value}"`); }
  set textContent(text) { this.nodes = [text]; }
  append(...nodes) { this.nodes.push(...nodes); }
  prepend(...nodes) { this.nodes.unshift(...nodes); }

  write() {
    const inner = this.nodes.map((node) => (typeof node === 'string' ? escape(node) : node.write())).join('');
    if (!this.tag) return inner;
    if (this.tag === 'input') return `<input type="${this.type}"${this.checked ? ' checked' : ''}${this.disabled ? ' disabled' : ''}>`;
    return `<${[this.tag, ...this.attributes].join(' ')}>${inner}</${this.tag}>`;
  }
}

const escape = (text) =>
  text.replace(/[&<>"']/g, (sign) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' })[sign])
    .replace(/[\0-\x08\x0b-\x1f\x7f]/g, '\ufffd');

/** The description of a picture, which has text alone. */
const alt = (nodes) => nodes.map((it) => (it.type === 'break' ? ' ' : 'children' in it ? alt(it.children) : it.text)).join('');

function writeHTML(nodes, pictures = []) {
  let out = '';
  const block = (tag) => {
    if (out && !out.endsWith('\n')) out += '\n';
    out += tag;
  };
  const all = (nodes, isTight) => nodes.forEach((node) => write(node, isTight));
  const inline = (before, node, after) => {
    out += before;
    all(node.children, false);
    out += after;
  };
  const write = (node, isTight) => {
    switch (node.type) {
      case 'text': out += escape(node.text); break;
      case 'code': out += `<code>${escape(node.text)}</code>`; break;
      case 'mention': case 'hashtag': out += `<span class="${node.type}">${escape(node.text)}</span>`; break;
      case 'break': out += '<br />\n'; break;
      case 'rule': block('<hr />\n'); break;
      case 'emphasis': inline('<em>', node, '</em>'); break;
      case 'strong': inline('<strong>', node, '</strong>'); break;
      case 'strike': inline('<del>', node, '</del>'); break;
      case 'spoiler': inline('<span class="spoiler">', node, '</span>'); break;
      case 'link': {
        const title = node.title === null ? '' : ` title="${escape(node.title)}"`;
        inline(`<a href="${escape(node.href)}"${title} rel="nofollow noopener noreferrer ugc">`, node, '</a>');
        break;
      }
      case 'picture': {
        const address = pictures[node.number - 1];
        if (address) out += `<img src="${escape(address)}" alt="${escape(alt(node.children))}" />`;
        else inline('![', node, `](attachment:${node.number})`);
        break;
      }
      case 'paragraph':
        if (!isTight) block('<p>');
        all(node.children);
        if (!isTight) out += '</p>\n';
        break;
      case 'heading':
        block(`<h${node.level}>`);
        all(node.children);
        out += `</h${node.level}>\n`;
        break;
      case 'quote':
        block('<blockquote>\n');
        all(node.children, false);
        block('</blockquote>\n');
        break;
      case 'list': {
        const tag = node.start === null ? 'ul' : 'ol';
        block(`<${tag}${node.start === null || node.start === 1 ? '' : ` start="${node.start}"`}>\n`);
        all(node.children, !node.loose);
        out += `</${tag}>\n`;
        break;
      }
      case 'item':
        out += '<li>';
        if (node.task) out += `<input type="checkbox" ${node.task === 'done' ? 'checked="" ' : ''}disabled="" /> `;
        all(node.children, isTight);
        out += '</li>\n';
        break;
      case 'codeBlock':
        block(`<pre><code${node.language ? ` class="language-${node.language}"` : ''}>${escape(node.text)}</code></pre>\n`);
        break;
      case 'table':
        block('<table>\n');
        node.children.forEach((row, number) => {
          const cell = row.head ? 'th' : 'td';
          out += row.head ? '<thead>\n' : number === 1 ? '<tbody>\n' : '';
          out += '<tr>\n';
          for (const { align, children } of row.children) {
            out += `<${cell}${align ? ` align="${align}"` : ''}>`;
            all(children);
            out += `</${cell}>\n`;
          }
          out += row.head ? '</tr>\n</thead>\n' : '</tr>\n';
        });
        out += node.children.length > 1 ? '</tbody>\n</table>\n' : '</table>\n';
        break;
      default: throw new Error(`an unknown node: ${node.type}`);
    }
  };
  all(nodes, false);
  return out;
}
