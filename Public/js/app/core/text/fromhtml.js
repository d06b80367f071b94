// Pasted HTML as Markdown. The HTML is read as text: no element is made of it, so nothing of it is loaded or run.
//
// `parse` makes a tree of the tags, and `blocksOf` and `inlineOf` write it. Only what Markdown can say is left: no style, no script.

/** Longer HTML is pasted as plain text, in characters. */
const MAX = 300_000;
/** Browsers mark the copied part. */
const [START, END] = ['<!--StartFragment-->', '<!--EndFragment-->'];
/** Elements deeper than this are taken for their content. */
const MAX_DEPTH = 60;
/** The part of a style that counts, in characters. */
const MAX_STYLE = 1_000;

const TOKEN = /<!--[\s\S]*?(?:-->|$)|<(\/?)([a-zA-Z][\w:-]*)(?![\w:-])((?:"[^"]*"|'[^']*'|[^<>"'])*)>|[^<]+|</g;
const ATTRIBUTE = /([\w:-]+)\s*(?:=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/g;
const NAMED = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

const words = (text) => new Set(text.split(' '));
const EMPTY = words('area base br col embed hr img input link meta param source track wbr');
const DROPPED = words('head script style title template noscript svg math object iframe textarea select audio video canvas');
/** Text of these elements is no markup: it ends at their own end tag. */
const RAW = words('script style title textarea');
const BLOCKS = words('address article aside blockquote body center dd details dialog div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hr html li main nav ol p pre section summary table tbody td tfoot th thead tr ul caption');
const CODE = words('code kbd samp tt var');
/** The elements that a start tag closes, and where the search for them ends. */
const CLOSES = { li: ['li', 'ul ol'], td: ['td th', 'tr table'], th: ['td th', 'tr table'], tr: ['tr', 'table'], dt: ['dt dd', 'dl'], dd: ['dt dd', 'dl'] };

/** The Markdown of HTML; null without any formatting that Markdown has. @param {string} html */
export function markdownOf(html) {
  if (html.length > MAX) return null;
  const [start, end] = [html.indexOf(START), html.lastIndexOf(END)];
  const part = start >= 0 && end > start ? html.slice(start + START.length, end) : html;
  // `found` is shared by the states of all elements.
  const found = { isRich: false };
  const text = blocksOf(parse(part), { found }).trim().replace(/\n{3,}/g, '\n\n');
  return found.isRich && text ? text : null;
}

// MARK: The tree

function parse(html) {
  const root = { name: 'body', attributes: {}, children: [] };
  const open = [root];
  const close = (names, until) => {
    for (let at = open.length - 1; at > 0 && !until?.has(open[at].name); at--) {
      if (names.has(open[at].name)) return void (open.length = at);
    }
  };
  let raw = null;
  for (const [token, slash, tag, rest] of html.matchAll(TOKEN)) {
    const name = tag?.toLowerCase();
    if (raw) {
      if (!slash || name !== raw) continue;
      raw = null;
    }
    if (token.startsWith('<!--')) continue;
    if (!name) open.at(-1).children.push(decode(token));
    else if (slash) close(new Set([name]));
    else {
      const [closed, until] = CLOSES[name] ?? (BLOCKS.has(name) ? ['p', 'td th li blockquote'] : []);
      if (closed) close(words(closed), words(until));
      const node = { name, attributes: attributesOf(rest), children: [] };
      if (!DROPPED.has(name)) open.at(-1).children.push(node);
      if (RAW.has(name)) raw = name;
      else if (!EMPTY.has(name) && !rest.endsWith('/') && open.length < MAX_DEPTH) open.push(node);
    }
  }
  return root;
}

const attributesOf = (text) =>
  Object.fromEntries([...text.matchAll(ATTRIBUTE)].map(([, name, ...values]) => [name.toLowerCase(), decode(values.find((it) => it !== undefined) ?? '')]));

const decode = (text) =>
  text.replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w+));/gi, (all, decimal, hex, name) => {
    if (name) return NAMED[name] ?? all;
    const value = decimal ? Number(decimal) : parseInt(hex, 16);
    return value > 0 && value <= 0x10ffff ? String.fromCodePoint(value) : '';
  });

// MARK: Blocks

