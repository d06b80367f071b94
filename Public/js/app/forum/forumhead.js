// The head of a forum: name, actions, tabs with counts, and the filters of its topics.

import { el, icon, redraw } from '../core/dom.js';
import { forumAddress } from '../core/router.js';
import { loadMoreText, say } from '../core/text/text.js';
import { forumPicture } from '../parts/user/forumpicture.js';
import { button, iconButton } from '../parts/forms/button.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { tabs } from '../parts/navigation/tabs.js';
import { asItIs, canBeAmong, canManage, joinButton, silenceIn } from './membership.js';
import { topicsAddress } from './topictags.js';
import { canJoin } from '../state/forums.js';

/** Filters of topics; without an account only those that need none. */
const FILTERS = ['new', 'unread', 'mine', 'unsolved', 'solved'];
const OWN = new Set(['new', 'unread', 'mine']);
const SOLVING = new Set(['unsolved', 'solved']);

/**
 * The header of a forum with its tabs; the subtitle is the description by default. `actions` stand at its end. `changed`
 * applies changes by others.
 */
export function forumTabs(shell, forum, here, second = null, actions = []) {
  const secondOf = (it) => second || it.description || say(`forum.audience.${it.visibility}`);
  const join = canJoin(shell.site, forum) && joinButton(shell, forum);
  const call = el('span.call-slot');
  const tabBar = el('div');
  const start = button(say('act.newTopic'), {
    kind: join ? 'plain' : 'primary',
    picture: 'plus',
    on: () => shell.go(forumAddress(forum, 'new')),
    data: { act: 'newTopic' },
  });
  const bar = pageBar(forum.title, {
    second: secondOf(forum),
    search: `/search?from=${forum.id}`,
    state: shell.site.state,
    back: () => shell.router.back('/forums'),
    picture: forumPicture(forum, 32),
    actions: [
      call,
      join,
      here === 'topics' && start,
      iconButton('panel', say('forum.about'), {
        on: () => showDetails(shell, forum, here),
        data: { act: 'about' },
      }),
      ...actions,
    ].filter(Boolean),
  });
  const changed = () => {
    const { site } = shell;
    const now = asItIs(site, forum);
    const { call_url: address } = now;
    const room = site.conversations.get(forum.room_id);
    redraw(
      tabBar,
      tabs(now.title, [
        [forumAddress(now, 'topics'), say('forum.topics'), here === 'topics', { topics: site.overview.newTopicsOf(forum.id) }],
        [forumAddress(now, 'room'), say('forum.room'), here === 'room', { count: here === 'room' || room?.level === 'nothing' ? 0 : room?.unread_count }],
      ]),
    );
    bar.querySelector('.page-bar-title').textContent = now.title;
    if (here === 'topics') bar.querySelector('.page-bar-second').textContent = secondOf(now);
    start.hidden = !mayStart(site, now);
    if (join) join.hidden = !canJoin(site, now);
    // A phone has no room for both.
    bar.querySelector('.phone-only').hidden = !!join && !join.hidden;
    if (here === 'room') redraw(call, address && callLink(address));
  };
  changed();
  return Object.assign(el('div', null, bar, tabBar), { changed });
}

/** The panel beside a room, where there is one: a window of a phone has the page. */
async function showDetails(shell, forum, here) {
  const { site } = shell;
  if (here !== 'room' || !site.me || matchMedia('(max-width: 43.6875rem)').matches) return shell.go(forumAddress(forum, 'about'));
  if (shell.hasPanel) return shell.closePanel();
  const [{ details }, room] = await Promise.all([import('../conversation/details.js'), site.conversation(forum.room_id), loadMoreText()]);
  return details(shell, room, asItIs(site, forum), false);
}

/** The link to the forum's call, with its host as tooltip. */
function callLink(address) {
  const words = say('forum.callAt', { host: hostOf(address) });
  return el(
    'a.button.button-plain.call-link',
    { href: address, target: '_blank', rel: 'noopener noreferrer', title: words, aria: { label: words } },
    icon('call'),
    el('span', null, say('forum.call')),
  );
}

function hostOf(address) {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}

export function mayStart(site, forum) {
  if (!site.me || forum.archived || (forum.locked && !canManage(site, forum))) return false;
  return !silenceIn(site, forum) && canBeAmong(site, forum, forum.start_topics);
}

/** The filters that make sense in a forum. */
export const filtersOf = (site, forum) => FILTERS.filter((it) => (site.me || !OWN.has(it)) && (forum.solvable || !SOLVING.has(it)));

/**
 * Links to the topics of each filter, the chosen tag, and a menu of tags once `offer` was called with a tagged topic.
 * @param {{ filter?: string|null, tag?: string|null, order?: Element }} [chosen] `order`: a button at the end
 */
export function filterBar(shell, forum, { filter = null, tag = null, order } = {}) {
  const filters = filtersOf(shell.site, forum);
  const open = async () => (await import('./tagmenu.js')).tagMenu(shell, forum, more, { filter, tag });
  const more = el('button.chip', { hidden: !tag, aria: { haspopup: 'menu' }, on: { click: open } }, say('filter.tags'), icon('open'));
  const node = el(
    'nav.filters',
    { hidden: !filters.length && !tag, aria: { label: say('filter.title') } },
    filters.length
      ? [null, ...filters].map((it) =>
          el('a.chip', { href: topicsAddress(forum, { filter: it, tag }), aria: { current: it === filter ? 'true' : null } }, say(`filter.${it ?? 'all'}`)),
        )
      : null,
    tag &&
      el(
        'a.chip',
        { href: topicsAddress(forum, { filter }), title: say('filter.removeTag', { tag }), aria: { current: 'true' } },
        el('bdi', null, `#${tag}`),
        icon('close', say('filter.removeTag', { tag })),
      ),
    more,
    order,
  );
  const offer = (topics) => {
    if (topics.some((it) => it.tags?.length)) more.hidden = node.hidden = false;
  };
  return Object.assign(node, { offer });
}
