import { displayName } from '../core/displayname.js';
import { onReconnect } from '../state/siteevents.js';
import { topicRow } from '../parts/lists/topicrow.js';
import { topicAddress } from '../core/router.js';
import { tagLinks } from './topictags.js';

const MAX_TAGS = 3;
/** The chosen order, in the local storage. */
export const KEY = 'topicOrder';
/** Changes of a list within this time lead to one request, in milliseconds: at first, and after a request. */
const GATHERS = 500;
const INTERVAL = 5_000;

/** The order of lists: `created`, or undefined for that by activity. */
export const topicOrder = () => (localStorage.getItem(KEY) === 'created' ? 'created' : undefined);

/** Applies changes since a list of topics was fetched. New messages don't change the revision. */
export const latestTopics = (site, list) =>
  list.map((it) => {
    const own = site.parley?.conversation(it.id);
    return own?.revision >= it.revision ? { ...it, ...own, last_seq: Math.max(it.last_seq ?? 0, own.last_seq ?? 0) } : it;
  });

/**
 * Calls `load` soon after a topic of the forum was started, changed, deleted or got a message, and after a lost connection: one call at
 * a time, with pauses of some seconds in a busy forum, and none in a hidden tab before it is shown. Returns the function that ends it.
 */
export function onTopicActivity(site, forum, load) {
  let timer = null;
  let last = 0;
  let [isWanted, isHeld, isEnded] = [false, false, false];
  const run = async () => {
    isHeld = document.hidden;
    if (isHeld) return;
    isWanted = false;
    last = Date.now();
    await load().catch(() => {});
    timer = null;
    if (isWanted && !isEnded) soon();
  };
  const soon = () => {
    isWanted = true;
    const pause = last + INTERVAL * (1 + Math.random() / 2) - Date.now();
    timer ??= setTimeout(run, Math.max(GATHERS, pause));
  };
  const shown = () => isHeld && !document.hidden && run();
  document.addEventListener('visibilitychange', shown);
  const ends = [
    // The room is not in the list.
    site.listen(['forumActivity'], ({ detail }) => detail.forum_id === forum.id && detail.conversation_id !== forum.room_id && soon()),
    site.listen(['event'], ({ detail: { event, stream } }) => event.startsWith('conversation.') && stream === `forum:${forum.id}` && soon()),
    onReconnect(site, soon),
  ];
  return () => {
    isEnded = true;
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', shown);
    for (const end of ends) end();
  };
}

/** The rows of a forum's topics; also beside an open topic on a wide screen. */
export function topicRows(site, list, here = null) {
  const topics = latestTopics(site, list);
  if (!topicOrder()) topics.sort((a, b) => Number(b.pinned) - Number(a.pinned));
  return topics.map((it) => {
    const own = site.conversations.get(it.id);
    const author = site.user(it.created_by);
    const last = own?.last_message;
    const lastID = last?.author_id ?? it.authors?.[1];
    const lastAuthor = lastID && site.user(lastID);
    return topicRow(it, {
      href: topicAddress(it),
      people: lastAuthor && lastAuthor !== author ? [author, lastAuthor] : [author],
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
