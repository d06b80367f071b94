// Direct and group conversations.

import { el, icon, redraw, spoken } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { avatar, avatarPair } from '../parts/user/avatar.js';
import { badge } from '../parts/navigation/badge.js';
import { button, iconButton } from '../parts/forms/button.js';
import { empty } from '../parts/lists/empty.js';
import { presenceWords, withPresence } from '../parts/user/presence.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { excerpt } from '../core/text/plain.js';
import { conversationAddress } from '../core/router.js';
import { conversationTitle, othersIn, ownConversations, presenceIn } from '../core/titles.js';
import { say } from '../core/text/text.js';
import { time } from '../core/text/times.js';

export async function open(shell) {
  const { site } = shell;
  const column = el('div.page-column');
  const draw = () => {
    const conversations = ownConversations(site);
    redraw(
      column,
      conversations.length
        ? conversations.map((it) => conversationRow(site, it))
        : empty(say('conversation.none'), {
            picture: 'messages',
            actions: [
              button(say('act.newConversation'), {
                kind: 'primary',
                picture: 'plus',
                on: () => shell.go('/messages/new'),
              }),
            ],
          }),
    );
  };
  draw();
  const unlisten = site.listen(['conversations', 'users', 'presence'], draw);
  return {
    title: say('navigation.messages'),
    here: '/messages',
    node: [
      pageBar(say('navigation.messages'), {
        state: site.state,
        actions: [
          // The bar at the foot of a phone has four links, without the feed.
          el('a.icon-button.phone-only', { href: '/feed', title: say('navigation.feed'), aria: { label: say('navigation.feed') } }, icon('globe')),
          site.me.role !== 'guest' && iconButton('users', say('navigation.members'), { on: () => shell.go('/members'), data: { act: 'members' } }),
          iconButton('plus', say('act.newConversation'), {
            on: () => shell.go('/messages/new'),
            data: { act: 'newConversation' },
          }),
        ].filter(Boolean),
      }),
      el('div.page-body', null, column),
    ],
    close: unlisten,
  };
}

/** A conversation in a list: title, last message, time, unread count. */
export function conversationRow(site, conversation, { title = conversationTitle(site, conversation), loud = true } = {}) {
  const others = othersIn(site, conversation);
  const presence = presenceIn(site, conversation);
  const last = conversation.last_message;
  const author = last && site.user(last.author_id);
  const words = !last ? '' : last.deleted ? say('gone.author') : excerpt(last, 120);
  const unread = conversation.level === 'nothing' ? 0 : (conversation.unread_count ?? 0);
  return el(
    'a.inbox-row',
    { href: conversationAddress(conversation), class: unread ? 'is-unread' : '' },
    others.length > 1 ? avatarPair(others) : withPresence(avatar(others[0] ?? author), presence),
    el(
      'span.inbox-row-words',
      null,
      el(
        'span.inbox-row-head',
        null,
        el('span.one-line', { dir: 'auto' }, title, presence && spoken(` ${presenceWords(presence)}`)),
        last && el('span.mark', null, time(last.created_at)),
      ),
      el(
        'span.second.one-line',
        { dir: 'auto' },
        author && others.length !== 1 && [el('bdi', null, displayName(author)), ': '],
        words,
      ),
    ),
    badge(unread, { loud }),
  );
}
