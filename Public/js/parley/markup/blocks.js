// Reads a text line by line, as CommonMark does, with one difference that makes it simpler: a line belongs to a quote
// or an item only when its own marks or its indentation say so ("no laziness"). Each line is taken in three steps:
//
// 1. The open containers take their marks from its start. Those that find none are closed with all they hold.
// 2. The rest may open containers and ends as a leaf: a heading, a fence, a rule, a table.
// 3. The rest is text of the open paragraph, or of a new one.
//
// The text of leaves goes to `content`, without marks and indentation; `lines` remembers where it came from.

import { parseInlines } from './inlines.js';
import { WORD, asciiKind, code, decode, encode, isBlank, isDigit, limits } from './scalars.js';

/** @typedef {import('../markup.js').Node} Node */
/** @typedef {import('../markup.js').Entity} Entity */
/** @typedef {import('./inlines.js').Found} Found */
/** @typedef {{ kind: 'none' }} NoLeaf */
/** @typedef {{ kind: 'paragraph', start: number, lastLine: number }} Paragraph */
/** @typedef {{ kind: 'code', fence: Fence, language: string, start: number }} Code */
/** @typedef {{ kind: 'table', alignments: Alignment[], rows: Node[], hasBody: boolean }} Table */
/** @typedef {'left' | 'right' | 'center' | null} Alignment */
/** @typedef {{ mark: number, length: number, indent: number, language: string }} Fence */
/**
 * @typedef {object} Container
 * @property {'quote' | 'list' | 'item'} kind
 * @property {any} node
 * @property {number} marker A list's bullet, or the delimiter of its numbers.
 * @property {number} width How far an item's text is indented.
 * @property {boolean} isEmpty
 */

/** @param {string} text @returns {{ children: Node[], entities: Entity[] }} */
export function parseBlocks(text) {
  const parser = new BlockParser(encode(text));
  parser.parse();
  return { children: parser.root, entities: parser.entities() };
}

/** A position in a line, in bytes and in columns. A tab extends to the next multiple of four columns. */
class LineCursor {
  /** @param {Uint8Array} source @param {number} start @param {number} end */
  constructor(source, start, end) {
    this.source = source;
    this.position = start;
    this.end = end;
    this.column = 0;
    /** Columns that are left of a tab that is used up in part. */
    this.tabRest = 0;
    /** The first byte that is no space or tab; the line's end if it is blank. */
    this.text = start;
    this.textColumn = 0;
    this.#findText();
  }

  get isBlank() {
    return this.text === this.end;
  }

  get indent() {
    return this.textColumn - this.column;
  }

  #findText() {
    this.text = this.position;
    this.textColumn = this.column;
    for (; this.text < this.end && isBlank(this.source[this.text]); this.text++) {
      this.textColumn += this.source[this.text] === 0x09 ? 4 - (this.textColumn % 4) : 1;
    }
  }

  /**
   * Goes `count` columns of space on.
   * @param {number} count
   */
  skipColumns(count) {
    const goal = Math.min(this.column + count, this.textColumn);
    while (this.column < goal) {
      const width = this.source[this.position] === 0x09 ? 4 - (this.column % 4) : 1;
      this.tabRest = Math.max(0, this.column + width - goal);
      this.column = Math.min(this.column + width, goal);
      if (this.tabRest === 0) this.position++;
    }
  }

  /**
   * Goes behind `count` bytes of the text, which are no tabs.
   * @param {number} count
   */
  skipMarks(count) {
    this.position = this.text + count;
    this.column = this.textColumn + count;
    this.tabRest = 0;
    this.#findText();
  }
}

class BlockParser {
  /** @param {Uint8Array} source */
  constructor(source) {
    this.source = source;
    // A line of code gains its line end, and three columns of a tab at most.
    this.content = new Uint8Array(2 * source.length + 8);
    this.length = 0;
    /** @type {{ content: number, source: number }[]} */
    this.lines = [];
    /** @type {Found[]} */
    this.found = [];
    /** @type {Node[]} */
    this.root = [];
    /** @type {Container[]} */
    this.containers = [];
    this.depth = 0;
    /** @type {NoLeaf | Paragraph | Code | Table} */
    this.leaf = { kind: 'none' };
    /** Whether the previous line was blank, outside of quotes: the next block may make a list loose. */
    this.isAfterBlank = false;
  }

