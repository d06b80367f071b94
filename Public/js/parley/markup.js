// Parses the Markdown of messages into a tree: the twin of the server's `Markup`, whose README has the rules. Every text is
// valid, and the time is linear in its length.

import { parseBlocks } from './markup/blocks.js';

/**
 * @typedef {{ type: 'text' | 'code' | 'mention' | 'hashtag', text: string }
 *   | { type: 'break' | 'rule' }
 *   | { type: 'codeBlock', language: string, text: string }
 *   | { type: 'paragraph' | 'quote' | 'emphasis' | 'strong' | 'strike' | 'spoiler' | 'table', children: Node[] }
 *   | { type: 'heading', level: number, children: Node[] }
 *   | { type: 'list', start: number | null, loose: boolean, children: Node[] }
 *   | { type: 'item', task: 'open' | 'done' | null, children: Node[] }
 *   | { type: 'row', head: boolean, children: Node[] }
 *   | { type: 'cell', align: 'left' | 'right' | 'center' | null, children: Node[] }
 *   | { type: 'link', href: string, title: string | null, children: Node[] }} Node
 */
/**
 * A mention, hashtag or link in a text. Positions count Unicode scalars of the text as sent.
 * @typedef {{ kind: 'mention' | 'hashtag' | 'link', pos: number, len: number, value: string }} Entity
 */
/** @typedef {{ children: Node[], entities: Entity[] }} Markup */
/** @typedef {(node: Node, children: DocumentFragment) => globalThis.Node | undefined | null} Make */

/** @param {string} text @returns {Markup} */
export const parseMarkup = (text) => parseBlocks(text);

/**
 * Without marks, for lists and notifications: one line a line, spoilers covered. Over `limit` scalars it is cut between
 * two characters and ends in `…`, which counts.
 * @param {Markup} markup @param {number} [limit]
 */
export function plainText(markup, limit = Infinity) {
  const writer = new PlainText(limit);
  writer.all(markup.children);
  return cut(writer.out.replace(/[\n ]+$/, ''), limit);
}

class PlainText {
  /** @param {number} limit */
  constructor(limit) {
    this.out = '';
    this.limit = limit;
    this.scalars = 0;
    /**
     * The prefixes of the next line, one for each open quote and item. An item's marker is used once.
     * @type {string[]}
     */
    this.signs = [];
  }

  /** @param {Node[]} nodes */
  all(nodes) {
    for (const node of nodes) if (this.scalars <= this.limit) this.#write(node);
  }

  /** @param {Node} node */
  #write(node) {
    switch (node.type) {
      case 'text': case 'code': case 'mention': case 'hashtag': return this.#append(node.text);
      case 'break': return this.#beginLine();
      case 'rule': return undefined;
      case 'spoiler': return this.#append('[…]');
      case 'paragraph': case 'heading':
        this.#beginLine();
        return this.all(node.children);
      case 'codeBlock':
        for (const line of node.text.split('\n').filter((line) => line !== '')) {
          this.#beginLine();
          this.#append(line);
        }
        return undefined;
      case 'quote': return this.#inside('> ', node.children);
      case 'list':
        return this.#list(node.start, node.children);
      case 'row':
        this.#beginLine();
        return node.children.forEach((cell, number) => {
          if (number > 0) this.#append(' | ');
          if (cell.type === 'cell') this.all(cell.children);
        });
      default: return this.all(node.children);
    }
  }

  /** @param {number | null} start @param {Node[]} items */
  #list(start, items) {
    let number = start ?? 0;
    for (const item of items) {
      if (item.type !== 'item') continue;
      if (item.task !== null) this.#inside(item.task === 'open' ? '☐ ' : '☑ ', item.children);
      else this.#inside(start === null ? '• ' : `${number++}. `, item.children);
    }
  }

  /** @param {string} sign @param {Node[]} children */
  #inside(sign, children) {
    this.signs.push(sign);
    this.all(children);
    this.signs.pop();
  }

  #beginLine() {
    if (this.out) this.#append('\n');
    this.signs.forEach((sign, index) => {
      this.#append(sign);
      if (sign !== '> ') this.signs[index] = '';
    });
  }

  /** @param {string} text */
  #append(text) {
    this.out += text;
    this.scalars += scalarCount(text);
  }
}

