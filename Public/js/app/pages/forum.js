// A forum: topics and room as tabs, about page, settings.

import { el, icon, redraw } from '../core/dom.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { forumAddress } from '../core/router.js';
import { loadMoreText, say } from '../core/text/text.js';
import { filterBar, filtersOf, forumTabs, mayStart } from '../forum/forumhead.js';
import { asItIs, attend } from '../forum/membership.js';
import { topicList } from '../forum/topiclist.js';
import { onTopicActivity, topicOrder, topicRows } from '../forum/topicrows.js';
import { button } from '../parts/forms/button.js';
import { empty, unreachable } from '../parts/lists/empty.js';
import { isLetter, stepRows } from '../core/rowkeys.js';
import { watchSubject } from '../conversation/subject.js';
import { conversationPage } from './conversation.js';
import { presenceLine } from '../conversation/presenceline.js';

export async function open(shell, { id, tab, query }, restore) {
  const { site } = shell;
  const forum = await site.forum(id);
  const chosen = tab ?? localStorage.getItem(`tab:${id}`) ?? 'topics';
  if (chosen === 'room') {
    localStorage.setItem(`tab:${id}`, 'room');
    const conversation = await site.conversation(forum.room_id);
    return conversationPage(shell, conversation, { forum, tabs: forumTabs(shell, forum, 'room', presenceLine(site, conversation)), restore });
  }
  if (chosen === 'new') {
    const [page] = await Promise.all([import('./newtopic.js'), loadMoreText()]);
    return page.newTopic(shell, forum);
  }
  if (chosen === 'about') return (await import('../forum/about.js')).about(shell, forum);
  if (chosen === 'settings') {
    const [page] = await Promise.all([import('./forumform.js'), loadMoreText()]);
    return page.edit(shell, forum);
  }
  localStorage.setItem(`tab:${id}`, 'topics');
  return topics(shell, forum, query);
}

async function topics(shell, forum, query) {
  const { site } = shell;
  const wanted = query?.get('filter');
  const filter = filtersOf(site, forum).includes(wanted) ? wanted : null;
  const tag = query?.get('tag')?.replace(/^#/, '').toLowerCase() || null;
  const order = topicOrder();
  const list = topicList(site, forum, { filter, tag, order }, () => draw());
  const filters = filterBar(shell, forum, { filter, tag, order: orderButton(shell, order) });
  const rows = el('div.topic-rows');
  const more = showMoreButton(list.loadMore);
  const draw = () => {
    const shown = list.topics();
    redraw(rows, shown.length ? topicRows(site, shown) : list.isMissing() ? unreachable(list.load) : noTopics(shell, forum, filter, tag));
    filters.offer(shown);
    more.hidden = !list.hasMore();
  };
  await list.load();
  const head = forumTabs(shell, forum, 'topics');
  const named = () => {
    const { title, ...now } = asItIs(site, forum);
    return { title: tag ? `#${tag} · ${title}` : title, here: forumAddress({ ...now, title }) };
  };
  const shown = named();
  const unlisten = site.listen(['users', 'conversations', 'overview', 'forums', 'me'], () => {
    draw();
    head.changed();
    const { title } = shown;
    Object.assign(shown, named());
    if (title !== shown.title && shell.page === shown) shell.entitle();
  });
  const unfollow = attend(site, forum);
  const endSubject = watchSubject(shell, 'forums', forum.id);
  const endActivity = onTopicActivity(site, forum, list.renew);
  return Object.assign(shown, {
    forum: forum.id,
    node: [head, el('div.page-body', null, el('div.page-column', null, filters, rows, more))],
    close: () => {
      unfollow();
      endSubject();
      endActivity();
      unlisten();
    },
    pressed: (event) =>
      stepRows(event, [...rows.querySelectorAll('a.topic-row')]) ||
      (event.key === 'c' && isLetter(event) && (shell.go(forumAddress(forum, 'new')), true)),
  });
}

/** The chosen order, which opens the menu of orders. */
function orderButton(shell, order) {
  const again = () => shell.go(location.pathname + location.search, { replace: true });
  const open = () => import('../forum/topicorder.js').then((it) => it.orderMenu(button, again));
  const button = el('button.chip', { title: say('filter.order'), aria: { haspopup: 'menu' }, data: { act: 'order' }, on: { click: open } }, say(`filter.order.${order ?? 'activity'}`), icon('open'));
  return button;
}

function noTopics(shell, forum, filter, tag) {
  const begins = !filter && !tag;
  const to = (words, address, look) => [button(words, { ...look, on: () => shell.go(address) })];
  const start = () => to(say('act.newTopic'), forumAddress(forum, 'new'), { kind: 'primary', picture: 'plus' });
  return empty(tag && !filter ? say('filter.noTag', { tag }) : say(begins ? 'forum.noTopics' : 'filter.none'), {
    picture: 'topic',
    actions: tag ? to(say('filter.showAll'), forumAddress(forum, 'topics')) : begins && mayStart(shell.site, asItIs(shell.site, forum)) ? start() : [],
  });
}
