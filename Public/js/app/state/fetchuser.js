/** A user by id, fetched if unknown; null if there is none to see. */
export async function fetchUser(site, id) {
  if (!site.users.has(id)) {
    const found = await site.call('GET', `/users/${encodeURIComponent(id)}`).catch(() => null);
    if (found) site.keepUsers([found]);
  }
  return site.users.get(id) ?? null;
}
