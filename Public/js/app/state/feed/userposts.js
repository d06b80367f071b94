// The newest posts of one user's feed, newest first.

import { loadPage } from './cache.js';
import { FeedMessages } from './messages.js';

const PAGE = 50;
/** Pages of one load: of a feed with many replies the rest follows with the next. */
const MAX_PAGES = 5;

export class UserPosts extends FeedMessages {
  /** The position of the next page; null at the end. */
  next = null;

  /** @param {object} feed the conversation */
  constructor(site, feed) {
    super(site);
    this.feed = feed;
    this.listen(site.parley.subscribe(`conversation:${feed.id}`));
  }

  get posts() {
    const sent = [...this.rows.values()].filter((it) => this.#isPost(it) && !this.isHidden(it)).sort((a, b) => a.seq - b.seq);
    const posts = new Map(sent.map((it) => [it.repost_of ?? it.id, this.shown(it)]));
    return [...posts.values()].reverse().filter((it) => !it.deleted);
  }

  takes(row) {
    if (!this.#isPost(row) || row.seq <= this.#newest) return false;
    if (row.repost_of) this.addPosts([row]).then(() => this.changed());
    return true;
  }

  /** Fetches pages until there are so many more posts, or the end: replies of readers are among the messages. */
  async load(more) {
    const { site, feed } = this;
    const before = this.posts.length;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      const query = { limit: PAGE, next: this.next ?? undefined, include: 'users,messages' };
      const page = await loadPage(site, () => site.client.calls.listMessages({ id: feed.id, query, tries: 1 }));
      this.keep([...page.data.filter((it) => this.#isPost(it)), ...page.posts]);
      this.next = page.next;
      if (!this.next || this.posts.length >= before + more) break;
    }
    this.changed();
  }

  /** The position of the newest post that the view holds. */
  get #newest() {
    return Math.max(0, ...[...this.rows.values()].filter((it) => this.#isPost(it)).map(({ seq }) => seq));
  }

  #isPost(row) {
    return row.conversation_id === this.feed.id && row.author_id === this.feed.owner_id && !row.reply_to;
  }
}
