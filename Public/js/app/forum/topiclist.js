// The topics of a forum with a filter, a tag and an order: as they were seen last at once, and from the server as soon as it answers.

import { showAnswer } from '../../parley/answers.js';
import { sayProblem } from '../core/text/text.js';
import { toast } from '../parts/overlays/toast.js';
import { cachedTopics } from '../state/forums.js';
import { latestTopics } from './topicrows.js';

/** Topics per request. */
const PAGE = 50;

/** `draw` is called after each change. */
export function topicList(site, forum, { filter, tag, order }, draw) {
  const name = ['topics of', forum.id, filter, tag && `#${tag}`, order].filter(Boolean).join(' ');
  let list = [];
  let next = null;
  /** Offline, and never seen before. */
  let isMissing = false;
  const fetchPage = async (from) => {
    const query = { next: from, limit: PAGE, include: 'users', filter, tag, order };
    const page = await site.call('GET', `/forums/${forum.id}/conversations`, { query });
    site.keepUsers(page.included.users);
    return { data: page.data, next: page.next };
  };
  const add = (topics) => {
    const listed = new Set(list.map(({ id }) => id));
    list.push(...topics.filter(({ id }) => !listed.has(id)));
  };
  const show = (page) => {
    list = [...page.data];
    next = page.next;
    isMissing = false;
    draw();
  };
  const failed = (error) => {
    if (!error.isTemporary) return toast(sayProblem(error));
    // Offline: also the other topics on this device.
    if (!filter) add(cachedTopics(site, forum));
    return draw();
  };
  return {
    load: () =>
      showAnswer(site.parley, name, () => fetchPage(null), show, failed).catch((error) => {
        if (!error.isTemporary || !site.parley) throw error;
        isMissing = true;
        failed(error);
      }),
    async loadMore() {
      const page = await fetchPage(next);
      add(page.data);
      next = page.next;
      draw();
    },
    /** Loads the first page again. */
    async renew() {
      const { data, next: hasMore } = await fetchPage(null);
      const fresh = new Set(data.map(({ id }) => id));
      // A topic that is not on a page of all of them is deleted, or matches the filter no more.
      list = hasMore ? [...data, ...list.filter(({ id }) => !fresh.has(id))] : data;
      draw();
    },
    /** The topics as they are now: an edit may have added or removed the tag. */
    topics: () => latestTopics(site, list).filter((it) => !tag || it.tags?.includes(tag)),
    hasMore: () => !!next,
    isMissing: () => isMissing,
  };
}