/** @param {string} text */
const scalarCount = (text) => text.length - (text.match(/[\u{10000}-\u{10ffff}]/gu)?.length ?? 0);

/**
 * Splits a text into user-perceived characters, or scalars if the browser cannot.
 * @param {string} text
 */
const characters = (text) =>
  typeof Intl.Segmenter === 'function'
    ? Array.from(new Intl.Segmenter(undefined, { granularity: 'grapheme' }).segment(text), (part) => part.segment)
    : Array.from(text);

/** @param {string} text @param {number} limit */
function cut(text, limit) {
  if (limit <= 0) return '';
  if (scalarCount(text) <= limit) return text;
  let room = limit - 1;
  let kept = '';
  for (const character of characters(text)) {
    room -= scalarCount(character);
    if (room < 0) break;
    kept += character;
  }
  return `${kept.trimEnd()}…`;
}

/**
 * Builds DOM nodes of a tree. Text is set as `textContent` only, the elements are those of this file, and the parser has
 * checked addresses.
 *
 * `make` may return a node of its own for a mention, hashtag, link, spoiler or code block; its second argument has the
 * built children.
 * @param {Node[]} nodes
 * @param {{ document?: Document, make?: Make }} [options]
 * @returns {DocumentFragment}
 */
export function buildNodes(nodes, options = {}) {
  const { document = globalThis.document, make } = options;
  /** @param {Node[]} nodes @param {boolean} isTight */
  const fragment = (nodes, isTight) => {
    const made = document.createDocumentFragment();
    nodes.forEach((node, number) => {
      // Without `<p>`, as in a tight list, two blocks in a row still begin on lines of their own.
      const isBare = isTight && node.type === 'paragraph';
      if (isBare && number > 0) made.append(document.createElement('br'));
      const children = fragment(
        'children' in node ? node.children : [],
        node.type === 'list' ? !node.loose : node.type === 'item' && isTight,
      );
      made.append(make?.(node, children) ?? (isBare ? children : element(document, node, children)));
    });
    return made;
  };
  return fragment(nodes, false);
}

/** @type {Partial<Record<Node['type'], string>>} */
const tags = {
  paragraph: 'p', quote: 'blockquote', item: 'li', emphasis: 'em', strong: 'strong', strike: 'del', table: 'table',
  row: 'tr', code: 'code', break: 'br', rule: 'hr',
};

/** @param {Document} document @param {Node} node @param {DocumentFragment} children @returns {globalThis.Node} */
function element(document, node, children) {
  const make = (/** @type {string} */ tag, /** @type {Record<string, string>} */ attributes = {}) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if ('text' in node) made.textContent = node.text;
    made.append(children);
    return made;
  };
  switch (node.type) {
    case 'text': return document.createTextNode(node.text);
    case 'mention': case 'hashtag': case 'spoiler': return make('span', { class: node.type });
    case 'heading': return make(`h${node.level}`);
    case 'list':
      if (node.start === null) return make('ul');
      return make('ol', node.start === 1 ? {} : { start: String(node.start) });
    case 'item': {
      const item = make('li');
      if (node.task === null) return item;
      const box = document.createElement('input');
      box.type = 'checkbox';
      box.disabled = true;
      box.checked = node.task === 'done';
      item.prepend(box, ' ');
      return item;
    }
    case 'codeBlock': {
      const block = document.createElement('pre');
      block.append(make('code', node.language ? { class: `language-${node.language}` } : {}));
      return block;
    }
    case 'row': return make('tr');
    case 'cell': return make('td', node.align ? { class: `align-${node.align}` } : {});
    case 'link':
      return make('a', {
        href: node.href, rel: 'nofollow noopener noreferrer ugc', ...(node.title === null ? {} : { title: node.title }),
      });
    default: return make(tags[node.type] ?? 'span');
  }
}
