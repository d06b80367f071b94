// The message list of a conversation: opens at the first unread message, sticks to the newest, loads older ones at the top,
// and keeps the scroll position when messages arrive.

import { el, refill } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { pill } from '../../parts/message/lines.js';
import { say } from '../../core/text/text.js';
import { filling } from './filling.js';
import { MessageRows } from './rows.js';

const NEAR = 600;
const AT_END = 40;
/** After a redraw, redraws pause for this multiple of its duration, at most for the second value. */
const RESTS = 4;
const REST = 200;

export class MessageView {
  /**
   * @param {object} options stream, shape ("bubble" or "post"), me, user(id), act(message, verb, detail),
   *   file(id), mayModerate(), solvedBy() (the answer's id), readUpTo (seq), onRead(message), head (a node above all), emptyWords, emptyActions,
   *   announce(name), moved(), hidesGone() (no line where a message was)
   */
  constructor(options) {
    Object.assign(this, options);
    this.unseen = 0;
    this.isStuck = true;
    this.inner = el('div.feed', { role: 'feed', aria: { label: say('conversation.messages'), busy: 'false' } });
    // Only messages are in the feed; other elements surround it.
    this.above = el('div');
    this.below = el('div.stream-below');
    this.rows = new MessageRows(this);
    this.whole = el('div.stream-inner', null, this.above, this.inner, this.below);
    this.node = el('div.stream', { role: 'group', tabindex: '-1', aria: { label: say('conversation.messages') } }, this.whole);
    this.pillBox = el('div.stream-pill');
    this.node.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.onChange = () => this.soon();
    /** The time of the next allowed redraw, and its timer. */
    this.restsUntil = 0;
    this.drawing = null;
    this.stream.addEventListener('change', this.onChange);
    this.fill = filling(this);
    this.resizing = new ResizeObserver(() => (this.isStuck && this.toEnd(), this.fill()));
    this.resizing.observe(this.node);
    this.resizing.observe(this.whole);
    this.onVisible = () => !document.hidden && this.seen();
    document.addEventListener('visibilitychange', this.onVisible);
    addEventListener('focus', this.onVisible);
  }

  close() {
    this.stream.removeEventListener('change', this.onChange);
    document.removeEventListener('visibilitychange', this.onVisible);
    removeEventListener('focus', this.onVisible);
    this.resizing.disconnect();
    clearTimeout(this.reading);
    clearTimeout(this.drawing);
  }

  /** After it is in the page: where to begin. */
  begin({ message, anchor } = {}) {
    this.draw();
    if (message) return this.mark(message);
    if (anchor) return this.hold(anchor);
    const first = this.inner.querySelector('.new-line') ?? this.rows.drawn.get(this.rows.firstNew)?.node;
    if (first && this.shape === 'bubble') {
      this.isStuck = false;
      this.node.scrollTop = Math.max(0, first.offsetTop - this.node.clientHeight / 3);
      this.scrolled();
    } else if (this.shape === 'bubble') {
      this.toEnd();
    } else {
      this.isStuck = false;
      if (first && first !== this.inner.firstElementChild) first.scrollIntoView({ block: 'center' });
      else this.node.scrollTop = 0;
    }
    return this.seen();
  }

  // MARK: Drawing

  /** Sets whether the view sticks to the newest message. The window keeps its top while it does not. */
  get isStuck() {
    return this.sticks;
  }

  set isStuck(sticks) {
    this.sticks = sticks;
    this.stream.isSticking = sticks;
  }

  /** Redraws at once, or throttled when many messages arrive. Own messages are never delayed. */
  soon() {
    const last = this.stream.shown.at(-1);
    const wait = this.restsUntil - performance.now();
    if (wait <= 0 || (last?.state === 'waiting' && last.id !== this.rows.last?.id)) return this.draw();
    this.drawing ??= setTimeout(() => this.draw(), wait);
    return undefined;
  }

  /** Runs a pending redraw. */
  settle() {
    if (this.drawing !== null) this.draw();
  }

  draw() {
    clearTimeout(this.drawing);
    this.drawing = null;
    const began = performance.now();
    this.drawWhole();
    const now = performance.now();
    this.restsUntil = now + Math.min(REST, RESTS * (now - began));
  }

  drawWhole() {
    const anchor = this.isStuck ? null : this.anchor();
    // Messages loaded by scrolling are not announced.
    const before = this.wasAtNewest ? this.rows.last : null;
    this.wasAtNewest = !this.stream.hasNewer;
    this.rows.draw();
    if (this.isStuck) this.toEnd();
    else if (anchor) this.hold(anchor);
    this.arrived(before);
    this.upTo = this.stream.messages.at(-1)?.seq ?? 0;
    this.showPill();
    this.moved?.();
    this.seen();
  }

  /** Announces new messages of others. An own message scrolls to the end. */
  arrived(before) {
    const { last } = this.rows;
    if (!before || !last || this.stream.hasNewer) return;
    const isNews = (it) => this.upTo > 0 && it.seq > this.upTo && it.author_id !== this.me?.id && !it.deleted && this.rows.drawn.has(it.id);
    const news = this.stream.messages.filter(isNews);
    for (const { author_id: author } of news) this.announce?.(displayName(this.user(author)));
    if (!this.isStuck) this.unseen += news.length;
    if (last.id === before.id) return;
    const node = this.rows.drawn.get(last.id)?.node;
    if (last.author_id === this.me?.id && last.state === 'waiting') {
      node?.classList.add('is-arriving');
      this.rows.newFrom = null;
      this.toEnd();
    }
  }

  // MARK: Scrolling

  get distance() {
    return this.node.scrollHeight - this.node.scrollTop - this.node.clientHeight;
  }

