// Messages of feeds in the library's cache. Timelines and lists of replies name single messages of many conversations; the
// cache keeps them as pages of these.

import { moveCursor } from '../../../parley/ids.js';

/** The newest event of the feeds that this tab has received, by the library's object. The cursor may be before it. */
const newest = new WeakMap();

/** Notes the events that arrive from now on. */
export function noteEvents({ parley }) {
  if (newest.has(parley)) return;
  newest.set(parley, 0);
  parley.on('event', ({ id }) => newest.set(parley, Math.max(newest.get(parley), Number(id))));
}

/** A cursor that the answer of a request from now on is not older than. */
function cursorNow(parley) {
  const { cursor, lastEvent } = parley.mirror;
  return moveCursor(cursor, Math.max(lastEvent, newest.get(parley) ?? 0));
}

/** The user's own feed; null before the first post. */
export function ownFeed({ parley, me }) {
  return [...parley.mirror.conversations.values()].find((it) => it.kind === 'feed' && it.owner_id === me?.id) ?? null;
}

/** Whether posts and replies of a user are left out. */
export function isIgnored({ parley }, id) {
  const relation = parley.mirror.relations.get(id);
  return !!(relation?.mute || relation?.block);
}

/** The page that `load` answers, with its messages and the posts of its reposts as cached, and its users kept. */
export async function loadPage(site, load) {
  const { parley } = site;
  const asked = parley.pages.now();
  const cursor = cursorNow(parley);
  const page = await load();
  site.keepUsers(page.included?.users ?? []);
  const groups = new Map();
  const posts = page.included?.messages ?? [];
  for (const it of [...page.data, ...posts]) groups.set(it.conversation_id, [...(groups.get(it.conversation_id) ?? []), it]);
  // A thread needs its feed also without a network.
  for (const id of groups.keys()) if (!parley.conversation(id)) parley.renew(`conversation:${id}`);
  const cached = new Map();
  for (const [id, data] of groups) {
    // A cache that fails hides no answer, and a restarted server is asked again at the next change.
    const stored = await parley.pages.keep(id, { data, cursor, latest_seq: 0, skipped: [] }, { asked }).catch(() => null);
    for (const it of stored ?? data) cached.set(it.id, it);
  }
  const kept = (all) => all.map((it) => cached.get(it.id));
  return { ...page, data: kept(page.data), posts: kept(posts) };
}

/** The cached messages with these ids, in their order. */
export async function cachedMessages({ parley }, ids) {
  const found = await Promise.all(ids.map((id) => parley.store.get('messages@id', id).catch(() => null)));
  return found.filter(Boolean);
}
