// A forum: topics and room as tabs, about page, settings.

import { el, icon, redraw } from '../core/dom.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { forumAddress } from '../core/router.js';
import { loadMoreText, say } from '../core/text/text.js';
import { filterBar, filtersOf, forumTabs, mayStart } from '../forum/forumhead.js';
import { asItIs, attend } from '../forum/membership.js';
import { cachedTopics } from '../state/forums.js';
import { latestTopics, onTopicActivity, topicOrder, topicRows } from '../forum/topicrows.js';
import { button } from '../parts/forms/button.js';
import { empty } from '../parts/lists/empty.js';
import { isLetter, stepRows } from '../core/rowkeys.js';
import { watchSubject } from '../conversation/subject.js';
import { conversationPage } from './conversation.js';
import { presenceLine } from '../conversation/presenceline.js';

/** Topics per request. */
const PAGE = 50;

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
  const name = `topics ${forum.id}`;
  let list = [];
  let next = null;
  const fetchPage = async (from) => {
    const page = await site.call('GET', `/forums/${forum.id}/conversations`, { query: { next: from, limit: PAGE, include: 'users', filter, tag, order } });
    site.keepUsers(page.included.users);
    return page;
  };
  const load = async () => {
    const start = site.parley?.mirror.start;
    const page = await fetchPage(next);
    if (!next && !filter && !tag && !order && site.parley)
      import('../../parley/answers.js').then(({ keepAnswer }) => keepAnswer(site.parley, name, page.data, start)).catch(() => {});
    const listed = new Set(list.map(({ id }) => id));
    list.push(...page.data.filter(({ id }) => !listed.has(id)));
    next = page.next;
  };
  const renew = async () => {
    const { data, next: hasMore } = await fetchPage(null);
    const fresh = new Set(data.map(({ id }) => id));
    // A topic that is not on a page of all of them is deleted, or matches the filter no more.
    list = hasMore ? [...data, ...list.filter(({ id }) => !fresh.has(id))] : data;
    draw();
  };
  await load().catch(async (error) => {
    // Offline: the list as it was seen last, and the other topics on this device.
    if (!error.isTemporary || !site.parley || filter) throw error;
    const { keptAnswer } = await import('../../parley/answers.js');
    const kept = (await keptAnswer(site.parley, name)) ?? [];
    const listed = new Set(kept.map((it) => it.id));
    list.push(...kept, ...cachedTopics(site, forum).filter((it) => !listed.has(it.id)));
  });
  const filters = filterBar(shell, forum, { filter, tag, order: orderButton(shell, order) });
  const rows = el('div.topic-rows');
  const more = showMoreButton(() => load().then(draw));
  const draw = () => {
    // An edit may have added or removed the tag.
    const shown = latestTopics(site, list).filter((it) => !tag || it.tags?.includes(tag));
    redraw(rows, shown.length ? topicRows(site, shown) : noTopics(shell, forum, filter, tag));
    filters.offer(shown);
    more.hidden = !next;
  };
  draw();
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
  const endActivity = onTopicActivity(site, forum, renew);
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
