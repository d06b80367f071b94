// The page of a post of a feed: the post, its replies in order, and a field to reply.

import { displayName } from '../core/displayname.js';
import { el, redraw } from '../core/dom.js';
import { isLetter } from '../core/rowkeys.js';
import { say, sayProblem } from '../core/text/text.js';
import { empty } from '../parts/lists/empty.js';
import { loadFeedSheet } from '../parts/message/feedpost.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { silenceIn } from '../forum/membership.js';
import { feedActions } from './feedactions.js';
import { openPictures } from './pictures.js';
import { postField, sendTo } from './postfield.js';
import { PostList } from './postlist.js';
import { Thread } from '../state/feed/thread.js';
import { fetchUser } from '../state/fetchuser.js';

/** The longest chain of replies to replies that leads to a post. */
const MAX_CHAIN = 50;
/** A message that an address names is marked for this time, in milliseconds. */
const MARKED = 2_000;

/** @param {object} message the post, or a reply to it @param {object} feed its conversation */
export async function openThread(shell, message, feed, query) {
  const { site } = shell;
  if (message.repost_of) {
    const post = await site.client.calls.getMessage({ id: message.repost_of });
    return openThread(shell, post, await site.conversation(post.conversation_id), query);
  }
  const [chain] = await Promise.all([chainTo(site, message), loadFeedSheet()]);
  const page = new ThreadPage(shell, feed, chain);
  await page.open();
  return {
    title: page.title,
    here: '/feed',
    get keepsFocus() {
      return page.hasFocus;
    },
    node: [page.bar, page.node],
    isWriting: () => page.field.isWriting,
    shown: (restore) => page.shown(chain.length > 1 && !restore ? message.id : null, restore ? null : query),
    pressed: (event) => page.pressed(event),
    close: () => page.close(),
  };
}

/** The post, and the replies from it to this message. */
async function chainTo(site, message) {
  const chain = [message];
  while (chain[0].reply_to && chain.length < MAX_CHAIN) {
    const id = chain[0].reply_to;
    const above = (await site.parley.store.get('messages@id', id)) ?? (await site.client.calls.getMessage({ id }).catch(() => null));
    // The answered message is gone.
    if (!above) break;
    chain.unshift(above);
  }
  return chain;
}

class ThreadPage {
  #site;
  #feed;
  #post;
  #replies;
  #count = el('h2.section-title.feed-count');
  #foot = el('div.feed-foot');
  #note = el('p.stream-note', { role: 'status' });
  #ends = [];