/** The blocks of an element, with an empty line between two. */
function blocksOf(node, state) {
  let text = '';
  let line = [];
  const add = (block, gap) => {
    const found = block.replace(/^\n+/, '').trimEnd();
    if (found.trim()) text += (text && (text.endsWith('\n\n') ? '' : gap)) + found;
  };
  const flush = () => {
    add(tidy(inlineOf(line, state)), '\n');
    line = [];
  };
  for (const it of node.children) {
    if (typeof it === 'string' || !hasBlock(it)) line.push(it);
    else {
      flush();
      // The line before a paragraph, and the one after it, have a gap.
      const gap = it.name === 'div' || it.name === 'section' ? '\n' : '\n\n';
      add(blockOf(it, state), gap);
      if (gap === '\n\n' && text) text += '\n\n';
    }
  }
  flush();
  return text;
}

const hasBlock = (node) => BLOCKS.has(node.name) || node.children?.some((it) => typeof it !== 'string' && hasBlock(it));

function blockOf(node, state) {
  const { name } = node;
  const level = /^h([1-6])$/.exec(name)?.[1];
  const rich = (text) => {
    if (text) state.found.isRich = true;
    return text;
  };
  if (level) {
    const title = tidy(inlineOf(node.children, { ...state, strong: true })).replace(/\s*\n\s*/g, ' ');
    return title && rich(`${'#'.repeat(Number(level))} ${title}`);
  }
  if (name === 'hr') return rich('---');
  if (name === 'pre') return rich(codeBlock(node));
  if (name === 'ul' || name === 'ol') return rich(listOf(node, state));
  if (name === 'table') return tableOf(node, state, rich);
  const inner = blocksOf(node, state);
  if (name === 'blockquote') return inner.trim() && rich(inner.trim().replace(/^/gm, '> ').replace(/ $/gm, ''));
  return inner;
}

