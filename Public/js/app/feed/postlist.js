// A list of posts or replies. Unchanged ones keep their nodes, so that focus and presses survive.

import { displayName } from '../core/displayname.js';
import { el, focusAgain } from '../core/dom.js';
import { isMentioned } from '../core/groups.js';
import { Press } from '../core/press.js';
import { isLetter } from '../core/rowkeys.js';
import { statusLine } from '../core/status.js';
import { feedPost } from '../parts/message/feedpost.js';

/** A message without the fields that no redraw shows. */
const withoutAge = ({ known: _, actions_known: __, star_known: ___, ...message }) => message;

export class PostList {
  #drawn = new Map();
  #messages = [];
  #ends = new AbortController();
  #press;
  /** The newest draw during a press. */
  #held = null;

  /**
   * @param {object} site
   * @param {object} view `label` of the list; `acts` of `feedActions`; `hrefOf(message)`: the page of a post; `repliesTo(message)`;
   *   `mayReply()`; `seen(message)`: called when a post comes into view
   */
  constructor(site, { label, acts, hrefOf = () => null, repliesTo = () => null, mayReply = () => true, seen }) {
    Object.assign(this, { site, acts, hrefOf, repliesTo, mayReply });
    this.node = el('div.feed-list', { role: 'feed', aria: { label, busy: 'false' } });
    this.#press = new Press((it) => this.node.contains(it), () => this.#held && this.draw(...this.#held), this.#ends.signal);
    this.seeing =
      seen &&
      new IntersectionObserver((entries) => {
        for (const { isIntersecting, target } of entries) if (isIntersecting) seen(target.dataset.id);
      });
  }

  close() {
    this.seeing?.disconnect();
    this.#ends.abort();
  }

  /** @param {object[]} messages in the order of the list */
  draw(messages, hasMore = false) {
    this.#held = this.#press.isHeld ? [messages, hasMore] : null;
    if (this.#held) return;
    this.#messages = messages;
    // A feed without articles is none.
    this.node.hidden = !messages.length;
    const held = this.node.contains(document.activeElement) ? document.activeElement : null;
    const before = this.#drawn;
    this.#drawn = new Map();
    messages.forEach((message, index) => {
      const key = message.client_id ?? message.id;
      const view = this.#view(message);
      const look = JSON.stringify([withoutAge(message), view.author, statusLine(view.author), view.files, view.replies, view.mayReply, view.reposter]);
      const known = before.get(key);
      const node = known?.look === look ? known.node : feedPost({ ...message, mentionsMe: isMentioned(this.site.me, message) }, view);
      if (known && known.node !== node) known.node.replaceWith(node);
      if (known?.node !== node && !message.state) this.seeing?.observe(node);
      node.setAttribute('aria-posinset', index + 1);
      node.setAttribute('aria-setsize', hasMore ? -1 : messages.length);
      this.#drawn.set(key, { look, node });
    });
    for (const [key, { node }] of before) if (!this.#drawn.has(key)) node.remove();
    [...this.#drawn.values()].forEach(({ node }, index) => {
      if (this.node.children[index] !== node) this.node.insertBefore(node, this.node.children[index] ?? null);
    });
    const message = held && !held.isConnected && held.closest('[data-id]');
    if (message) focusAgain(this.node.querySelector(`[data-id="${CSS.escape(message.dataset.id)}"]`) ?? this.node, held);
    else if (held && document.activeElement !== held) held.focus({ preventScroll: true });
  }

  #view(message) {
    const { site, acts } = this;
    return {
      author: site.user(message.author_id),
      mine: message.author_id === site.me.id,
      files: Object.fromEntries((message.attachments ?? []).map((id) => [id, site.file(id) ?? undefined])),
      href: message.state ? null : this.hrefOf(message),
      replies: this.repliesTo(message),
      mayReply: this.mayReply(message),
      reposter: message.reposted_by ? this.#reposter(message.reposted_by) : null,
      mayRepost: !message.reply_to && site.me.role !== 'guest',
      act: (verb, detail) => acts.run(message, verb, detail),
    };
  }

  /** The name of the user behind a repost, and their page. */
  #reposter(id) {
    const user = this.site.user(id);
    return { name: id === this.site.me.id ? null : displayName(user), href: user.name ? `/u/${encodeURIComponent(user.name)}` : null };
  }

  /** The message that has the focus. */
  get focused() {
    const id = this.node.contains(document.activeElement) && document.activeElement.closest('[data-id]')?.dataset.id;
    return id ? this.#messages.find((it) => it.id === id) : null;
  }

  /**
   * Moves between messages with j and k, or runs the action of another key. Returns whether the key did something.
   * @param {KeyboardEvent} event @param {Element[]} [all] the messages to move between
   */
  press(event, all = [...this.node.children]) {
    if (!isLetter(event)) return false;
    const at = all.findIndex((it) => it.contains(document.activeElement));
    const by = { j: 1, k: -1 }[event.key];
    if (by && all.length) {
      const to = all[at < 0 ? 0 : Math.max(0, Math.min(all.length - 1, at + by))];
      to.focus();
      to.scrollIntoView({ block: 'nearest' });
      return true;
    }
    const message = this.focused;
    if (!message) return false;
    const link = event.key === 'Enter' && document.activeElement === all[at] && all[at].querySelector('a.feed-time');
    if (link) {
      link.click();
      return true;
    }
    return this.acts.press(event, message);
  }
}
