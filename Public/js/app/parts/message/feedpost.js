// A post of a feed, or a reply to it: the post of a topic with a like, a repost, the number of replies and a link to its page.
// Also the button of new posts above a list.

import { el, icon, spoken } from '../../core/dom.js';
import { loadSheet } from '../../core/sheet.js';
import { number, say } from '../../core/text/text.js';
import { messageElement } from './message.js';

/** The style of feeds, which few pages show. */
export const loadFeedSheet = () => loadSheet('/css/parts/message/feed.css');

/**
 * @param {object} message
 * @param {object} view as of a message; `act` with the verbs `like`, `repost` and `thread`, too
 * @param {string} [view.href] the page of the post
 * @param {{ n: number, hasMore: boolean } | null} [view.replies] their number, if known; without `href` none is shown
 * @param {boolean} [view.mayReply]
 * @param {boolean} [view.mayRepost]
 * @param {{ name: string | null, href: string | null } | null} [view.reposter] the user whose repost it is; no name for the own one
 */
export function feedPost(message, view) {
  const { act, href, replies = null, mayReply = true, mayRepost = false, reposter = null } = view;
  // Replies stand under their post, which needs no quote.
  const node = messageElement({ ...message, reply_to: null }, { ...view, shape: 'post' });
  node.classList.add('feed-post');
  // Its position is that in the list.
  node.removeAttribute('aria-posinset');
  const time = node.querySelector('.post-head time');
  if (href && time) {
    const link = el('a.feed-time', { href });
    time.replaceWith(link);
    link.append(time);
  }
  if (reposter) writeReposter(node, reposter);
  const tools = node.querySelector('.post-tools');
  if (!tools) return node;
  if (message.state) tools.remove();
  else {
    const repost = mayRepost && markTool(message, act, 'repost', 'repost', ['feed.repost', 'feed.reposts']);
    const like = markTool(message, act, 'like', 'like', ['feed.like', 'feed.likes']);
    tools.replaceChildren(...[replyTool(href, replies, mayReply, act), repost, like, ...others(tools)].filter(Boolean));
  }
  return node;
}

/** Under a post the link to its replies; on its own page the button that begins one. */
function replyTool(href, replies, mayReply, act) {
  if (!href && !mayReply) return null;
  const count = replies?.n ? `${number(replies.n)}${replies.hasMore ? '+' : ''}` : '';
  const words = [icon('reply'), el('span', null, say('act.reply')), count && el('span.count', { aria: { hidden: 'true' } }, count)];
  if (!href) return el('button.post-tool', { on: { click: () => act('reply') }, data: { act: 'reply' } }, words);
  const label = replies?.n ? `${say('act.reply')}, ${say('feed.replies', { n: replies.n })}` : say('act.reply');
  return el('a.post-tool', { href: `${href}?reply`, aria: { label }, data: { act: 'reply' } }, words);
}

/** The line *Grace reposted* above a post. */
function writeReposter(node, { name, href }) {
  const words = name ? say('feed.reposted', { name }) : say('feed.youReposted');
  node.setAttribute('aria-label', `${node.getAttribute('aria-label')}, ${words}`);
  node.querySelector('.post-body')?.prepend(el('p.feed-reposter', null, icon('repost'), href ? el('a', { href }, words) : words));
}

/** A button that sets or removes the user's own action, with its count. */
function markTool(message, act, verb, picture, [words, counted]) {
  const { count = 0, mine = false } = message.actions?.[verb] ?? {};
  return el(
    `button.post-tool.feed-${verb}`,
    { aria: { pressed: String(mine) }, on: { click: () => act(verb, !mine) }, data: { act: verb } },
    icon(picture),
    el('span', null, say(words)),
    count > 0 && [el('span.count', { aria: { hidden: 'true' } }, number(count)), spoken(say(counted, { n: count }))],
  );
}

const others = (tools) => ['react', 'more'].map((name) => tools.querySelector(`[data-act="${name}"]`));

/** The button "3 new posts" above a list. `show(n)` sets their number; without any there is no button. */
export function newPosts(on) {
  const words = el('span');
  const press = el('button.pill', { on: { click: on } }, icon('up'), words);
  const node = el('div.feed-new', { role: 'status' });
  return Object.assign(node, {
    show(n) {
      words.textContent = n > 0 ? say('feed.new', { n }) : '';
      if (!n) press.remove();
      else if (press.parentNode !== node) node.append(press);
    },
  });
}
