// The search in messages.

/** Searches on the server; offline in the cache. */
export async function searchMessages(site, query, signal) {
  try {
    const page = await site.call('GET', '/messages/search', { query: { ...query, include: 'users,conversations' }, signal, tries: 1 });
    site.keepUsers(page.included.users);
    for (const it of page.included.conversations) if (!site.knownConversation(it.id)) site.others.set(it.id, it);
    return { data: page.data, next: page.next, counts: page.counts, isHeld: false };
  } catch (error) {
    // The cache has no search in titles.
    if (!site.parley || query.kind === 'topic' || !(error.isTemporary || [400, 404, 405].includes(error.status))) throw error;
    const { has, q, language, limit, conversation, author, mention, after_time } = query;
    const named = (wanted) => (wanted === 'me' ? site.me : [...site.users.values()].find((it) => `@${it.name}` === wanted));
    const names = await namesOfFiles(site);
    const held = await site.parley.searchCache(
      {
        file_names: names,
        q, language, limit, conversation, after_time,
        ...(['file', 'link'].includes(has) ? { has } : {}),
        ...(author ? { author: named(author)?.id ?? '' } : {}),
        ...(mention ? { mention: named(mention)?.name ?? '' } : {}),
      },
      signal,
    );
    const namesIn = ({ attachments = [] }) => attachments.map((id) => names.get(id)).filter(Boolean);
    return { data: held.map((message) => ({ message, names: namesIn(message) })), isHeld: true };
  }
}

/** The names of the files whose facts are on this device, by id. */
async function namesOfFiles({ parley }) {
  const kept = await import('./keptfiles.js').then((it) => it.keptFiles(parley)).catch(() => []);
  return new Map([...kept].map(([id, { name }]) => [id, name]));
}
