import { el, icon } from '../../core/dom.js';
import { say } from '../../core/text/text.js';

/** A deleted message: one line with the actor and the reason. */
export function tombstone(message, { movedTo, undo } = {}) {
  const key =
    { author: 'gone.author', moderator: 'gone.moderator', moved: 'gone.moved', erased: 'gone.erased' }[
      message.deletion
    ] ?? 'gone.author';
  return el(
    'p.tombstone',
    null,
    icon(message.deletion === 'moved' ? 'topic' : 'delete'),
    el('span', null, message.reason ? say('gone.because', { what: say(key), reason: message.reason }) : say(key)),
    movedTo && el('a', { href: movedTo }, say('gone.follow')),
    undo && el('button.text-button', { on: { click: undo } }, say('act.undo')),
  );
}
