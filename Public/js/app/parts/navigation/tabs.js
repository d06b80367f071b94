import { el } from '../../core/dom.js';
import { badge, topicsBadge } from './badge.js';

/** Tabs that are addresses: each has a page of its own, and Back works. `items`: [address, words, isHere, {count, topics, short: the words on a phone}]. */
export function tabs(label, items) {
  return el(
    'nav.tabs',
    { aria: { label }, data: { part: 'tabs' } },
    items.map(([address, words, isHere, { count = 0, topics = 0, short } = {}]) =>
      el('a.tab', { href: address, aria: { current: isHere ? 'page' : null } }, short ? [el('span.wide-only', null, words), el('span.phone-only', null, short)] : words, topicsBadge(topics), badge(count)),
    ),
  );
}