  parse() {
    const { source } = this;
    let start = 0;
    while (start < source.length) {
      let end = start;
      while (end < source.length && source[end] !== 0x0a && source[end] !== 0x0d) end++;
      this.#read(new LineCursor(source, start, end));
      start = end + (source[end] === 0x0d && source[end + 1] === 0x0a ? 2 : 1);
    }
    this.#closeLeaf();
    this.#closeContainers(0);
  }

  /**
   * In the order of the text, with positions in scalars of the text as it was sent.
   * @returns {Entity[]}
   */
  entities() {
    let line = 0;
    let position = 0;
    let scalars = 0;
    const sourcePlace = (/** @type {number} */ content) => {
      while (line + 1 < this.lines.length && this.lines[line + 1].content <= content) line++;
      return this.lines[line].source + content - this.lines[line].content;
    };
    const scalarsBefore = (/** @type {number} */ end) => {
      for (; position < end; position++) if ((this.source[position] & 0xc0) !== 0x80) scalars++;
      return scalars;
    };
    return this.found.map(({ kind, start, end, value }) => {
      const pos = scalarsBefore(sourcePlace(start));
      return { kind, pos, len: scalarsBefore(sourcePlace(end - 1) + 1) - pos, value };
    });
  }

  /** @param {LineCursor} line */
  #read(line) {
    const matched = this.#matchContainers(line);
    if (matched < this.containers.length) this.#closeLeaf();
    const isInQuote = matched > 0 && this.containers[matched - 1].kind === 'quote';
    this.#closeContainers(matched);
    if (this.leaf.kind === 'code') {
      this.#readCode(line, this.leaf.fence);
    } else if (line.isBlank) {
      this.#closeLeaf();
      this.isAfterBlank = !isInQuote;
    } else {
      this.#openBlocks(line);
      this.isAfterBlank = false;
    }
  }

  /**
   * Returns the number of containers that continue. A list continues until a line that is no item of it.
   * @param {LineCursor} line
   */
  #matchContainers(line) {
    for (const [number, container] of this.containers.entries()) {
      if (container.kind === 'quote') {
        if (line.isBlank || line.indent >= 4 || this.source[line.text] !== code('>')) return number;
        skipQuoteMark(line);
      } else if (container.kind === 'item') {
        if (line.isBlank ? container.isEmpty : line.indent < container.width) return number;
        line.skipColumns(container.width);
      }
    }
    return this.containers.length;
  }

  /** @param {LineCursor} line */
  #openBlocks(line) {
    while (!line.isBlank && line.indent < 4) {
      if (this.#openTable(line) || this.#readHeading(line) || this.#openFence(line) || this.#readRule(line)) return;
      if (!this.#openQuote(line) && !this.#openItem(line)) break;
    }
    if (!line.isBlank) this.#readText(line);
  }

  /** @param {LineCursor} line */
  #readText(line) {
    const { leaf } = this;
    if (leaf.kind === 'table' && this.source.subarray(line.text, line.end).includes(code('|'))) {
      const start = this.length;
      this.#append(line.text, line.end);
      leaf.hasBody = true;
      leaf.rows.push(this.#row(start, this.length, leaf.alignments, false));
      return;
    }
    if (leaf.kind === 'paragraph') {
      this.content[this.length++] = 0x0a;
      leaf.lastLine = this.length;
    } else {
      this.#beginBlock();
      this.leaf = { kind: 'paragraph', start: this.length, lastLine: this.length };
    }
    this.#append(line.text, line.end);
  }

  /**
   * Puts text of the source into the content, which remembers where it came from.
   * @param {number} start @param {number} end
   */
  #append(start, end) {
    this.lines.push({ content: this.length, source: start });
    this.content.set(this.source.subarray(start, end), this.length);
    this.length += end - start;
  }

  // Opening and closing.

  /** @returns {Node[]} Where a new block goes. */
  get #siblings() {
    return this.containers[this.containers.length - 1]?.node.children ?? this.root;
  }

  /** Opens a new block at the current position. */
  #beginBlock() {
    this.#closeLeaf();
    if (this.containers[this.containers.length - 1]?.kind === 'list') {
      this.#closeContainers(this.containers.length - 1);
    }
    this.#fillParent();
  }

  /** The innermost container has a new child. A blank line between two children makes a list loose. */
  #fillParent() {
    const last = this.containers.length - 1;
    const parent = this.containers[last];
    if (!parent) return;
    if (this.isAfterBlank && !parent.isEmpty) {
      if (parent.kind === 'list') parent.node.loose = true;
      if (parent.kind === 'item') this.containers[last - 1].node.loose = true;
    }
    parent.isEmpty = false;
  }

  /** @param {'quote' | 'list' | 'item'} kind @param {Node} node @param {number} marker @param {number} width */
  #open(kind, node, marker = 0, width = 0) {
    this.#siblings.push(node);
    this.containers.push({ kind, node, marker, width, isEmpty: true });
    if (kind !== 'list') this.depth++;
  }

  /** @param {number} count */
  #closeContainers(count) {
    while (this.containers.length > count) if (this.containers.pop()?.kind !== 'list') this.depth--;
  }

  #closeLeaf() {
    const { leaf } = this;
    if (leaf.kind === 'paragraph') this.#writeParagraph(leaf.start, this.length);
    if (leaf.kind === 'code') {
      const text = decode(this.content, leaf.start, this.length);
      this.#siblings.push({ type: 'codeBlock', language: leaf.language, text });
    }
    this.leaf = { kind: 'none' };
  }

  /** @param {number} start @param {number} end */
  #writeParagraph(start, end) {
    const textStart = start + this.#takeTask(start, end);
    this.#siblings.push({ type: 'paragraph', children: this.#inlines(textStart, end, false) });
  }

  /**
   * `[ ] ` or `[x] ` at the start of an item makes it a task. Returns how many bytes that takes.
   * @param {number} start @param {number} end
   */
  #takeTask(start, end) {
    const item = this.containers[this.containers.length - 1];
    if (item?.kind !== 'item' || item.node.children.length > 0 || end - start <= 4) return 0;
    const mark = /^\[([ xX])\][ \t]/.exec(decode(this.content, start, start + 4));
    if (!mark) return 0;
    item.node.task = mark[1] === ' ' ? 'open' : 'done';
    return 4;
  }

  /** @param {number} start @param {number} end @param {boolean} isCell */
  #inlines(start, end, isCell) {
    return parseInlines(this.content, start, end, isCell, this.found);
  }

  // Quotes and lists.

  /** @param {LineCursor} line */
  #openQuote(line) {
    if (this.source[line.text] !== code('>') || this.depth >= limits.containers) return false;
    this.#beginBlock();
    skipQuoteMark(line);
    this.#open('quote', { type: 'quote', children: [] });
    return true;
  }

  /** @param {LineCursor} line */
  #openItem(line) {
    const marker = this.depth < limits.containers ? readMarker(this.source, line.text, line.end) : null;
    if (!marker) return false;
    // CommonMark 0.31 §5.2: only an item with text, and if numbered with the number 1, may end a paragraph.
    if (this.leaf.kind === 'paragraph' && !marker.mayEndParagraph) return false;
    this.#closeLeaf();
    const last = this.containers[this.containers.length - 1];
    if (last?.kind !== 'list' || last.marker !== marker.kind) {
      this.#beginBlock();
      this.#open('list', { type: 'list', start: marker.number, loose: false, children: [] }, marker.kind);
    }
    this.#fillParent();
    const width = takeMarker(marker.length, line);
    this.#open('item', { type: 'item', task: null, children: [] }, 0, width);
    return true;
  }

  // Headings, rules, fences.

  /** @param {LineCursor} line */
  #readHeading(line) {
    const heading = readHeading(this.source, line.text, line.end);
    if (!heading) return false;
    this.#beginBlock();
    const start = this.length;
    this.#append(heading.start, heading.end);
    const children = this.#inlines(start, this.length, false);
    this.#siblings.push({ type: 'heading', level: heading.level, children });
    return true;
  }

  // CommonMark 0.31 §4.1: three or more `*`, `-` or `_`, and only spaces otherwise.
  /** @param {LineCursor} line */
  #readRule(line) {
    const mark = this.source[line.text];
    if (mark !== code('*') && mark !== code('-') && mark !== code('_')) return false;
    const text = this.source.subarray(line.text, line.end);
    if (!text.every((byte) => byte === mark || isBlank(byte))) return false;
    if (text.filter((byte) => byte === mark).length < 3) return false;
    this.#beginBlock();
    this.#siblings.push({ type: 'rule' });
    return true;
  }

  /** @param {LineCursor} line */
  #openFence(line) {
    const fence = readFence(this.source, line.text, line.end, line.indent);
    if (!fence) return false;
    this.#beginBlock();
    this.leaf = { kind: 'code', fence, language: fence.language, start: this.length };
    return true;
  }

  /** @param {LineCursor} line @param {Fence} fence */
  #readCode(line, fence) {
    this.isAfterBlank = false;
    if (line.indent < 4 && closesFence(this.source, line.text, line.end, fence)) return this.#closeLeaf();
    line.skipColumns(fence.indent);
    for (let left = line.tabRest; left > 0; left--) this.content[this.length++] = 0x20;
    const start = line.tabRest > 0 ? line.position + 1 : line.position;
    this.content.set(this.source.subarray(start, line.end), this.length);
    this.length += line.end - start;
    this.content[this.length++] = 0x0a;
    return undefined;
  }

  // Tables.

  /**
   * A delimiter row makes the line before it the head of a table, when both have as many cells.
   * @param {LineCursor} line
   */
  #openTable(line) {
    const { leaf } = this;
    if (leaf.kind !== 'paragraph') return false;
    const alignments = readColumns(this.source, line.text, line.end);
    if (!alignments) return false;
    const end = this.length;
    if (readCells(this.content, leaf.lastLine, end).length !== alignments.length) return false;
    this.leaf = { kind: 'none' };
    if (leaf.start < leaf.lastLine) this.#writeParagraph(leaf.start, leaf.lastLine - 1);
    /** @type {Node[]} */
    const rows = [];
    this.#siblings.push({ type: 'table', children: rows });
    rows.push(this.#row(leaf.lastLine, end, alignments, true));
    this.leaf = { kind: 'table', alignments, rows, hasBody: false };
    return true;
  }

  /**
   * @param {number} start
   * @param {number} end
   * @param {Alignment[]} alignments
   * @param {boolean} isHead
   * @returns {Node}
   */
  #row(start, end, alignments, isHead) {
    const children = readCells(this.content, start, end).map(
      (cell, number) =>
        /** @type {Node} */ ({
          type: 'cell', align: alignments[number] ?? null, children: this.#inlines(cell.start, cell.end, true),
        }),
    );
    return { type: 'row', head: isHead, children };
  }
}

