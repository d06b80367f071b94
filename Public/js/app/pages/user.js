// A user's page: profile and actions.

import { el, redraw } from '../core/dom.js';
import { loadSheet } from '../core/sheet.js';
import { displayName } from '../core/displayname.js';
import { followButton } from '../feed/follow.js';
import { decisions } from '../moderation/sanctions.js';
import { button } from '../parts/forms/button.js';
import { menu } from '../parts/overlays/menu.js';
import { userCard } from '../parts/user/user.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { say } from '../core/text/text.js';
import { writeTo } from './newconversation.js';
import { userItems } from '../conversation/usermenu.js';
import { latestTopics, sharedForums } from '../conversation/userfacts.js';

/**
 * Shows parts in this order: each waits for those before it, so that no part that is shown moves.
 * @param {(Promise<Element | null> | null | false)[]} parts null for a part that is empty
 */
function inOrder(parts) {
  const node = el('div');
  const ready = parts.map((it) => Promise.resolve(it).catch(() => null));
  const show = async () => {
    for (const it of ready) node.append((await it) || '');
  };
  show();
  return node;
}

/** @param {string} name a name without `@`, or an id */
async function userNamed(site, name) {
  for (const it of site.users.values()) if (it.name === name) return it;
  const found = await site.call('GET', `/users/${/^\d+$/.test(name) ? name : `@${encodeURIComponent(name)}`}`);
  site.keepUsers([found]);
  return found;
}

export async function open(shell, { name }) {
  const { site } = shell;
  const [user] = await Promise.all([userNamed(site, name), loadSheet('/css/parts/user/facts.css')]);
  const isMe = user.id === site.me?.id;
  const decided = site.isModerator && !isMe ? decisions(site, user) : null;
  const written =
    site.me &&
    user.name &&
    el('a.button.button-quiet', { href: `/search?q=${encodeURIComponent(`from:@${user.name}`)}` }, say('user.written', { name: displayName(user) }));
  const follow = site.me && !isMe ? followButton(site, user) : null;
  const actions = !site.me
    ? []
    : isMe
      ? [button(say('settings.profile'), { kind: 'primary', on: () => shell.go('/you/profile') })]
      : [
          button(say('act.write'), { kind: 'primary', picture: 'messages', on: () => writeTo(shell, user) }),
          follow,
          button(say('act.more'), {
            picture: 'more',
            on: (event) => menu(event.currentTarget, userItems(shell, user, () => decided?.again()), say('act.more')),
          }),
        ];
  const drawn = (verbs) =>
    userCard(site.users.get(user.id) ?? user, { actions: verbs, presence: site.presenceOf(user.id) });
  const card = drawn([actions, written || []].flat());
  const verbs = card.querySelector('.user-actions');
  // Buttons keep their nodes, or a press in progress would be lost.
  const draw = () => {
    follow?.update();
    redraw(card, ...drawn([]).children, verbs);
  };
  const section = el('div');
  let posts = null;
  let isClosed = false;
  const filled = site.me && import('./feed.js').then((it) => it.fillWithPosts(shell, user, section));
  if (filled) filled.then((it) => (isClosed ? it?.close() : (posts = it)), () => {});
  const facts = inOrder([
    site.me && !isMe && sharedForums(site, user),
    decided && decided.loaded.then(() => decided),
    site.me && latestTopics(site, user),
    filled && filled.then(() => section),
  ]);
  const unlisten = site.listen(['users', 'presence'], draw);
  return {
    title: displayName(user),
    here: isMe ? '/you' : null,
    node: [
      pageBar(displayName(user), {
        back: () => shell.router.back('/'),
        state: site.state,
      }),
      el(
        'div.page-body',
        null,
        el('div.page-column', null, el('div.user-page', null, card), facts),
      ),
    ],
    pressed: (event) => posts?.pressed(event),
    close() {
      unlisten();
      isClosed = true;
      posts?.close();
    },
  };
}
