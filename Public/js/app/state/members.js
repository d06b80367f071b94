// The members of a room, for its head.

/** Returns the number of members of a room, and their ids if they fit on one page; null if unknown. */
export function membersIn(site, room) {
  return site.peopleOf.get(room.id) ?? null;
}

export async function loadMembers(site, room) {
  const page = await site.call('GET', `/conversations/${room.id}/participants`, { query: { limit: 200 }, tries: 1 });
  const ids = page.next ? [] : page.data.map((it) => it.user_id);
  const n = page.next ? (await site.call('GET', `/forums/${room.forum_id}`, { tries: 1 })).member_count : ids.length;
  site.peopleOf.set(room.id, { n, ids });
}

/** Returns the number of these users that are online, the user included. */
export function countOnline(site, ids) {
  return ids.filter((id) => id === site.me?.id || site.presenceOf(id)?.presence === 'online').length;
}
