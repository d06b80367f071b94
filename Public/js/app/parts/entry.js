import { el } from '../dom.js';
import { moment, time } from '../times.js';
import { avatar } from './avatar.js';

/** Something that was done about the place or somebody: who did what, when and why; and what can be done about it now. */
export function entryRow({ actor, words, subject, at, reason, more, end }) {
  return el(
    'li.setting-row.entry',
    null,
    el(
      'span.entry-words',
      null,
      el('span', null, words, subject && [' ', subject.href ? el('a', { href: subject.href }, subject.words) : subject.words]),
      reason && el('span.entry-reason', null, `“${reason}”`),
      el('span.second', null, actor?.name, actor?.name && ' · ', time(at, moment), more && ` · ${more}`),
    ),
    actor?.person && avatar(actor.person, { size: 2 }),
    end,
  );
}
