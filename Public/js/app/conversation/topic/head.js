// The title of a topic above its posts.

import { el, icon, redraw } from '../../core/dom.js';
import { forumAddress } from '../../core/router.js';
import { say } from '../../core/text/text.js';
import { time } from '../../core/text/times.js';
import { tagLinks } from '../../forum/topictags.js';
import { followButton } from './following.js';

/** The title of a topic with its signs, redrawn with it. */
export function topicHead(page) {
  const { site, stream, conversation } = page;
  const node = el('header.stream-head');
  const draw = () => {
    const follow = site.me && followButton(site, conversation, page.now, draw);
    redraw(node, topicTitle(page.now(), page.forum, stream, follow));
  };
  draw();
  page.listen(site, ['conversations', 'forums'], draw);
  // The answer may have been deleted.
  page.listen(stream, ['change'], () => page.now().solved_by && draw());
  return node;
}

function topicTitle(conversation, forum, stream, follow) {
  const { solved_by: answer } = conversation;
  const isGone = stream.shown.some((it) => it.id === answer && it.deleted);
  return [
    el('h2.page-title', null, el('bdi', null, conversation.title)),
    el(
      'div.stream-head-line',
      null,
      el(
        'p.second',
        null,
        forum ? el('a', { href: forumAddress(forum) }, el('bdi', null, forum.title)) : '',
        ' · ',
        time(conversation.created_at),
      ),
      follow,
    ),
    tagLinks(forum, conversation.tags),
    (answer || conversation.locked) &&
      el(
        'p.topic-signs',
        null,
        answer &&
          (isGone
            ? el('span.topic-solved', null, icon('check'), say('topic.solved'))
            : el('a.topic-solved', { href: `/m/${answer}` }, icon('check'), say('topic.toAnswer'))),
        conversation.locked && el('span', null, icon('lock'), say('topic.locked')),
      ),
  ];
}
