// The content of the sidebar and the bottom bar: forums, conversations and numbers of unread messages.

import { conversationAddress, forumAddress } from '../core/router.js';
import { conversationTitle, forumIcon, othersIn, ownConversations, presenceIn } from '../core/titles.js';
import { forumSections, unreadByForum } from '../state/forums.js';
import { compare } from '../core/order.js';

/** Maximum number of forums in the sidebar. */
const MAX_FORUMS = 50;
const MAX_CONVERSATIONS = 30;

/** Unread counts: messages in conversations; and with these the mentions and notices, as many as the inbox has rows. */
export function unreadCounts(site) {
  const messages = ownConversations(site).reduce((sum, it) => sum + (it.level === 'nothing' ? 0 : (it.unread_count ?? 0)), 0);
  return { messages, all: site.overview.mentions + messages };
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
    sections: listedForums(site, here, inForums).map(({ title, forums }) => ({
      title,
      forums: forums.map((it) => ({
        id: it.id,
        title: it.title,
        href: forumAddress(it),
        icon: forumIcon(it),
        unread: inForums.get(it.id) ?? 0,
        topics: site.overview.newTopicsOf(it.id),
      })),
    })),
    conversations: ownConversations(site).slice(0, MAX_CONVERSATIONS).map((it) => ({
      title: conversationTitle(site, it),
      href: conversationAddress(it),
      users: othersIn(site, it),
      presence: presenceIn(site, it),
      unread: it.level === 'nothing' ? 0 : it.unread_count,
    })),
    on,
  };
}

/**
 * The forums of the sidebar by section. Of many forums the most relevant: the open one, those with unread messages, the
 * user's own, then the most recently active.
 */
function listedForums(site, here, unread) {
  const sections = forumSections(site);
  if (site.forums.size <= MAX_FORUMS) return sections;
  const weight = (it) =>
    (forumAddress(it) === here ? 4 : 0) + (unread.get(it.id) || site.overview.newTopicsOf(it.id) ? 2 : 0) + (site.conversations.has(it.room_id) ? 1 : 0);
  const first = [...site.forums.values()]
    .map((it) => ({ it, weight: weight(it), last: it.last_message_id ?? it.id }))
    .sort((a, b) => b.weight - a.weight || compare(b.last, a.last))
    .slice(0, MAX_FORUMS);
  const chosen = new Set(first.map(({ it }) => it));
  return sections
    .map(({ title, forums }) => ({ title, forums: forums.filter((it) => chosen.has(it)) }))
    .filter(({ forums }) => forums.length);
}
