import { el } from '../core/dom.js';
import { badge, topicsBadge } from './badge.js';

/** Tabs that are addresses: each has a page of its own, and Back works. `items`: [address, words, isHere, {count, topics}]. */
export function tabs(label, items) {
  return el(
    'nav.tabs',
    { aria: { label } },
    items.map(([address, words, isHere, { count = 0, topics = 0 } = {}]) =>
      el('a.tab', { href: address, aria: { current: isHere ? 'page' : null } }, words, topicsBadge(topics), badge(count)),
    ),
  );
}
