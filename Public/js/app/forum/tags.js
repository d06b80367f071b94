// Hashtags of cached messages.

/** Limits of the search for hashtags: the most recently active conversations, and the newest messages of each. */
const CONVERSATIONS = 20;
const MESSAGES = 100;
/** Cache time of the result, in milliseconds. */
const FRESH = 60_000;

/** Hashtags with this beginning, the most used first. @returns {Promise<string[]>} */
export async function findTags(site, start) {
  const { parley } = site;
  if (!parley) return [];
  if (!(performance.now() - findTags.at < FRESH) || findTags.of !== parley) {
    findTags.found = await countTags(parley);
    [findTags.at, findTags.of] = [performance.now(), parley];
  }
  const wanted = start.toLowerCase();
  const fitting = [...findTags.found].filter(([name]) => name.toLowerCase().startsWith(wanted));
  return fitting.sort(([, one], [, other]) => other - one).map(([name]) => name);
}

async function countTags({ store, conversations }) {
  const pages = await Promise.all(
    conversations.slice(0, CONVERSATIONS).map(({ id }) =>
      store.list('messages', { from: [id], to: [id, []], limit: MESSAGES, newestFirst: true }),
    ),
  );
  const counts = new Map();
  for (const message of pages.flat())
    for (const { name } of message.entities?.hashtags ?? []) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}
