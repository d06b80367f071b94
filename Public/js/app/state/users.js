// Users by id or name, and by the start of their names.

/** A user by id, fetched if unknown; null if there is none to see. */
export async function fetchUser(site, id) {
  if (!site.users.has(id)) {
    const found = await site.call('GET', `/users/${encodeURIComponent(id)}`).catch(() => null);
    if (found) site.keepUsers([found]);
  }
  return site.users.get(id) ?? null;
}

/** Fetches a user that a page shows; the event "users" announces it. Resolves to null if there is none to see. */
export async function requestUser(site, id) {
  const found = await site.call('GET', `/users/${encodeURIComponent(id)}`).catch(() => null);
  if (!found) return null;
  site.users.set(found.id, found);
  site.sayOnce('users');
  return found;
}

/** @param {string} name a name without `@`, or an id */
export async function userNamed(site, name) {
  for (const it of site.users.values()) if (it.name === name) return it;
  const found = await site.call('GET', `/users/${/^\d+$/.test(name) ? name : `@${encodeURIComponent(name)}`}`);
  site.keepUsers([found]);
  return found;
}

/** Finds users by the start of their name or of a word of their display name; offline among cached users. */
export async function findUsers(site, start) {
  try {
    const page = await site.call('GET', '/users', { query: { query: start || undefined, limit: 20 }, tries: 1 });
    site.keepUsers(page.data);
    return page.data;
  } catch (error) {
    if (error.code !== 'network') throw error;
    const wanted = (start ?? '').toLowerCase();
    return [...site.users.values()].filter((it) =>
      [it.name, it.display_name, ...(it.display_name ?? '').split(/\s+/)].some((name) => name?.toLowerCase().startsWith(wanted)),
    );
  }
}
