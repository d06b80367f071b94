// The newest posts on a user's page.

import { displayName } from '../core/displayname.js';
import { el, redraw, refill } from '../core/dom.js';
import { say, sayProblem } from '../core/text/text.js';
import { button } from '../parts/forms/button.js';
import { empty } from '../parts/lists/empty.js';
import { loadFeedSheet } from '../parts/message/feedpost.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { UserPosts } from '../state/feed/userposts.js';
import { feedActions } from './feedactions.js';
import { PostList } from './postlist.js';

/** Number of posts at first, and with each press. */
const SHOWN = 5;

/** Fills an element with them. Resolves to their list, to be closed with the page; to nothing without a feed. */
export async function fillWithPosts(shell, user, section) {
  const { site } = shell;
  const isMe = user.id === site.me.id;
  const [feed] = await Promise.all([feedOf(site, user), loadFeedSheet()]);
  const heading = el('h2.section-title', null, say('feed.posts'));
  const write = () => refill(section, heading, empty(say('feed.ownNone'), { picture: 'edit', actions: [button(say('feed.open'), { on: () => shell.go('/feed') })] }));
  if (!feed) return void (isMe && write());
  const posts = new UserPosts(site, feed);
  const field = { reply: ({ id }) => shell.go(`/m/${id}?reply`), edit: ({ id }) => shell.go(`/m/${id}?edit`), insert: () => shell.go('/feed') };
  const acts = feedActions(shell, { field, owner: (message) => message.author_id });
  const list = new PostList(site, { label: say('feed.postsOf', { name: displayName(user) }), acts, hrefOf: ({ id }) => `/m/${id}` });
  const foot = el('div.feed-foot');
  const column = el('div.feed-column', null, list.node, foot);
  let shown = SHOWN;
  const draw = () => {
    const all = posts.posts;
    list.draw(all.slice(0, shown), all.length > shown || !!posts.next);
    if (all.length && !section.contains(column)) refill(section, heading, column);
    else if (!all.length && isMe) write();
    const more = async () => {
      shown += SHOWN;
      if (posts.posts.length < shown && posts.next) await posts.load(SHOWN);
      draw();
    };
    redraw(foot, (all.length > shown || posts.next) && showMoreButton(more));
  };
  const unlisten = site.listen(['users', 'files'], draw);
  const end = () => {
    unlisten();
    list.close();
    posts.close();
  };
  try {
    await posts.load(SHOWN);
  } catch (error) {
    end();
    return void refill(section, heading, el('p.second', null, sayProblem(error)));
  }
  posts.addEventListener('change', draw);
  draw();
  return { close: end, pressed: (event) => list.press(event) };
}

/** The feed of a user; null without a readable one. */
async function feedOf(site, user) {
  try {
    return await site.client.calls.getFeed({ id: user.id, tries: 1 });
  } catch {
    return null;
  }
}
