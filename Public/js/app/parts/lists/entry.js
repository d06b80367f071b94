import { el } from '../../core/dom.js';
import { isolate, say } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';
import { avatar } from '../user/avatar.js';

/**
 * An entry of the audit log or the list of sanctions.
 * @param {object} entry words (the action, with links to its subject), at, [reason], [who] and [more] beside the time,
 *   [face] of the actor, [changes] sentences, [end] a button
 */
export function entryRow({ words, who, face, at, reason, changes = [], more, end }) {
  return el(
    'li.setting-row.entry',
    null,
    el(
      'span.entry-words',
      null,
      el('span', null, words),
      changes.map((it) => el('span.second.entry-change', null, it)),
      reason && el('span.entry-reason', null, say('entry.reason', { reason })),
      el('span.second', null, who && [isolate(who), ' · '], time(at, moment), more && ` · ${isolate(more)}`),
    ),
    face && avatar(face, { size: 2 }),
    end,
  );
}
