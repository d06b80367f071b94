import { el, icon, spoken } from '../../core/dom.js';
import { number, say } from '../../core/text/text.js';

const MAX = 999;
/** The text of a count: large ones are cut off. */
export const capped = (count) => (count > MAX ? `${MAX}+` : number(count));

/** A count. Accented only for mentions and direct messages. */
export function badge(count, { loud = false } = {}) {
  if (!count) return null;
  return el(
    'span.badge.count',
    { class: loud ? 'badge-loud' : '' },
    capped(count),
    spoken(say(loud ? 'badge.loud' : 'badge.quiet')),
  );
}

/** A count of new topics. */
export function topicsBadge(count) {
  if (!count) return null;
  return el('span.badge.badge-topics.count', null, capped(count), icon('topic'), spoken(say('badge.topics', { n: count })));
}
