// A group beside the name of a user: its colour and its name.

import { el } from '../../core/dom.js';
import { hex } from '../../core/hue.js';
import { isolate } from '../../core/text/text.js';

export function groupBadge({ name, hue }) {
  const dot = el('span', { aria: { hidden: 'true' } }, '● ');
  dot.style.color = hex(0.62, 0.17, hue);
  return el('b.group-badge', null, dot, name && isolate(name), ' ');
}
