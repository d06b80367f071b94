import { el } from '../core/dom.js';
import { say } from '../core/text.js';
import { moment, time } from '../core/times.js';
import { avatar } from './avatar.js';

/**
 * Something that was done about the place or somebody: what, when and why; and what can be done about it now.
 * @param {object} entry words (what was done, with ways to what it was done to), at, [reason], [who] and [more] beside the
 *   time, [face] of whoever did it, [end] a button
 */
export function entryRow({ words, who, face, at, reason, more, end }) {
  return el(
    'li.setting-row.entry',
    null,
    el(
      'span.entry-words',
      null,
      el('span', null, words),
      reason && el('span.entry-reason', null, say('entry.reason', { reason })),
      el('span.second', null, who && [who, ' · '], time(at, moment), more && ` · ${more}`),
    ),
    face && avatar(face, { size: 2 }),
    end,
  );
}