/** @param {LineCursor} line */
function skipQuoteMark(line) {
  line.skipMarks(1);
  line.skipColumns(1);
}

/**
 * Goes behind the marker and its space. Returns how far the item's text is indented.
 * @param {number} length @param {LineCursor} line
 */
function takeMarker(length, line) {
  const { indent } = line;
  line.skipMarks(length);
  const space = line.isBlank || line.indent > 4 ? 1 : line.indent;
  line.skipColumns(space);
  return indent + length + space;
}

// CommonMark 0.31 §5.2: `-`, `+`, `*`, or up to nine digits and `.` or `)`, and then space.
/** @param {Uint8Array} source @param {number} start @param {number} end */
function readMarker(source, start, end) {
  let position = start;
  let digits = 0;
  while (position < end && position - start < 9 && isDigit(source[position])) digits = digits * 10 + source[position++] - 0x30;
  if (position >= end) return null;
  const kind = source[position];
  const isNumber = kind === code('.') || kind === code(')');
  const isBullet = kind === code('-') || kind === code('+') || kind === code('*');
  if (isNumber ? position === start : !isBullet || position > start) return null;
  const number = isNumber ? digits : null;
  position++;
  if (position < end && !isBlank(source[position])) return null;
  const length = position - start;
  while (position < end && isBlank(source[position])) position++;
  return { kind, number, length, mayEndParagraph: position < end && (number ?? 1) === 1 };
}

