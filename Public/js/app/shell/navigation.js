// The content of the sidebar and the bottom bar: forums, conversations and numbers of unread messages.

import { conversationAddress, forumAddress } from '../core/router.js';
import { conversationTitle, othersIn, ownConversations, presenceIn } from '../core/titles.js';
import { forumSections, newestByForum, unreadByForum } from '../state/forums.js';
import { compare } from '../core/order.js';
import { say } from '../core/text/text.js';
import { arrangementOf } from '../state/sidebar.js';

/** Maximum number of forums in the sidebar. */
const MAX_FORUMS = 50;
const MAX_CONVERSATIONS = 30;

/** Unread counts: messages in conversations; and with these the mentions and notices, as many as the inbox has rows. */
export function unreadCounts(site) {
  const messages = ownConversations(site).reduce((sum, it) => sum + (it.level === 'nothing' ? 0 : (it.unread_count ?? 0)), 0);
  return { messages, all: site.overview.mentions + messages };
}

const sidebarMenu = () => import('./sidebarmenu.js');

/** The handlers of the sidebar's buttons. */
export const sidebarActions = (shell) => ({
  search: () => shell.commands(),
  newConversation: () => shell.go('/messages/new'),
  fold: (key) => sidebarMenu().then(({ fold }) => fold(shell.site, key)),
  entry: (key, anchor) => sidebarMenu().then(({ entryMenu }) => entryMenu(shell.site, key, anchor)),
  section: (key, own, anchor) => sidebarMenu().then(({ sectionMenu }) => sectionMenu(shell.site, key, own, anchor)),
});

/** Begins the drag of an entry of the sidebar. */
export function beginDrag(shell, { target }) {
  const row = target.closest?.('[data-entry]');
  if (!row) return;
  const end = shell.press.drag();
  sidebarMenu().then(({ drag }) => drag(shell, row.dataset.entry, end));
}

/** @param {string} here the address of the open page @param {object} on handlers of the sidebar's buttons */
export function navigation(site, here, on) {
  const unread = unreadCounts(site);
  const inForums = unreadByForum(site);
  return {
    community: { name: site.server.name },
    me: site.me,
    state: site.state,
    here,
    inbox: { unread: unread.all, loud: unread.all > 0 },
    topics: site.overview.newTopics,
    messages: { unread: unread.messages, loud: true },
    forums: site.forums.size > MAX_FORUMS ? site.forums.size : 0,
    sections: sectionsOf(site, here, inForums),
    on,
  };
}

/** The sections of the sidebar: pinned, the user's, the staff's, messages. An entry stands in the first that has it. */
function sectionsOf(site, here, inForums) {
  const { pinned, sections, folded, unread, order } = arrangementOf(site);
  const ofForum = (it) => ({
    key: `f${it.id}`,
    title: it.title,
    href: forumAddress(it),
    forum: it,
    unread: inForums.get(it.id) ?? 0,
    topics: site.overview.newTopicsOf(it.id),
  });
  const ofConversation = (it) => ({
    key: `c${it.id}`,
    title: conversationTitle(site, it),
    href: conversationAddress(it),
    users: othersIn(site, it),
    presence: presenceIn(site, it),
    unread: it.level === 'nothing' ? 0 : it.unread_count,
    loud: true,
  });
  const conversations = ownConversations(site);
  const known = (key) => {
    const forum = site.forums.get(key.slice(1));
    const own = key[0] === 'c' && conversations.find(({ id }) => id === key.slice(1));
    return key[0] === 'f' && forum ? [ofForum(forum)] : own ? [ofConversation(own)] : [];
  };
  const taken = new Set([pinned, ...sections.map(({ items }) => items)].flat());
  const isLeft = (it) => !taken.has(it.key);
  const own = (key, title, items, list) => ({ key, title, items: items.flatMap(known), list });
  return [
    ...(pinned.length ? [own('pinned', say('sidebar.pinned'), pinned, 0)] : []),
    ...sections.map(({ title, items }, index) => own(`own ${title}`, title, items, index + 1)),
    ...listedForums(site, here, inForums, order).map(({ title, forums }) => ({
      key: `site ${title ?? ''}`, title: title ?? say('navigation.forums'), items: forums.map(ofForum).filter(isLeft) })),
    {
      key: 'messages', title: say('navigation.messages'), isLast: true,
      items: conversations.slice(0, MAX_CONVERSATIONS).map(ofConversation).filter(isLeft) },
  ].map((it) => ({
    ...it,
    items: unread.includes(it.key) ? it.items.filter(({ unread: n, topics, href }) => n || topics || href === here) : it.items,
    isFolded: folded.includes(it.key),
  }));
}

/**
 * The forums of the sidebar by section. Of many forums the most relevant: the open one, those with unread messages, the
 * user's own, then the most recently active.
 */
function listedForums(site, here, unread, order) {
  const isPart = site.forums.size > MAX_FORUMS;
  const newest = (order || isPart) && newestByForum(site);
  const sections = forumSections(site, order && newest);
  if (!isPart) return sections;
  const weight = (it) =>
    (forumAddress(it) === here ? 4 : 0) + (unread.get(it.id) || site.overview.newTopicsOf(it.id) ? 2 : 0) + (site.conversations.has(it.room_id) ? 1 : 0);
  const first = [...site.forums.values()]
    .map((it) => ({ it, weight: weight(it), last: newest(it) }))
    .sort((a, b) => b.weight - a.weight || compare(b.last, a.last) || compare(b.it.id, a.it.id))
    .slice(0, MAX_FORUMS);
  const chosen = new Set(first.map(({ it }) => it));
  return sections
    .map(({ title, forums }) => ({ title, forums: forums.filter((it) => chosen.has(it)) }))
    .filter(({ forums }) => forums.length);
}
