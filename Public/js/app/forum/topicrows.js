import { displayName } from '../core/displayname.js';
import { topicRow } from '../parts/topicrow.js';
import { topicAddress } from '../core/router.js';
import { tagLinks } from './topictags.js';

const MAX_TAGS = 3;

/** Applies changes since a list of topics was fetched. */
export const latestTopics = (site, list) =>
  list.map((it) => {
    const own = site.parley?.conversation(it.id);
    return own?.revision > it.revision ? { ...it, ...own } : it;
  });

/** The rows of a forum's topics; also beside an open topic on a wide screen. */
export function topicRows(site, list, here = null) {
  const pinnedFirst = latestTopics(site, list).sort((a, b) => Number(b.pinned) - Number(a.pinned));
  return pinnedFirst.map((it) => {
    const own = site.conversations.get(it.id);
    const author = site.person(it.created_by);
    const last = own?.last_message;
    const lastID = last?.author_id ?? it.authors?.[1];
    const lastAuthor = lastID && site.person(lastID);
    return topicRow(it, {
      href: topicAddress(it),
      author: displayName(author),
      last: lastAuthor && displayName(lastAuthor),
      at: last?.created_at ?? it.last_activity_at ?? it.created_at,
      excerpt: it.excerpt,
      isNew: site.overview.isKnown ? site.overview.isNew(it.id) || (it.is_new && !site.overview.seen.has(it.id)) : it.is_new,
      unread: own?.level === 'nothing' ? 0 : (own?.unread_count ?? 0),
      replies: Math.max(0, it.last_seq - 1),
      isHere: it.id === here,
      tags: tagLinks(site.forums.get(it.forum_id), it.tags, MAX_TAGS),
    });
  });
}
