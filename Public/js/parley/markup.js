// Parses the Markdown of messages into a tree: the twin of the server's `Markup`, whose README has the rules. Every text is
// valid, and the time is linear in its length.

import { parseBlocks } from './markup/blocks.js';

export { buildNodes } from './markup/nodes.js';

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
 *   | { type: 'link', href: string, title: string | null, children: Node[] }
 *   | { type: 'picture', number: number, children: Node[] }} Node
 */
/** A picture is `![description](attachment:1)`; 1 is the first attachment of the message. */
/**
 * A mention, hashtag or link in a text. Positions count Unicode scalars of the text as sent.
 * @typedef {{ kind: 'mention' | 'hashtag' | 'link', pos: number, len: number, value: string }} Entity
 */
/** @typedef {{ children: Node[], entities: Entity[] }} Markup */

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
