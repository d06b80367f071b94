import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { time } from '../../core/text/times.js';
import { avatar } from '../user/avatar.js';
import { button } from '../forms/button.js';

/**
 * The open reports about a user: who it is, the reported posts with their surroundings, and the decisions.
 * @param {object} user the reported user
 * @param {object} facts key (of the card in its list), name, href, since (of the account), counts, history; posts: elements of `reportedPost`; more: the
 *   number of posts that are not shown; verbs: [words, on, kind][]; view: {isLong, isOpen}, for the card after a redraw
 */
export function reportCard(user, { key, name, href, counts, history, posts, more = 0, verbs = [], view = {} }) {
  return el(
    'article.report',
    { data: { user: user.id, part: key }, aria: { label: name } },
    el(
      'header.report-head',
      { data: { part: 'head' } },
      avatar(user, { size: 3 }),
      el(
        'div',
        null,
        el('h3', null, href ? el('a', { href }, el('bdi', null, name)) : el('bdi', null, name)),
        el('p.second', null, counts),
        history && el('p.second.report-history', null, history),
      ),
    ),
    cutPosts(posts, view),
    more > 0 && el('p.second', null, say('report.more', { n: more })),
    el('div.report-verbs', { data: { part: 'verbs' } }, verbs.map(([words, on, kind = 'plain']) => button(words, { kind, on }))),
  );
}

/** The posts of a card. Long ones are cut, so that the queue can be scanned, until a button or the keyboard opens them. */
function cutPosts(posts, view) {
  const all = el('div.report-all', { tabindex: '-1' }, posts);
  const cut = el('div.report-cut', null, all);
  const more = button(say('list.more'), { kind: 'quiet', on: () => open(all) });
  const node = el('div.report-posts', null, cut, more);
  const draw = () => {
    const isCut = !!view.isLong && !view.isOpen;
    node.classList.toggle('is-cut', isCut);
    node.classList.toggle('is-open', !!view.isOpen);
    more.hidden = !isCut;
  };
  const open = (focused) => {
    view.isOpen = true;
    draw();
    focused.focus({ preventScroll: focused === all });
  };
  // The focused element is seen.
  cut.addEventListener('focusin', ({ target }) => {
    if (more.hidden || target.getBoundingClientRect().bottom <= cut.getBoundingClientRect().bottom) return;
    open(target);
    target.scrollIntoView({ block: 'nearest' });
  });
  draw();
  new ResizeObserver(() => {
    if (view.isOpen || !cut.clientHeight) return;
    view.isLong = all.offsetHeight > cut.clientHeight + 1;
    draw();
  }).observe(all);
  return node;
}

/**
 * A reported post: where it stands, why it was reported, the lines before it, itself, the lines after it.
 * @param {object} report
 * @param {object} facts where, href, reporters, title (of a held topic), before and after: {name, text}[], message: a node, verbs
 */
export function reportedPost(report, { where, href, reporters, title, before = [], after = [], message, verbs = [] }) {
  const line = (it) => el('p.report-line', null, el('bdi', null, it.name), ' ', el('span', { dir: 'auto' }, it.text));
  return el(
    'section.report-post',
    { data: { report: report.id } },
    el(
      'p.second',
      null,
      where && [href ? el('a', { href }, el('bdi', null, where)) : el('bdi', null, where), ' · '],
      reporters,
      ' · ',
      time(report.created_at),
    ),
    report.reason && el('p.report-reason', null, say('entry.reason', { reason: report.reason })),
    title && el('h4.report-title', { dir: 'auto' }, title),
    message && el('div.report-message', null, before.map(line), message, after.map(line)),
    el('div.report-verbs', null, verbs.map(([words, on]) => button(words, { on }))),
  );
}
