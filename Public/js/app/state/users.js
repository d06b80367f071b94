// Users by id, and by the start of their names.

/** Fetches a user that a page shows; the event "users" announces it. Resolves to null if there is none to see. */
export async function requestUser(site, id) {
  const found = await site.call('GET', `/users/${encodeURIComponent(id)}`).catch(() => null);
  if (!found) return null;
  site.users.set(found.id, found);
  site.sayOnce('users');
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