// CommonMark 0.31 §4.2: one to six `#`, space, the text, and perhaps a closing run of `#`.
/** @param {Uint8Array} source @param {number} from @param {number} to */
function readHeading(source, from, to) {
  let start = from;
  while (start < to && source[start] === code('#')) start++;
  const level = start - from;
  if (level < 1 || level > 6 || (start < to && !isBlank(source[start]))) return null;
  let end = to;
  while (end > start && isBlank(source[end - 1])) end--;
  let closing = end;
  while (closing > start && source[closing - 1] === code('#')) closing--;
  if (closing === start || isBlank(source[closing - 1])) end = closing;
  return { level, start, end };
}

// CommonMark 0.31 §4.5: three or more backticks or tildes, and the language.
/**
 * @param {Uint8Array} source
 * @param {number} start
 * @param {number} end
 * @param {number} indent
 * @returns {Fence | null}
 */
function readFence(source, start, end, indent) {
  const mark = source[start];
  if (mark !== code('`') && mark !== code('~')) return null;
  let position = start;
  while (position < end && source[position] === mark) position++;
  const length = position - start;
  if (length < 3 || (mark === code('`') && source.subarray(position, end).includes(mark))) return null;
  while (position < end && isBlank(source[position])) position++;
  let stop = position;
  while (stop < end && mayStandInLanguage(source[stop])) stop++;
  const isWord = (stop === end || isBlank(source[stop])) && stop - position <= limits.language;
  return { mark, length, indent, language: isWord ? decode(source, position, stop) : '' };
}

