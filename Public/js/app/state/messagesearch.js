// The search in messages.

/** Searches on the server; offline in the cache. */
export async function searchMessages(site, query, signal) {
  try {
    const page = await site.call('GET', '/messages/search', { query: { ...query, include: 'users' }, signal, tries: 1 });
    site.keepUsers(page.included.users);
    return { data: page.data, next: page.next, counts: page.counts, isHeld: false };
  } catch (error) {
    // The cache has no search in titles.
    if (!site.parley || query.kind === 'topic' || !(error.isTemporary || [400, 404, 405].includes(error.status))) throw error;
    const { has, q, language, limit, conversation, author, mention, after_time } = query;
    const named = (wanted) => (wanted === 'me' ? site.me : [...site.users.values()].find((it) => `@${it.name}` === wanted));
    const held = await site.parley.searchCache(
      {
        q, language, limit, conversation, after_time,
        ...(['file', 'link'].includes(has) ? { has } : {}),
        ...(author ? { author: named(author)?.id ?? '' } : {}),
        ...(mention ? { mention: named(mention)?.name ?? '' } : {}),
      },
      signal,
    );
    return { data: held.map((message) => ({ message })), isHeld: true };
  }
}
