import { el } from '../core/dom.js';

/** Tabs that are addresses: each has a page of its own, and Back works. `items`: [address, words, isHere]. */
export function tabs(label, items) {
  return el(
    'nav.tabs',
    { aria: { label } },
    items.map(([address, words, isHere]) =>
      el('a.tab', { href: address, aria: { current: isHere ? 'page' : null } }, words),
    ),
  );
}
