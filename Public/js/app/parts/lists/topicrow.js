import { el, icon, spoken } from '../../core/dom.js';
import { arrow, isolate, number, say } from '../../core/text/text.js';
import { time } from '../../core/text/times.js';
import { avatarPair } from '../user/avatar.js';

/** A topic in a list: faces and names of its first and last author, title, excerpt, number of replies, unread count; a dot if it is new. Its tags are links of their own. */
export function topicRow(topic, { href, people, author, last, at, excerpt, isNew = false, unread = 0, forum, replies = 0, isHere = false, tags } = {}) {
  const names = [isolate(author), last && last !== author ? `${arrow()} ${isolate(last)}` : null].filter(Boolean).join(' ');
  const row = el(
    'a.topic-row',
    { href, class: unread || isNew ? 'is-unread' : '', aria: { current: isHere ? 'page' : null } },
    avatarPair(people),
    el(
      'span.topic-row-words',
      null,
      el(
        'span.topic-row-title',
        null,
        isNew && [el('span.topic-row-dot', { title: say('topic.new') }, spoken(say('topic.new'))), ' '],
        topic.pinned && [icon('pin', say('topic.pinned')), ' '],
        topic.locked && [icon('lock', say('topic.locked')), ' '],
        topic.solved_by && [icon('check', say('topic.solved')), ' '],
        el('bdi', null, topic.title),
      ),
      excerpt && el('span.second.one-line', { dir: 'auto' }, excerpt),
      el('span.second.one-line', null, names, at && ' · ', at && time(at), forum && ` · ${isolate(forum)}`),
    ),
    el(
      'span.topic-row-counts.count',
      null,
      unread ? el('span.topic-row-new', null, say('list.new', { n: unread, count: number(unread) })) : null,
      el(
        'span.mark',
        { title: say('topic.replies', { n: replies }) },
        number(replies),
        el('span.spoken.topic-row-word', null, say('topic.repliesWord', { n: replies })),
      ),
    ),
  );
  return tags ? el('div.topic-tagged', null, row, tags) : row;
}
