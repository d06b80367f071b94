// The liveliest topics: of each forum the one with the newest activity, as `GET /forums` lists it.

import { displayName } from '../core/displayname.js';
import { topicAddress } from '../core/router.js';
import { livelyTopics } from '../parts/livelytopics.js';

const MAX = 3;

/** The list of them; null if there are none. The event "forums" announces others. */
export function lively(site) {
  const all = [...site.activity.values()].filter((it) => it.last_topic);
  const newest = all.sort((a, b) => Date.parse(b.last_topic.last_activity_at) - Date.parse(a.last_topic.last_activity_at));
  return livelyTopics(
    newest.slice(0, MAX).map(({ title: forum, last_topic: topic }) => ({
      title: topic.title,
      href: topicAddress(topic),
      forum,
      writer: displayName(site.person(topic.author_id)),
      at: topic.last_activity_at,
    })),
  );
}

/** Fetches the forums with their topics, unless they are known. */
export function loadLively(site) {
  if (!site.activity.size) site.loadForums().catch(() => {});
}
