// Facts about another user beside the profile: the forums in common, and the latest topics.

import { el } from '../core/dom.js';
import { forumAddress } from '../core/router.js';
import { loadSheet } from '../core/sheet.js';
import { loadMoreText, say } from '../core/text/text.js';
import { forumPicture } from '../parts/user/forumpicture.js';

const MAX_FORUMS = 5;
const MAX_TOPICS = 3;

/** Links to the forums that both have joined; null without any, and without a network. */
export async function sharedForums(site, user) {
  const asked = site.call('GET', '/forums', { query: { shared_with: user.id, limit: MAX_FORUMS }, tries: 1 });
  const [found] = await Promise.all([asked.catch(() => null), loadMoreText(), loadSheet('/css/parts/user/facts.css')]);
  if (!found?.data.length) return null;
  return el(
    'nav.user-forums',
    { aria: { label: say('user.shared') } },
    el('h3.second', null, say('user.shared')),
    el('div.chips', null, found.data.map((it) =>
      el('a.chip', { href: forumAddress(it) }, forumPicture(it), el('bdi', null, it.title)))),
  );
}

/** The latest topics that the user has started, as far as the viewer may read them. */
export async function latestTopics(site, user) {
  const asked = site.call('GET', '/messages/search', { query: { author: user.id, kind: 'topic', limit: MAX_TOPICS }, tries: 1 });
  const [found] = await Promise.all([asked.catch(() => null), loadMoreText()]);
  if (!found?.data.length) return null;
  return el(
    'section',
    null,
    el('h2.section-title', null, say('user.topics')),
    found.data.map(({ conversation_id: id, title, forum_id: forum }) =>
      el('a.hit', { href: `/t/${id}` }, el('span.one-line', { dir: 'auto' }, title), el('span.second.one-line', { dir: 'auto' }, site.forums.get(forum)?.title ?? ''))),
  );
}
