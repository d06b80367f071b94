// The liveliest topics, for newcomers: of each forum the one with the newest activity, as `GET /forums` lists it.

import { displayName } from '../core/displayname.js';
import { redraw } from '../core/dom.js';
import { topicAddress } from '../core/router.js';
import { loadSheet } from '../core/sheet.js';
import { livelyTopics } from '../parts/lists/livelytopics.js';
import { loadForums } from '../state/forums.js';

const MAX = 3;

/** Fills an element with them. Resolves to the function that draws them again. */
export async function fillWithLively(site, node) {
  await Promise.all([loadSheet('/css/parts/lists/lively.css'), site.activity.size || loadForums(site)]);
  const draw = () => redraw(node, list(site));
  draw();
  return draw;
}

function list(site) {
  const forums = [...site.activity.values()].filter((it) => it.last_topic);
  const newest = forums.sort((a, b) => Date.parse(b.last_topic.last_activity_at) - Date.parse(a.last_topic.last_activity_at));
  return livelyTopics(
    newest.slice(0, MAX).map(({ title: forum, last_topic: topic }) => ({
      title: topic.title,
      href: topicAddress(topic),
      forum,
      writer: displayName(site.user(topic.author_id)),
      at: topic.last_activity_at,
    })),
  );
}
