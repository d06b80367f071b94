// The card of a user, beside the pressed name. The name leads to the page of the user.

import { displayName } from '../core/displayname.js';
import { loadMoreText, say } from '../core/text/text.js';
import { button, iconButton } from '../parts/forms/button.js';
import { userCard } from '../parts/user/user.js';
import { popover } from '../parts/overlays/popover.js';

export function showUserCard(shell, author, anchor) {
  const { site } = shell;
  const user = site.users.get(author.id) ?? author;
  const isMe = user.id === site.me?.id;
  const write = async () => {
    node.close();
    (await import('../pages/newconversation.js')).writeTo(shell, user);
  };
  const more = async () => {
    node.close();
    (await import('./usermenu.js')).showUserMenu(shell, user, anchor);
  };
  const actions = [
    !isMe && site.me && button(say('act.write'), { kind: 'primary', on: write }),
    !isMe && site.me && iconButton('more', say('act.more'), { on: more }),
  ].filter(Boolean);
  const card = userCard(user, { actions, presence: site.presenceOf(user.id), href: `/u/${encodeURIComponent(user.name)}` });
  card.classList.add('user-in-place');
  const node = popover(anchor, displayName(user), card);
  card.addEventListener('click', ({ target }) => target.closest('a') && node.close());
  if (isMe || !site.me) return;
  addFollowButton(site, user, card.querySelector('.user-actions')).then(() => node.place?.());
  addSharedForums(site, user, card).then(() => node.place?.());
}

async function addSharedForums(site, user, card) {
  try {
    const { sharedForums } = await import('./userfacts.js');
    const forums = await sharedForums(site, user);
    if (forums) card.append(forums);
  } catch {
    // The card does without.
  }
}

/** The button comes after the others, so that none moves. Without a network there is none. */
async function addFollowButton(site, user, actions) {
  try {
    const [{ followButton }] = await Promise.all([import('../feed/follow.js'), loadMoreText()]);
    const node = followButton(site, user);
    actions.append(node);
    const unlisten = site.listen(['users'], () => (node.isConnected ? node.update() : unlisten()));
  } catch {
    // The card does without.
  }
}
