import { el } from '../core/dom.js';
import { say } from '../core/text.js';
import { moment } from '../core/times.js';

/**
 * How somebody is here, in words; nothing of whom nothing was told.
 * @param {{ presence: "online"|"away"|"offline", last_seen_at: string|null }|null} [known]
 */
export function presenceWords(known) {
  if (!known) return null;
  if (known.presence !== 'offline') return say(`presence.${known.presence}`);
  return known.last_seen_at ? say('presence.lastSeen', { at: moment(new Date(known.last_seen_at)) }) : null;
}

/** Someone's picture with the sign at its foot: a disc for who is here, a ring for who is away. Words stand or are spoken beside it. */
export function withPresence(picture, known) {
  if (!known || known.presence === 'offline') return picture;
  return el('span.face', { title: presenceWords(known) }, picture, el(`i.presence.presence-${known.presence}`));
}