  constructor(shell, feed, chain) {
    const { site } = shell;
    [this.#site, this.#feed] = [site, feed];
    this.thread = new Thread(site, feed, chain);
    this.field = this.#fieldOf();
    const cannot = () => this.cannot;
    this.acts = feedActions(shell, { field: this.#actsIn(), cannot, owner: () => feed.owner_id });
    const mayReply = () => !this.cannot;
    this.#post = new PostList(site, { label: say('feed.postTitle'), acts: this.acts, mayReply });
    this.#replies = new PostList(site, { label: say('feed.repliesTitle'), acts: this.acts, mayReply });
    const owner = site.user(feed.owner_id);
    this.title = owner.name ? say('feed.postBy', { name: displayName(owner) }) : say('feed.postTitle');
    this.bar = pageBar(this.title, { state: site.state, back: () => shell.router.back('/feed') });
    this.#post.node.classList.add('feed-thread');
    const column = el('div.page-column.feed-column', null, this.#post.node, this.#count, this.#replies.node, this.#foot);
    this.body = el('div.page-body', null, column);
    this.node = el('section.conversation', { aria: { label: this.title } }, this.body, el('footer.stream-foot', null, this.field, this.#note));
    this.thread.addEventListener('change', () => this.draw());
    this.#ends.push(
      openPictures(this.body),
      site.parley.on('failed', (failure) => this.#noteRefusal(failure)),
      site.listen(['users', 'files', 'conversations', 'me', 'overview'], () => this.draw()),
      () => this.thread.close(),
      () => this.#post.close(),
      () => this.#replies.close(),
    );
  }

  async open() {
    try {
      await this.thread.open();
    } catch (error) {
      this.close();
      throw error;
    }
    this.draw();
  }

  close() {
    for (const end of this.#ends) end();
  }

  /** The feed as it is now. */
  get #now() {
    return this.#site.parley.conversation(this.#feed.id) ?? this.#feed;
  }

  /** Why the user can't reply; null if they can. */
  get cannot() {
    const { me, parley, isTooOld } = this.#site;
    const { owner_id: owner, locked } = this.#now;
    const silence = silenceIn(this.#site, null);
    if (isTooOld) return say('version.tooOld');
    if (silence) return sayProblem({ code: 'silenced', params: silence });
    if (owner === me.id) return null;
    if (me.role === 'guest') return say('feed.guestsRead');
    if (parley.mirror.relations.get(owner)?.block) return say('feed.blocked');
    if (locked) return say('feed.locked');
    // The owner has blocked the user, as an answer has said.
    return this.isRefused ? say('feed.cannotReply') : null;
  }

  draw() {
    const { thread } = this;
    const { post, replies } = thread;
    this.#post.draw([post]);
    this.#replies.draw(replies, !!thread.next);
    this.#count.textContent = thread.next ? say('feed.repliesTitle') : say('feed.replies', { n: replies.length });
    redraw(
      this.#foot,
      thread.next ? showMoreButton(() => thread.load(thread.next)) : !replies.length && empty(say('feed.noReplies'), { picture: 'reply' }),
    );
    this.#count.hidden = !replies.length;
    const why = post.deleted ? say('feed.gone') : this.cannot;
    const hadFocus = this.field.contains(document.activeElement);
    this.field.hidden = !!why;
    this.#note.hidden = !why;
    if (this.#note.textContent !== (why ?? '')) this.#note.textContent = why ?? '';
    if (hadFocus && why) this.#post.node.querySelector('article')?.focus({ preventScroll: true });
    this.#markRead();
  }

  async #markRead() {
    if (document.hidden) return;
    const { parley, overview } = this.#site;
    const message = parley.conversation(this.#feed.id)?.read_up_to === undefined ? this.#called : await this.thread.readUpTo().catch(() => null);
    if (!message || message.seq <= (this.read ?? 0)) return;
    this.read = message.seq;
    overview.markSeen(this.#feed.id, message).catch(() => {});
  }

  /** The unread reply or mention of a feed that the user only reads; null if it is in another thread. */
  get #called() {
    const called = this.#site.overview.items.find((it) => it.conversation_id === this.#feed.id)?.message;
    return called && this.thread.rows.has(called.id) ? called : null;
  }

  /** Begins at a reply, or with a verb of the address. @param {string | null} id @param {URLSearchParams | null} [query] */
  shown(id, query) {
    this.field.fit();
    const mark = id && this.#replies.node.querySelector(`[data-id="${CSS.escape(id)}"]`);
    if (mark) {
      mark.classList.add('is-shown');
      setTimeout(() => mark.classList.remove('is-shown'), MARKED);
      mark.scrollIntoView({ block: 'center' });
      mark.focus({ preventScroll: true });
    }
    if (query?.has('edit')) this.acts.run(this.thread.post, 'edit');
    else if (query?.has('reply') && !this.field.hidden) this.field.input.focus();
    this.hasFocus = !!mark || this.field.contains(document.activeElement);
  }

  #fieldOf() {
    const { id } = this.#feed;
    return postField(this.#site, {
      key: `reply-${this.thread.id}`,
      placeholder: say('composer.post'),
      verb: say('act.reply'),
      acts: () => this.acts,
      lastOwn: () => this.thread.replies.findLast((it) => it.author_id === this.#site.me.id && !it.state),
      send: async (draft) => {
        await sendTo(this.#site.parley, id, draft, { reply_to: this.thread.id });
        this.draw();
        this.#replies.node.lastElementChild?.scrollIntoView({ block: 'end' });
      },
    });
  }

  /** A block by the owner shows in the refusal of a reply alone, which can come before the sending has returned. */
  #noteRefusal({ operation, problem }) {
    if (operation.conversation_id !== this.#feed.id || problem.code !== 'forbidden') return;
    this.isRefused = true;
    this.draw();
  }

  /** The field of the actions "reply" and "edit". */
  #actsIn() {
    const page = this;
    return {
      get hidden() {
        return page.field.hidden;
      },
      reply: ({ id }) => page.#reply(id),
      edit: (message) => page.field.edit(message),
      insert: (text) => page.field.insert(text),
      addPoll: (poll) => page.field.addPoll(poll),
    };
  }

  /** All replies are to the post; one to a reply mentions its author. */
  async #reply(id) {
    const { field, thread } = this;
    field.input.focus();
    const author = thread.rows.get(id)?.author_id;
    if (id === thread.id || !author || author === this.#site.me.id) return;
    const name = (await fetchUser(this.#site, author))?.name;
    if (name && !field.input.value.includes(`@${name} `)) field.insert(`@${name} `);
  }

  pressed(event) {
    if (event.key === 'c' && isLetter(event) && !this.field.hidden) {
      this.field.input.focus();
      return true;
    }
    const all = [...this.body.querySelectorAll('article')];
    return this.#replies.press(event, all) || this.#post.press(event, all);
  }
}
