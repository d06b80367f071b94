// The page of feeds: posts of those one follows, or of everyone, and a field for a post of one's own.

import { el, redraw } from '../core/dom.js';
import { isLetter } from '../core/rowkeys.js';
import { say } from '../core/text/text.js';
import { empty } from '../parts/lists/empty.js';
import { button, iconButton } from '../parts/forms/button.js';
import { loadFeedSheet, newPosts } from '../parts/message/feedpost.js';
import { menu } from '../parts/overlays/menu.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { tabs } from '../parts/navigation/tabs.js';
import { ensureFeed, feedSettings } from '../feed/feedsettings.js';
import { feedActions } from '../feed/feedactions.js';
import { postField, sendTo } from '../feed/postfield.js';
import { PostList } from '../feed/postlist.js';
import { openPictures } from '../feed/pictures.js';
import { ReplyCounts } from '../state/feed/replycounts.js';
import { Timeline } from '../state/feed/timeline.js';

// Other pages load them with this one, in one script.
export { openThread } from '../feed/threadpage.js';
export { fillWithPosts } from '../feed/userposts.js';

const EVERYONE = '/feed?show=everyone';

export async function open(shell, { query }, restore) {
  const scope = query.get('show') === 'everyone' ? 'everyone' : 'following';
  await loadFeedSheet();
  const page = new FeedPage(shell, scope);
  try {
    await page.open(!!restore);
  } catch (error) {
    page.close();
    throw error;
  }
  return {
    title: say('navigation.feed'),
    here: '/feed',
    node: [page.bar, page.tabs, page.body],
    shown: () => page.field?.fit(),
    isWriting: () => page.field?.isWriting,
    pressed: (event) => page.pressed(event),
    close: () => page.close(),
  };
}

class FeedPage {
  #shell;
  #site;
  #counts;
  #list;
  #new = newPosts(() => this.#showWaiting());
  #foot = el('div.feed-foot');
  #none = el('div');
  #ends = [];
  /** Whether the server can't be reached, and the device has no list. */
  #isAway = false;

  constructor(shell, scope) {
    const { site } = shell;
    [this.#shell, this.#site, this.scope] = [shell, site, scope];
    this.timeline = new Timeline(site, scope);
    this.#counts = new ReplyCounts(site);
    this.acts = feedActions(shell, { field: this.#actsIn(), owner: (message) => message.author_id });
    this.#list = new PostList(site, {
      label: say(`feed.${scope}`),
      acts: this.acts,
      hrefOf: ({ id }) => `/m/${id}`,
      repliesTo: ({ id }) => this.#counts.of(id),
      seen: (id) => this.#counts.ask(id),
    });
    this.field = scope === 'following' && site.me.role !== 'guest' ? this.#fieldOf() : null;
    this.bar = pageBar(say('navigation.feed'), { back: () => shell.router.back('/messages'), state: site.state, actions: this.#menuButton() });
    this.tabs = tabs(say('navigation.feed'), [
      ['/feed', say('feed.following'), scope === 'following'],
      [EVERYONE, say('feed.everyone'), scope === 'everyone'],
    ]);
    const column = el('div.page-column.feed-column', null, this.#new, this.field && el('div.feed-write', null, this.field), this.#list.node, this.#none, this.#foot);
    this.body = el('div.page-body', null, column);
    this.#ends.push(
      openPictures(this.#list.node),
      site.listen(['users', 'files'], () => this.draw()),
      () => this.timeline.close(),
      () => this.#counts.close(),
      () => this.#list.close(),
    );
    this.timeline.addEventListener('change', () => (this.#isAway = false));
    for (const it of [this.timeline, this.#counts]) it.addEventListener('change', () => this.draw());
  }

  async open(isRestored) {
    const hasFocus = () => this.#list.node.contains(document.activeElement);
    try {
      await this.timeline.open(() => !isRestored && this.body.scrollTop === 0 && !hasFocus());
    } catch (error) {
      if (!error.isTemporary) throw error;
      this.#isAway = true;
    }
    this.draw();
  }

  close() {
    for (const end of this.#ends) end();
  }

  draw() {
    const { timeline } = this;
    const { posts } = timeline;
    this.#list.draw(posts, !!timeline.next);
    this.#new.show(timeline.waiting);
    redraw(this.#foot, timeline.next && showMoreButton(() => timeline.more()));
    redraw(this.#none, !posts.length && !timeline.waiting && (this.#isAway ? this.#away() : this.#nothing()));
  }

  /** The other list may be on the device. */
  #away() {
    const again = () => this.timeline.refresh(() => true).catch(() => {});
    return empty(say('fault.network'), { picture: 'alert', actions: [button(say('act.retry'), { on: again })] });
  }

  #nothing() {
    const isFollowing = this.scope === 'following';
    return empty(say(isFollowing ? 'feed.none' : 'feed.noneAtAll'), {
      picture: isFollowing ? 'users' : 'edit',
      actions: [
        isFollowing && this.#site.me.role !== 'guest' && el('a.button.button-plain', { href: '/members' }, say('navigation.members')),
        el('a.button.button-plain', { href: isFollowing ? EVERYONE : '/feed' }, say(isFollowing ? 'feed.everyone' : 'feed.write')),
      ].filter(Boolean),
    });
  }

  #showWaiting() {
    this.timeline.showWaiting();
    this.body.scrollTop = 0;
    this.#list.node.querySelector('article')?.focus({ preventScroll: true });
  }

  /** The targets of the actions "reply" and "edit": the page of the post, or the field here. */
  #actsIn() {
    const page = this;
    return {
      reply: ({ id }) => this.#shell.go(`/m/${id}?reply`),
      edit: (message) => (page.field ? page.#edit(message) : this.#shell.go(`/m/${message.id}?edit`)),
      insert: (text) => page.field?.insert(text),
      addPoll: (poll) => page.field?.addPoll(poll),
    };
  }

  #edit(message) {
    this.field.edit(message);
    this.field.scrollIntoView({ block: 'nearest' });
  }

  #fieldOf() {
    const site = this.#site;
    return postField(site, {
      key: 'feed',
      placeholder: say('feed.write'),
      verb: say('feed.post'),
      rows: 1,
      acts: () => this.acts,
      lastOwn: () => this.timeline.posts.find((it) => it.author_id === site.me.id && !it.state),
      send: async (draft) => {
        const { id } = await ensureFeed(site);
        await sendTo(site.parley, id, draft);
        this.body.scrollTop = 0;
      },
    });
  }

  #menuButton() {
    const site = this.#site;
    if (site.me.role === 'guest') return [];
    const items = [
      { words: say('feed.ownPage'), picture: 'user', on: () => this.#shell.go(`/u/${encodeURIComponent(site.me.name)}`) },
      { words: say('feed.settings'), picture: 'settings', on: () => feedSettings(site) },
    ];
    return [iconButton('more', say('act.more'), { on: (event) => menu(event.currentTarget, items, say('act.more')), data: { act: 'menu' } })];
  }

  pressed(event) {
    if (event.key === 'c' && this.field && isLetter(event)) return this.#focusField();
    return this.#list.press(event);
  }

  #focusField() {
    this.field.input.focus();
    return true;
  }
}