  /** Whether the newest message is in view. A topic at its title stays there: its pictures may not have their size yet. */
  get isAtEnd() {
    const isAtTitle = this.shape === 'post' && this.node.scrollTop === 0;
    return !isAtTitle && !this.stream.hasNewer && this.distance < AT_END;
  }

  toEnd() {
    this.isStuck = true;
    this.unseen = 0;
    this.node.scrollTop = this.node.scrollHeight;
    this.showPill();
  }

  /** The newest, wherever the window is. */
  async newest() {
    if (this.stream.hasNewer) await this.stream.open();
    this.settle();
    this.toEnd();
    this.seen();
  }

  /** The scroll anchor: the first visible message and its distance from the top. */
  anchor() {
    const top = this.node.getBoundingClientRect().top;
    for (const child of this.inner.children) {
      const box = child.getBoundingClientRect();
      if (box.bottom > top && child.dataset.id) return { id: child.dataset.id, offset: box.top - top };
    }
    return null;
  }

  hold({ id, offset }) {
    const node = this.rows.drawn.get(id)?.node;
    if (!node) return;
    const top = this.node.getBoundingClientRect().top;
    const moved = node.getBoundingClientRect().top - top - offset;
    if (Math.abs(moved) > 0.5) this.node.scrollTop += moved;
    this.isStuck = this.isAtEnd;
  }

  scrolled() {
    this.isStuck = this.isAtEnd;
    if (this.isStuck) this.unseen = 0;
    if (this.node.scrollTop < NEAR && this.stream.hasOlder) this.load('older');
    if (this.distance < NEAR && this.stream.hasNewer) this.load('newer');
    this.showPill();
    this.moved?.();
    this.seen();
  }

  async load(which) {
    if (this.stream.isBusy) return;
    this.inner.setAttribute('aria-busy', 'true');
    try {
      await this.stream[which]();
      this.settle();
    } catch (error) {
      this.onFault?.(error);
    } finally {
      this.inner.setAttribute('aria-busy', 'false');
    }
  }

  showPill() {
    const isFar = this.stream.hasNewer || this.distance > this.node.clientHeight;
    const wants = this.shape === 'bubble' && !this.isStuck && (this.unseen > 0 || isFar);
    const key = wants ? `${this.unseen}` : '';
    if (this.pillKey === key) return;
    this.pillKey = key;
    refill(this.pillBox, wants && pill(this.unseen, () => this.newest()));
  }

  /** Brings a message into view and marks it for two seconds. */
  mark(id) {
    const node = this.rows.drawn.get(id)?.node;
    if (!node) return;
    this.isStuck = false;
    node.scrollIntoView({ block: 'center' });
    this.rows.marked = id;
    node.classList.add('is-shown');
    node.focus({ preventScroll: true });
    setTimeout(() => {
      this.rows.marked = null;
      this.rows.drawn.get(id)?.node.classList.remove('is-shown');
    }, 2_000);
    this.scrolled();
  }

  /** The message at the reading position: the first or last at the ends, otherwise at one third of the height. */
  get sight() {
    const { messages } = this.stream;
    if (!this.stream.hasNewer && this.distance < AT_END) return messages.at(-1);
    if (!this.stream.hasOlder && this.node.scrollTop < AT_END) return messages[0];
    const box = this.node.getBoundingClientRect();
    const line = box.top + box.height / 3;
    const node = [...this.inner.children].find((it) => it.dataset.seq && it.getBoundingClientRect().bottom > line);
    return node ? messages.find(({ id }) => id === node.dataset.id) : messages.at(-1);
  }

  /** Scrolls to the message with this `seq`, or the next existing one. The focus stays. */
  async goTo(seq) {
    const turn = (this.going = {});
    const isHere = ({ messages }) => messages[0]?.seq <= seq && messages.at(-1)?.seq >= seq;
    if (!isHere(this.stream)) await this.stream.openAt(seq);
    if (this.going !== turn || !this.node.isConnected) return;
    this.settle();
    const { messages } = this.stream;
    const found = messages.find((it) => it.seq >= seq && this.rows.drawn.has(it.id)) ?? messages.findLast((it) => this.rows.drawn.has(it.id));
    if (!found) return;
    this.isStuck = false;
    // With the title above the first.
    if (found === messages[0] && !this.stream.hasOlder) this.node.scrollTop = 0;
    else this.rows.drawn.get(found.id)?.node.scrollIntoView({ block: 'start' });
    this.scrolled();
  }

  /** Marks visible messages as read while the tab is visible. */
  seen() {
    clearTimeout(this.reading);
    if (!this.me || document.hidden || !this.onRead) return;
    this.reading = setTimeout(() => {
      if (document.hidden || !this.node.isConnected) return;
      const bottom = this.node.getBoundingClientRect().bottom + 1;
      const seen = [...this.inner.children]
        .filter((it) => it.dataset.seq && it.getBoundingClientRect().bottom <= bottom + 8)
        .at(-1);
      const message = seen && this.stream.messages.find((it) => it.id === seen.dataset.id);
      if (message && message.seq > (this.read ?? this.readUpTo ?? 0)) {
        this.read = message.seq;
        this.onRead(message);
      }
    }, 400);
  }

  // MARK: By keyboard

  get focused() {
    const id = document.activeElement?.closest?.('[data-id]')?.dataset.id;
    return id && this.stream.shown.find((it) => it.id === id);
  }

  step(by) {
    const all = [...this.inner.querySelectorAll('article')];
    const at = all.indexOf(document.activeElement?.closest?.('article'));
    const to = at < 0 ? all.length - 1 : Math.max(0, Math.min(all.length - 1, at + by));
    all[to]?.focus();
    all[to]?.scrollIntoView({ block: 'nearest' });
  }
}
