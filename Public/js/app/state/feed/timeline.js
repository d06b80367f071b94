// The newest posts of followed users, or of everyone, newest first. Cached posts are shown at once, the server's answer after.
// New posts of others wait until the reader asks for them, so that no text moves while it is read.

import { cachedMessages, loadPage, ownFeed } from './cache.js';
import { FeedMessages } from './messages.js';

const PAGE = 30;
const PATHS = { following: '/timeline', everyone: '/timeline/global' };
/** The post of a row, which may be a repost. */
const postOf = (row) => row.repost_of ?? row.id;
/** The lists that views have left, with their next pages, by the library's object and the scope. */
const left = new WeakMap();

const isLater = (one, other) => !other || one.created_at > other.created_at || (one.created_at === other.created_at && one.seq > other.seq);

export class Timeline extends FeedMessages {
  /** The posts of the list, newest first. */
  #ids = [];
  /** New posts of others that are not shown yet. */
  #waiting = new Set();
  /** The newest page, where posts are missing between it and the list. */
  #newest = null;
  /** The position of the next page; null at the end. */
  next = null;

  /** @param {'following' | 'everyone'} scope */
  constructor(site, scope) {
    super(site);
    this.scope = scope;
    this.listen(site.parley.subscribe('timeline'));
    this.listen(site.listen(['event'], ({ detail }) => this.#heard(detail)));
    let state = site.state;
    this.listen(
      site.listen(['state'], () => {
        const isBack = site.state === 'online' && state !== 'online';
        state = site.state;
        if (isBack) this.refresh().catch(() => {});
      }),
    );
  }

  /** The number of posts that wait. */
  get waiting() {
    const ids = new Set([...(this.#newest?.data.map(({ id }) => id) ?? []), ...this.#waiting]);
    return [...ids].filter((id) => !this.#ids.includes(id) && !this.isHidden(this.rows.get(id))).length;
  }

  /** Unsent posts, then the others, each once, as its newest repost. */
  get posts() {
    const sent = new Map();
    for (const row of this.#ids.map((id) => this.rows.get(id)))
      if (!this.isHidden(row) && !sent.has(postOf(row))) sent.set(postOf(row), this.shown(row));
    return [...this.unsent.reverse(), ...[...sent.values()].filter((it) => !it.deleted)];
  }

  isHidden(message) {
    if (super.isHidden(message)) return true;
    const { me, parley } = this.site;
    return this.scope === 'following' && message.author_id !== me.id && !parley.mirror.relations.get(message.author_id)?.follow;
  }

  isShown({ conversation_id: id, body, target }) {
    return id === ownFeed(this.site)?.id && !body.reply_to && !target;
  }

  /** An own post stands in the list at once, and on top where it was written just now. */
  takes(row) {
    const isOwn = row.author_id === this.site.me.id && row.conversation_id === ownFeed(this.site)?.id && !row.reply_to;
    if (!isOwn || !isLater(row, this.rows.get(this.#ids[0]))) return false;
    this.#ids.unshift(row.id);
    if (row.repost_of) this.addPosts([row]).then(() => this.changed());
    return true;
  }

  /**
   * Opens the list as the user left it, and fetches the newest page. Without a list it waits for that.
   * @param {() => boolean} mayMove whether the newest page may replace the list
   */
  async open(mayMove) {
    const { ids, next } = this.#left();
    const rows = await cachedMessages(this.site, ids);
    this.keep(rows);
    this.keep(await cachedMessages(this.site, rows.map(postOf)));
    [this.#ids, this.next] = [rows.map(({ id }) => id), next];
    const refreshing = this.refresh(mayMove);
    if (!rows.length) return refreshing;
    refreshing.catch(() => {});
    return undefined;
  }

  /** Fetches the newest page. @param {() => boolean} [mayMove] whether it replaces the list, once it is here */
  async refresh(mayMove = () => false) {
    const page = await this.#load();
    const known = new Set(this.#ids);
    const fresh = page.data.filter((it) => !known.has(it.id));
    const isWaiting = (it) => it.author_id !== this.site.me.id && isLater(it, this.rows.get(this.#ids[0]));
    if (!known.size || mayMove()) this.#show(page);
    else if (fresh.length === page.data.length && page.next) this.#newest = page;
    else {
      this.#dropMissing(page);
      for (const { id } of fresh.filter(isWaiting)) this.#waiting.add(id);
      this.#merge(fresh.filter((it) => !isWaiting(it)));
    }
    this.changed();
  }

  async more() {
    const page = await this.#load(this.next);
    const known = new Set(this.#ids);
    this.#ids.push(...page.data.map(({ id }) => id).filter((id) => !known.has(id)));
    this.next = page.next;
    this.#leave();
    this.changed();
  }

  /** Shows the posts that wait. */
  showWaiting() {
    const rows = [...this.#waiting].map((id) => this.rows.get(id));
    // Behind the gap those that waited before it belong to later pages.
    const last = this.#newest?.data.at(-1);
    if (this.#newest) this.#show(this.#newest);
    this.#merge(last ? rows.filter((it) => isLater(it, last)) : rows);
    this.#waiting.clear();
    this.#leave();
    this.changed();
  }

  /** Replaces the list. An own post that was sent meanwhile stays. */
  #show(page) {
    const [first] = page.data;
    const sent = this.#ids.filter((id) => this.rows.get(id).author_id === this.site.me.id && isLater(this.rows.get(id), first));
    this.#ids = [...sent, ...page.data.map(({ id }) => id)];
    this.next = page.next;
    this.#newest = null;
    this.#waiting.clear();
    this.#leave();
  }

  #merge(rows) {
    const ids = new Set([...this.#ids, ...rows.map(({ id }) => id)]);
    const all = [...ids].map((id) => this.rows.get(id));
    this.#ids = all.sort((a, b) => (isLater(a, b) ? -1 : 1)).map(({ id }) => id);
  }

  /** Removes posts that the server lists no more. One with a new repost that waits stays in its place. */
  #dropMissing({ data, next }) {
    const listed = new Set(data.flatMap((it) => [it.id, postOf(it)]));
    const [first, last] = [data[0], data.at(-1)];
    const isCovered = (it) => first && !isLater(it, first) && (!next || isLater(it, last));
    const isListed = (id) => listed.has(id) || listed.has(postOf(this.rows.get(id)));
    this.#ids = this.#ids.filter((id) => isListed(id) || !isCovered(this.rows.get(id)));
  }

  async #load(next) {
    const query = { limit: PAGE, next: next ?? undefined, include: 'users,messages' };
    const page = await loadPage(this.site, () => this.site.call('GET', PATHS[this.scope], { query }));
    this.keep([...page.data, ...page.posts]);
    return page;
  }

  async #heard({ event, data }) {
    // The list changes at once, after an action of the user.
    if (event === 'relation.changed') return void this.refresh(() => true).catch(() => {});
    if (event !== 'message.created' || data.reply_to || data.author_id === this.site.me.id || this.rows.has(data.id)) return;
    if (this.scope === 'following' && !this.site.parley.mirror.relations.get(data.author_id)?.follow) return;
    const conversation = await this.site.conversation(data.conversation_id).catch(() => null);
    if (conversation?.kind !== 'feed' || conversation.owner_id !== data.author_id) return;
    const [row = data] = await cachedMessages(this.site, [data.id]);
    await this.addPosts([row]);
    this.keep([row]);
    this.#waiting.add(row.id);
    this.changed();
  }

  // MARK: The list between two views

  #left() {
    const held = left.get(this.site.parley)?.[this.scope];
    if (held) return held;
    try {
      return { ids: JSON.parse(localStorage.getItem(`timeline-${this.scope}`)) ?? [], next: null };
    } catch {
      return { ids: [], next: null };
    }
  }

  /** A reload has the first page. */
  #leave() {
    const all = left.get(this.site.parley) ?? {};
    left.set(this.site.parley, { ...all, [this.scope]: { ids: [...this.#ids], next: this.next } });
    localStorage.setItem(`timeline-${this.scope}`, JSON.stringify(this.#ids.slice(0, PAGE)));
  }
}
