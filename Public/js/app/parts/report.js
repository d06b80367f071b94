import { el } from '../core/dom.js';
import { say } from '../core/text.js';
import { time } from '../core/times.js';
import { button } from './button.js';

/** A report: the reported message, the reporters with their reasons, and four actions. */
export function reportCard(report, { message, reporter, where, on } = {}) {
  return el(
    'article.report',
    { data: { id: report.id } },
    el(
      'p.second',
      null,
      say('report.line', { name: reporter ?? say('person.gone') }),
      ' · ',
      time(report.created_at),
      where && ` · ${where}`,
    ),
    report.reason && el('p.report-reason', null, say('entry.reason', { reason: report.reason })),
    el('div.report-message', null, message),
    report.state && report.state !== 'open'
      ? el('p.second', null, say('report.closed'))
      : el(
          'div.report-verbs',
          null,
          ['dismiss', 'warn', 'remove', 'ban'].map((verb) =>
            button(say(`report.${verb}`), { kind: verb === 'ban' ? 'danger' : 'plain', on: () => on?.(verb) }),
          ),
        ),
  );
}
