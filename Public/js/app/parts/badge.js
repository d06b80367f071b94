import { el, spoken } from '../core/dom.js';
import { number, say } from '../core/text.js';

/** A count. Accented only for mentions and direct messages. */
export function badge(count, { loud = false } = {}) {
  if (!count) return null;
  return el(
    'span.badge.count',
    { class: loud ? 'badge-loud' : '' },
    count > 999 ? '999+' : number(count),
    spoken(say(loud ? 'badge.loud' : 'badge.quiet')),
  );
}