function codeBlock(node) {
  const text = rawText(node).replace(/^\n/, '').trimEnd();
  const inner = node.children.find((it) => it.name === 'code') ?? node;
  const language = /\b(?:lang|language|highlight-source)-([\w+#.-]{1,32})/.exec(`${node.attributes.class} ${inner.attributes.class}`)?.[1] ?? '';
  const fence = '`'.repeat(Math.max(3, 1 + longestRun(text)));
  return text && `${fence}${language}\n${text}\n${fence}`;
}

const rawText = (node) =>
  typeof node === 'string' ? node : node.name === 'br' ? '\n' : node.children.map(rawText).join('') + (node.name === 'div' || node.name === 'p' ? '\n' : '');

const longestRun = (text) => [...text.matchAll(/`+/g)].reduce((longest, [it]) => Math.max(longest, it.length), 0);

function listOf(node, state) {
  let number = Number(node.attributes.start) || 1;
  const lines = [];
  for (const it of node.children) {
    if (typeof it === 'string') continue;
    // Editors put a list of the next level beside the items.
    if (it.name === 'ul' || it.name === 'ol') lines.push(listOf(it, state).replace(/^(?=.)/gm, '  '));
    if (it.name !== 'li') continue;
    const mark = node.name === 'ol' ? `${number++}. ` : '- ';
    const text = blocksOf(it, state).trim().replace(/^(\[[ x]\]) +/, '$1 ').replace(/\n{2,}(?=\s*(?:[-*]|\d+\.) )/g, '\n');
    if (text) lines.push(mark + text.replace(/\n(?=.)/g, `\n${' '.repeat(mark.length)}`));
  }
  return lines.join('\n');
}

function tableOf(node, state, rich) {
  const rows = rowsOf(node);
  const width = Math.max(0, ...rows.map((it) => it.length));
  // A table of one column, or one with blocks, is a layout.
  const isData = width > 1 && !rows.flat().some((it) => it.children.some((child) => ['table', 'ul', 'ol', 'pre', 'blockquote'].includes(child.name)));
  if (!isData) return rows.map((row) => row.map((it) => blocksOf(it, state)).join('\n')).join('\n');
  const line = (cells) => `| ${cells.join(' | ')} |`;
  const written = rows.map((row) =>
    line(Array.from({ length: width }, (_, at) =>
      row[at] ? blocksOf(row[at], row[at].name === 'th' ? { ...state, strong: true } : state).trim().replace(/\s*\n\s*/g, ' ').replace(/\|/g, '\\|') : '')));
  return rich([written[0], line(Array(width).fill('---')), ...written.slice(1)].join('\n'));
}

const rowsOf = (node) =>
  node.children.flatMap((it) => (it.name === 'tr' ? [it.children.filter((cell) => cell.name === 'td' || cell.name === 'th')] : it.name === 'table' || !it.children ? [] : rowsOf(it)));

// MARK: Inlines

function inlineOf(nodes, state) {
  return nodes.map((it) => (typeof it === 'string' ? escape(it.replace(/[ \t\r\n\f]+/g, ' ')) : elementOf(it, state))).join('');
}

function elementOf(node, state) {
  const { name, attributes } = node;
  if (name === 'br') return '\n';
  if (name === 'img') return '';
  if (name === 'input') return attributes.type === 'checkbox' ? `[${'checked' in attributes ? 'x' : ' '}] ` : '';
  if (CODE.has(name)) return codeOf(node, state);
  if (name === 'a') return linkOf(node, state);
  const style = (attributes.style ?? '').slice(0, MAX_STYLE);
  const weight = /font-weight:\s*(\w+)/i.exec(style)?.[1];
  const isStrong = weight ? weight === 'bold' || weight === 'bolder' || Number(weight) >= 600 : name === 'b' || name === 'strong';
  const isItalic = /font-style:\s*(\w+)/i.exec(style)?.[1] ? /font-style:\s*(?:italic|oblique)/i.test(style) : name === 'i' || name === 'em';
  const isStruck = ['s', 'del', 'strike'].includes(name) || /text-decoration[\w-]*:[^;]*line-through/i.test(style);
  const marks = [
    isStrong && !state.strong && ['strong', '**'],
    isItalic && !state.italic && ['italic', '*'],
    isStruck && !state.struck && ['struck', '~~'],
  ].filter(Boolean);
  const text = inlineOf(node.children, { ...state, ...Object.fromEntries(marks.map(([key]) => [key, true])) });
  return marks.reduceRight((inner, [, mark]) => wrap(inner, mark, state), text);
}

/** The marks stand at the words, and end at a line's end. */
const wrap = (text, mark, state) =>
  text.split('\n').map((line) => {
    const inner = line.trim();
    if (!inner) return line;
    state.found.isRich = true;
    const start = line.indexOf(inner);
    return line.slice(0, start) + mark + inner + mark + line.slice(start + inner.length);
  }).join('\n');

function codeOf(node, state) {
  const text = rawText(node).replace(/\s+/g, ' ').trim();
  if (!text) return '';
  state.found.isRich = true;
  const fence = '`'.repeat(1 + longestRun(text));
  const space = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return fence + space + text + space + fence;
}

function linkOf(node, state) {
  const text = tidy(inlineOf(node.children, state)).replace(/\n+/g, ' ');
  const address = safeAddress(node.attributes.href);
  if (!address || !text) return text;
  const plain = rawText(node).trim();
  if (plain === address || `${plain}/` === address || `mailto:${plain}` === address) return plain;
  state.found.isRich = true;
  return `[${text}](${address.replace(/[()]/g, (it) => (it === '(' ? '%28' : '%29'))})`;
}

/** An address of the web or of mail, as the server takes it; null for any other. */
function safeAddress(href) {
  const url = URL.parse ? URL.parse(href ?? '') : parsed(href);
  return url && ['http:', 'https:', 'mailto:'].includes(url.protocol) && !url.username ? url.href : null;
}

function parsed(href) {
  try {
    return new URL(href);
  } catch {
    return null;
  }
}

/** No space at the ends of lines. */
const tidy = (text) => text.replace(/[ \t]*\n[ \t]*/g, '\n').replace(/^ +| +$/g, '');

/** Signs that would be markup stay signs. */
const escape = (text) =>
  text
    .replace(/[\\`*[\]]|~~|\|\||(?<![\w])_|_(?![\w])|<(?=[a-zA-Z/])/g, (it) => it.replace(/./g, '\\$&'))
    .replace(/^(\s*)([#>+-]|\d{1,9}[.)])(?= )/, (_, space, mark) => space + (/\d/.test(mark) ? mark.replace(/[.)]$/, '\\$&') : `\\${mark}`));
