// Tags of topics: links to the topics with each.

import { el, spoken } from '../core/dom.js';
import { forumAddress } from '../core/router.js';

/** The address of the topics that match a filter and a tag. @param {{ filter?: string|null, tag?: string|null }} chosen */
export function topicsAddress(forum, chosen) {
  const query = new URLSearchParams(Object.entries(chosen).filter(([, it]) => it)).toString();
  return forumAddress(forum, 'topics') + (query && `?${query}`);
}

/** Links to the topics of a forum with each tag; beyond `max` their number. Null without tags. */
export function tagLinks(forum, tags, max = tags?.length) {
  if (!forum || !tags?.length) return null;
  const rest = tags.slice(max).map((it) => `#${it}`).join(' ');
  return el(
    'p.tags',
    null,
    tags.slice(0, max).map((tag) => el('a.tag', { href: topicsAddress(forum, { tag }) }, el('bdi', null, `#${tag}`))),
    rest && el('span.tag', { title: rest }, el('span', { aria: { hidden: 'true' } }, `+${tags.length - max}`), spoken(rest)),
  );
}
