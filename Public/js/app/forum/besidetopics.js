// The list of a forum's topics beside an open one.

import { el, redraw } from '../core/dom.js';
import { filterBar } from './forumhead.js';
import { onTopicActivity, topicOrder, topicRows } from './topicrows.js';

/** On a wide screen a topic stands beside the list of all, under the head of the forum. */
export function besideTopics(shell, forum, conversation, node) {
  const { site } = shell;
  const rows = el('nav', { aria: { label: forum.title } });
  const filters = filterBar(shell, forum);
  const list = el('div.split-list', null, filters, rows);
  let listed = [];
  const draw = () => redraw(rows, topicRows(site, listed, conversation.id));
  const load = async () => {
    const { data, included } = await site.call('GET', `/forums/${forum.id}/conversations`, { query: { include: 'users', order: topicOrder() }, tries: 1 });
    site.keepUsers(included.users);
    listed = data;
    filters.offer(listed);
    draw();
  };
  load().catch(() => {});
  const ends = [site.listen(['users', 'conversations', 'overview'], draw), onTopicActivity(site, forum, load)];
  return {
    node: el('div.split.has-list', null, list, node),
    close: () => {
      for (const end of ends) end();
    },
  };
}
