// The menu of a forum's most used tags.

import { number, say, sayProblem } from '../core/text/text.js';
import { menu } from '../parts/overlays/menu.js';
import { toast } from '../parts/overlays/toast.js';
import { topicsAddress } from './topictags.js';
import { cachedTopics } from '../state/forums.js';

/** Maximum number of tags that the server lists. */
const MAX = 10;

/** Opens the menu at its button. A tag leads to its topics, with the chosen filter. */
export async function tagMenu(shell, forum, anchor, { filter, tag: chosen }) {
  try {
    const found = await mostUsed(shell.site, forum);
    if (!found.length) return void toast(say('filter.noTags'));
    const items = found.map(({ tag, count }) => ({
      words: `#${tag}`,
      second: say('filter.topics', { n: count, count: number(count) }),
      isChosen: tag === chosen,
      on: () => shell.go(topicsAddress(forum, { filter, tag: tag === chosen ? null : tag })),
    }));
    menu(anchor, items, anchor.textContent);
  } catch (error) {
    toast(sayProblem(error));
  }
}

/** Offline: of the topics on this device. */
async function mostUsed(site, forum) {
  try {
    return (await site.call('GET', `/forums/${forum.id}/tags`)).data;
  } catch (error) {
    if (!error.isTemporary || !site.parley) throw error;
    const counts = new Map();
    for (const it of cachedTopics(site, forum)) for (const tag of it.tags ?? []) counts.set(tag, (counts.get(tag) ?? 0) + 1);
    const found = [...counts].map(([tag, count]) => ({ tag, count }));
    return found.sort((a, b) => b.count - a.count || (a.tag < b.tag ? -1 : 1)).slice(0, MAX);
  }
}