/** @param {number} byte */
const mayStandInLanguage = (byte) => asciiKind(byte) === WORD || '#+-._'.includes(String.fromCharCode(byte));

/** @param {Uint8Array} source @param {number} start @param {number} end @param {Fence} fence */
function closesFence(source, start, end, fence) {
  let position = start;
  while (position < end && source[position] === fence.mark) position++;
  if (position - start < fence.length) return false;
  while (position < end && isBlank(source[position])) position++;
  return position === end;
}

/**
 * The row of `---|:-:` that makes a table. It has a `|` somewhere.
 * @param {Uint8Array} source @param {number} start @param {number} end
 * @returns {Alignment[] | null}
 */
function readColumns(source, start, end) {
  if (!/^[-:| \t]*\|[-:| \t]*$/.test(decode(source, start, end))) return null;
  /** @type {Alignment[]} */
  const alignments = [];
  for (const cell of readCells(source, start, end)) {
    const mark = /^(:?)-+(:?)$/.exec(decode(source, cell.start, cell.end));
    if (!mark) return null;
    alignments.push(mark[1] ? (mark[2] ? 'center' : 'left') : mark[2] ? 'right' : null);
  }
  return alignments;
}

/**
 * The cells of a row, without the space around them. `\|` stands in a cell.
 * @param {Uint8Array} text @param {number} from @param {number} to
 */
function readCells(text, from, to) {
  const cells = [];
  const row = trimmed(text, from, to);
  let start = row.start;
  if (start < row.end && text[start] === code('|')) start++;
  for (let position = start; position < row.end; position += text[position] === code('\\') ? 2 : 1) {
    if (text[position] !== code('|')) continue;
    cells.push(trimmed(text, start, position));
    start = position + 1;
  }
  if (start < row.end) cells.push(trimmed(text, start, row.end));
  return cells;
}

/** @param {Uint8Array} text @param {number} start @param {number} end */
function trimmed(text, start, end) {
  while (start < end && isBlank(text[start])) start++;
  while (start < end && isBlank(text[end - 1])) end--;
  return { start, end };
}
