// The home page: notifications, then unread conversations by forum.

import { el, redraw } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { badge } from '../parts/badge.js';
import { button } from '../parts/button.js';
import { empty } from '../parts/empty.js';
import { pageBar } from '../parts/sidebar.js';
import { avatar } from '../parts/avatar.js';
import { topicRow } from '../parts/topicrow.js';
import { plain } from '../core/plain.js';
import { forumAddress, conversationAddress } from '../core/router.js';
import { forumIcon } from '../core/titles.js';
import { say } from '../core/text.js';
import { moment, time } from '../core/times.js';
import { conversationRow } from './messages.js';

export async function open(shell) {
  const { site } = shell;
  const column = el('div.page-column');
  let items = await site.loadInbox();
  const readAll = button(say('inbox.readAll'), { kind: 'quiet', on: () => shell.markAllRead() });
  const draw = () => {
    const shown = content(shell, items);
    readAll.hidden = !shown.isUnread;
    redraw(column, shown.nodes);
  };
  const reload = async () => {
    items = await site.loadInbox();
    draw();
  };
  draw();
  const unlisten = site.listen(['conversations', 'users', 'forums', 'me'], draw);
  site.addEventListener('inbox', reload);
  return {
    title: say('place.inbox'),
    here: '/',
    node: [
      pageBar(say('place.inbox'), {
        state: site.state,
        actions: [readAll],
      }),
      el('div.page-body', null, column),
    ],
    close: () => {
      unlisten();
      site.removeEventListener('inbox', reload);
    },
    pressed: (event) => {
      if (event.key !== 'Escape' || event.shiftKey) return false;
      document.activeElement?.blur?.();
      return true;
    },
  };
}

function content(shell, items) {
  const { site } = shell;
  const isUnread = (it) => it.unread_count > 0 && it.level !== 'nothing';
  const talks = site.talks().filter(isUnread);
  const inForums = [...site.conversations.values()].filter((it) => it.forum_id && isUnread(it));
  const forums = [...site.forums.values()]
    .map((forum) => ({
      forum,
      unread: inForums.filter((it) => it.forum_id === forum.id).sort((a, b) => b.unread_count - a.unread_count),
    }))
    .filter((it) => it.unread.length);
  if (!talks.length && !forums.length && !items.length) return { nodes: nothing(shell), isUnread: false };
  const nodes = [
    (talks.length > 0 || items.length > 0) && el('h2.section-title', null, say('inbox.forYou')),
    items.map((it) => itemRow(site, it)),
    talks.map((it) => conversationRow(site, it)),
    forums.map(({ forum, unread }) => [
      el(
        'div.section-head',
        null,
        el(
          'h2.section-title',
          null,
          el(
            'a.section-link',
            { href: forumAddress(forum) },
            el('img', { src: forumIcon(forum), alt: '', width: 20, height: 20 }),
            forum.title,
          ),
        ),
      ),
      unread.map((it) => (it.kind === 'room' ? roomRow(site, forum, it) : unreadTopic(site, it))),
    ]),
  ];
  return { nodes, isUnread: true };
}

function itemRow(site, item) {
  const author = site.person(item.actor_id ?? item.message?.author_id);
  const href =
    item.kind === 'report'
      ? '/admin/reports'
      : item.kind === 'warning'
        ? '/you'
        : item.kind === 'token'
          ? '/you/tokens'
          : item.message_id
            ? `/m/${item.message_id}`
            : `/c/${item.conversation_id}`;
  return el(
    'a.inbox-row',
    { href, class: item.read_at ? '' : 'is-unread' },
    avatar(author),
    el(
      'span.inbox-row-words',
      null,
      el(
        'span.inbox-row-head',
        null,
        el('span.one-line', null, say(`inbox.${item.kind}`, { name: displayName(author) })),
        item.created_at && el('span.mark', null, time(item.created_at)),
      ),
      el('span.second.one-line', null, plain(item.message?.text ?? '', 140)),
    ),
    badge(item.read_at ? 0 : 1, { loud: true }),
  );
}

function roomRow(site, forum, room) {
  const last = room.last_message;
  const author = last && site.person(last.author_id);
  return topicRow(
    { title: say('forum.room') },
    {
      href: forumAddress(forum, 'room'),
      unread: room.unread_count,
      replies: room.last_seq,
      at: last?.created_at,
      author: author && `${displayName(author)}: ${plain(last.text ?? '', 80)}`,
    },
  );
}

function unreadTopic(site, topic) {
  const author = site.person(topic.created_by);
  const last = topic.last_message && site.person(topic.last_message.author_id);
  return topicRow(topic, {
    href: conversationAddress(topic),
    author: displayName(author),
    last: last && displayName(last),
    at: topic.last_message?.created_at,
    unread: topic.unread_count,
    replies: Math.max(0, topic.last_seq - 1),
  });
}

function nothing(shell) {
  const { site } = shell;
  let newest = null;
  for (const it of site.conversations.values()) {
    const at = it.last_message?.created_at;
    if (at && (!newest || at > newest)) newest = at;
  }
  return empty(say('inbox.empty'), {
    picture: 'check',
    second: newest ? say('inbox.last', { at: moment(new Date(newest)) }) : null,
    actions: [button(say('place.forums'), { on: () => shell.go('/forums') })],
  });
}
