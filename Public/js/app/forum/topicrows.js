import { displayName } from '../core/displayname.js';
import { topicRow } from '../parts/topicrow.js';
import { topicAddress } from '../core/router.js';

/** The rows of a forum's topics; also beside an open topic on a wide screen. */
export function topicRows(site, list, here = null) {
  // Applies changes since the list was fetched.
  const fresh = list.map((it) => {
    const own = site.parley?.conversation(it.id);
    return own?.revision > it.revision ? { ...it, ...own } : it;
  });
  const pinnedFirst = fresh.sort((a, b) => Number(b.pinned) - Number(a.pinned));
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
    });
  });
}
