// Forums in their order, and their conversations.

import { compare } from '../core/order.js';

const MAX_FORUMS = 500;

/** Fetches the forums with their activity. Cached forums stay as they are. */
export async function loadForums(site) {
  const forums = new Map();
  let next;
  do {
    const page = await site.call('GET', '/forums', { query: { next, include: 'users' } });
    site.keepUsers(page.included.users);
    for (const it of page.data) {
      forums.set(it.id, it);
      site.activity.set(it.id, it);
    }
    next = page.next;
  } while (next && forums.size < MAX_FORUMS);
  if (!site.isFollowed) site.forums = forums;
  else for (const [id, it] of forums) if (!site.forums.has(id)) site.forums.set(id, it);
  site.say('forums');
}

/** Whether the user may join a forum, as far as known: readers may, guests and groups of a private one are added by others. */
export function canJoin(site, forum) {
  if (!site.me || !forum || forum.role || forum.archived || site.me.role === 'guest') return false;
  return forum.visibility !== 'private' || site.isStaff;
}

/**
 * The forums by sections, both in the order of the staff, or within a section the last active first.
 * @param {object} site @param {((forum: object) => string) | false} [newest] of `newestByForum`, for the order by activity
 */
export function forumSections(site, newest) {
  const sections = new Map();
  const inOrder = [...site.forums.values()].sort((a, b) => a.position - b.position || compare(a.id, b.id));
  for (const it of inOrder) {
    const title = it.section ?? null;
    if (!sections.has(title)) sections.set(title, []);
    sections.get(title).push(it);
  }
  if (newest) for (const forums of sections.values()) forums.sort((a, b) => compare(newest(b), newest(a)));
  return [...sections].map(([title, forums]) => ({ title, forums }));
}

/** Returns a function: the time of the newest message of a forum as far as known, or an empty text. */
export function newestByForum(site) {
  const newest = new Map([...site.activity].map(([id, it]) => [id, it.last_activity_at ?? '']));
  for (const { forum_id: id, last_message: last } of site.conversations.values())
    if (id && last?.created_at > (newest.get(id) ?? '')) newest.set(id, last.created_at);
  return (forum) => newest.get(forum.id) ?? '';
}

/** The cached topics of a forum, last active first. */
export function cachedTopics(site, forum) {
  const active = (it) => it.last_message_id ?? it.id;
  const isHere = (it) => it.kind === 'topic' && it.forum_id === forum.id;
  return [...site.parley.mirror.conversations.values()].filter(isHere).sort((a, b) => compare(active(b), active(a)));
}

/** The numbers of unread messages by forum, without muted conversations. */
export function unreadByForum(site) {
  const unread = new Map();
  for (const { forum_id: id, level, unread_count: count } of site.conversations.values())
    if (id && count && level !== 'nothing') unread.set(id, (unread.get(id) ?? 0) + count);
  return unread;
}
