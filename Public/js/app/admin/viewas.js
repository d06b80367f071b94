// The forums as another user sees them, for staff: a member of one group, a new member, a guest or a visitor.

import { el, refill } from '../core/dom.js';
import { isolate, list, say, sayProblem } from '../core/text/text.js';
import { choice } from '../parts/forms/field.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { dialog } from '../parts/overlays/dialog.js';
import { toast } from '../parts/overlays/toast.js';

const PAGE = 50;

/** @param {object} site @param {object[]} groups @param {string} [viewer] the id of a group, or `newcomer`, `guest`, `visitor` */
export function viewAs(site, groups, viewer = groups[0]?.id ?? 'newcomer') {
  const parts = { shown: el('ul.setting-list'), hidden: el('ul.setting-list') };
  const headings = Object.fromEntries(Object.keys(parts).map((it) => [it, el('h3.section-title', null, say(`viewAs.${it}`))]));
  const foot = el('div');
  let turn = 0;
  const load = async (of, next) => {
    const own = (turn += 1);
    const page = await site.client.calls.listForumAccess({ query: { viewer: of, limit: PAGE, next } });
    // Another viewer was chosen meanwhile.
    if (own !== turn) return;
    if (!next) for (const it of Object.values(parts)) refill(it);
    for (const it of page.data) parts[it.operations.length ? 'shown' : 'hidden'].append(row(it));
    for (const [name, it] of Object.entries(parts)) headings[name].hidden = it.hidden = !it.childElementCount;
    refill(foot, page.next && showMoreButton(() => load(of, page.next)));
  };
  const show = (of) => load(of).catch((error) => toast(sayProblem(error)));
  const who = choice(
    say('viewAs.viewer'),
    [
      ...groups.map((it) => [it.id, say('viewAs.member', { name: isolate(it.name) })]),
      ['newcomer', say('viewAs.newcomer')],
      ['guest', say('role.guest')],
      ['visitor', say('report.visitor')],
    ],
    { value: viewer, on: show },
  );
  dialog(say('viewAs.title'), [
    el('p.second', null, say('viewAs.lead')),
    who,
    el('div', { aria: { live: 'polite' } }, headings.shown, parts.shown, headings.hidden, parts.hidden),
    foot,
  ]);
  show(viewer);
}

/** A forum with the permitted operations. */
function row({ title, operations, topic_count: topics }) {
  const names = operations.filter((it) => it !== 'see').map((it) => say(`viewAs.operation.${it}`));
  const words = [
    el('bdi', null, title),
    operations.length > 0 && el('span.second', null, names.length ? list(names) : say('viewAs.titleOnly')),
    operations.includes('read') && el('span.second', null, say('viewAs.topics', { n: topics })),
  ];
  return el('li.setting-row.entry', null, el('span.entry-words', null, words));
}
