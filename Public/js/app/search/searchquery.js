// The query of the search page, and its request.

import { language } from '../core/text/text.js';
import { searchMessages } from '../state/messagesearch.js';

/** Hits per request. */
export const PAGE = 50;
/** `from:@grace` among the words. */
const FROM = /(?:^|\s)from:@?([^\s"]+)/;

/** The words without the author. */
export const textOf = (words) => words.replace(FROM, ' ').trim();

/** The query of the words and the chosen filters. The first page has the counts of the kinds, unless titles can't match. */
export function queryOf(words, chosen, order) {
  const [, author] = FROM.exec(words) ?? [];
  const { days, ...asked } = Object.fromEntries([...chosen].map((it) => it.split(':')));
  const query = { q: textOf(words) || undefined, language: language(), limit: PAGE, order: order === 'best' ? order : undefined, ...asked };
  if (!query.kind && !query.conversation && !query.has && !query.mention) query.counts = true;
  if (author) query.author = `@${author}`;
  if (days) query.after_time = new Date(Date.now() - Number(days) * 86_400_000).toISOString();
  return query;
}

/** A page of hits, whose conversations are known. */
export async function search(site, query) {
  try {
    return await searchMessages(site, query);
  } catch (error) {
    // An unknown author has no messages.
    if (query.author && error.status === 404) return { data: [] };
    throw error;
  }
}
