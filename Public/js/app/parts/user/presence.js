import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { moment } from '../../core/text/times.js';

/**
 * Returns the presence as text; empty if unknown.
 * @param {{ presence: "online"|"away"|"offline", last_seen_at: string|null }|null} [known]
 */
export function presenceWords(known) {
  if (!known) return null;
  if (known.presence !== 'offline') return say(`presence.${known.presence}`);
  return known.last_seen_at ? say('presence.lastSeen', { at: moment(new Date(known.last_seen_at)) }) : null;
}

/** A user's picture with a presence indicator: a disc for online, a ring for away, with text for screen readers. */
export function withPresence(picture, known) {
  if (!known || known.presence === 'offline') return picture;
  return el('span.face', { title: presenceWords(known) }, picture, el(`i.presence.presence-${known.presence}`));
}
