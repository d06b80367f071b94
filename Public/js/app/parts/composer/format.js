// Markdown around the selection of a text field, and the toolbar for it.

import { el, icon } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { tooltip } from '../forms/button.js';
import { menu } from '../overlays/menu.js';

/** The toolbar's buttons: name, drawing or sign, and what they do to the field. */
const FORMATS = {
  bold: ['B', (input) => wrap(input, '**')],
  italic: ['I', (input) => wrap(input, '*')],
  heading: ['H', (input) => prefix(input, '## ')],
  link: ['link', (input) => link(input)],
  quote: ['❝', (input) => prefix(input, '> ')],
  code: ['</>', (input) => code(input)],
  list: ['•', (input) => prefix(input, '- ')],
  numbered: ['1.', (input) => prefix(input, '1. ')],
  spoiler: ['||', (input) => wrap(input, '||')],
};

/** The formats that a narrow bar moves into a menu, the first ones first. */
const RARE = ['spoiler', 'numbered', 'code', 'heading', 'quote', 'list', 'link'];

/** The formats of keys with Ctrl or ⌘. */
const KEYS = { b: 'bold', i: 'italic', k: 'link' };

/** The format of a key. A link needs a selection: otherwise the key opens the command menu. */
export function formatOf(event, input) {
  if (!(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return null;
  if (event.key === 'k' && input.selectionStart === input.selectionEnd) return null;
  return KEYS[event.key] ?? null;
}

export function format(input, name) {
  FORMATS[name][1](input);
  input.dispatchEvent(new Event('input'));
  input.focus();
}

/** One line of buttons. Those without room are in the menu of the last one. */
export function formatBar(input) {
  const buttons = Object.entries(FORMATS).map(([name, [sign]]) => {
    const label = say(`format.${name}`);
    const key = Object.keys(KEYS).find((it) => KEYS[it] === name);
    return el(
      'button.format-button',
      { title: tooltip(label, key && `Ctrl ${key.toUpperCase()}`), dir: 'ltr', aria: { label }, data: { format: name }, on: { click: () => format(input, name) } },
      sign === 'link' ? icon('link') : sign,
    );
  });
  const open = () => {
    const items = buttons.filter((it) => it.hidden).map(({ ariaLabel, dataset }) => ({ words: ariaLabel, on: () => format(input, dataset.format) }));
    menu(more, items, say('format.all'));
  };
  const more = el(
    'button.format-button',
    { title: say('act.more'), hidden: true, aria: { label: say('act.more'), haspopup: 'menu' }, data: { format: 'more' }, on: { click: open } },
    icon('more'),
  );
  const node = el('div.format-bar', { role: 'group', aria: { label: say('format.all') } }, buttons, more);
  const isTooWide = () => node.scrollWidth > node.clientWidth;
  const fit = () => {
    for (const it of buttons) it.hidden = false;
    more.hidden = true;
    if (!isTooWide()) return;
    more.hidden = false;
    for (const name of RARE) {
      buttons.find((it) => it.dataset.format === name).hidden = true;
      if (!isTooWide()) return;
    }
  };
  new ResizeObserver(fit).observe(node);
  return node;
}

function wrap(input, sign) {
  const { selectionStart: from, selectionEnd: to, value } = input;
  input.setRangeText(sign + value.slice(from, to) + sign, from, to, 'end');
  if (from === to) input.selectionStart = input.selectionEnd = from + sign.length;
}

/** A prefix of each selected line. */
function prefix(input, sign) {
  const { selectionStart, selectionEnd: to, value } = input;
  const from = value.lastIndexOf('\n', selectionStart - 1) + 1;
  const lines = value.slice(from, to).split('\n').map((it) => sign + it);
  input.setRangeText(lines.join('\n'), from, to, 'end');
}

function link(input) {
  const { selectionStart: from, selectionEnd: to, value } = input;
  const words = value.slice(from, to);
  input.setRangeText(`[${words}](https://)`, from, to, 'end');
  // The address is selected, ready to be pasted over.
  input.setSelectionRange(from + words.length + 3, from + words.length + 11);
}

function code(input) {
  const { selectionStart: from, selectionEnd: to, value } = input;
  const words = value.slice(from, to);
  if (words.includes('\n')) input.setRangeText(`\`\`\`\n${words}\n\`\`\``, from, to, 'end');
  else wrap(input, '`');
}
