// The message list of a conversation: opens at the first unread message, sticks to the newest, loads older ones at the top,
// and keeps the scroll position when messages arrive.

import { el, focusAgain, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { emojiVersion } from '../core/customemoji.js';
import { isMentioned } from '../core/groups.js';
import { statusLine } from '../core/status.js';
import { empty } from '../parts/empty.js';
import { dayLine, newLine, pill } from '../parts/lines.js';
import { messageElement } from '../parts/message.js';
import { plain } from '../core/plain.js';
import { say } from '../core/text.js';
import { startOfDay } from '../core/times.js';

const GROUP = 5 * 60_000;
const NEAR = 600;
const AT_END = 40;
/** After a redraw, redraws pause for this multiple of its duration, at most for the second value. */
const RESTS = 4;
const REST = 200;

export class MessageView {
  /**
   * @param {object} options stream, shape ("bubble" or "post"), me, person(id), act(message, verb, detail),
   *   file(id), mayModerate(), solvedBy() (the answer's id), readUpTo (seq), onRead(message), head (a node above all), emptyWords,
   *   announce(name), moved(), hidesGone() (no line where a message was)
   */
  constructor(options) {
    Object.assign(this, options);
    this.drawn = new Map();
    this.quotes = new Map();
    this.newFrom = options.readUpTo ?? null;
    this.unseen = 0;
    this.isStuck = true;
    this.inner = el('div.feed', { role: 'feed', aria: { label: say('talk.messages'), busy: 'false' } });
    // Only messages are in the feed; other elements surround it.
    this.above = el('div');
    this.below = el('div.stream-below');
    this.whole = el('div.stream-inner', null, this.above, this.inner, this.below);
    this.node = el('div.stream', { role: 'group', tabindex: '-1', aria: { label: say('talk.messages') } }, this.whole);
    this.pillPlace = el('div.stream-pill');
    this.node.addEventListener('scroll', () => this.scrolled(), { passive: true });
    this.onChange = () => this.soon();
    /** The time of the next allowed redraw, and its timer. */
    this.restsUntil = 0;
    this.drawing = null;
    this.stream.addEventListener('change', this.onChange);
    this.resizing = new ResizeObserver(() => {
      if (this.isStuck) this.toEnd();
    });
    this.resizing.observe(this.node);
    this.resizing.observe(this.whole);
    this.onVisible = () => {
      if (!document.hidden) this.seen();
    };
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
    const first = this.inner.querySelector('.new-line') ?? this.drawn.get(this.firstNew)?.node;
    if (first && this.shape === 'bubble') {
      this.isStuck = false;
      this.node.scrollTop = Math.max(0, first.offsetTop - this.node.clientHeight / 3);
      this.scrolled();
    } else if (this.shape === 'bubble') {
      this.toEnd();
    } else if (first) {
      this.isStuck = false;
      if (first === this.inner.firstElementChild) this.node.scrollTop = 0;
      else first.scrollIntoView({ block: 'center' });
    } else {
      this.isStuck = false;
      this.node.scrollTop = 0;
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
    if (wait <= 0 || (last?.state === 'waiting' && last.id !== this.last?.id)) return this.draw();
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
    const before = this.wasAtNewest ? this.last : null;
    this.wasAtNewest = !this.stream.hasNewer;
    const wanted = this.wanted();
    this.arrange(wanted);
    if (this.isStuck) this.toEnd();
    else if (anchor) this.hold(anchor);
    this.arrived(before);
    this.upTo = this.stream.messages.at(-1)?.seq ?? 0;
    this.showPill();
    this.moved?.();
    this.seen();
  }

  /** The nodes that are to be there, in order; those that did not change are the same as before. */
  wanted() {
    const isGone = (it) => this.hidesGone?.() && it.deleted && it.deletion !== 'moved';
    const shown = this.stream.shown.filter((it) => !it.machine_only && !isGone(it));
    const nodes = [];
    const kept = new Map();
    let day = null;
    let hasNew = this.newFrom === null;
    const solvedBy = this.solvedBy?.() ?? null;
    const above = this.stream.hasOlder ? (this.more ??= el('p.stream-more', null, say('list.older'))) : this.head;
    if (this.above.firstChild !== (above ?? null)) refill(this.above, above);
    shown.forEach((message, index) => {
      const previous = shown[index - 1];
      const next = shown[index + 1];
      const at = new Date(message.created_at);
      const date = startOfDay(at).getTime();
      const isNew = !hasNew && message.seq > this.newFrom && message.author_id !== this.me?.id && !message.deleted;
      if (date !== day && this.shape === 'bubble') {
        day = date;
        nodes.push(this.keep(kept, `day ${date}`, '', () => dayLine(at)));
      }
      if (isNew) {
        hasNew = true;
        this.firstNew = message.id;
        if (previous || this.stream.hasOlder) nodes.push(this.keep(kept, 'new', '', newLine));
      }
      const first = !joins(previous, message) || isNew;
      const last = !joins(message, next);
      const author = this.person(message.author_id);
      const quote = this.quote(message.reply_to);
      const solution = this.solution(message, solvedBy);
      const files = Object.fromEntries((message.attachments ?? []).map((id) => [id, this.file?.(id) ?? undefined]));
      const key = JSON.stringify([
        withoutAge(message),
        files,
        first,
        last,
        author.display_name, author.name, author.avatar,
        statusLine(author),
        emojiVersion(),
        quote,
        this.stream.latest > 0,
        message.id === solvedBy,
        solution && [withoutAge(solution.message), solution.author.display_name, solution.author.name],
      ]);
      nodes.push(
        this.keep(
          kept,
          message.id,
          key,
          () =>
            messageElement(
              { ...message, mentionsMe: this.namesMe(message) },
              {
                shape: this.shape,
                author,
                mine: !!this.me && message.author_id === this.me.id,
                first, last, quote,
                size: this.stream.latest,
                act: this.me ? (verb, detail) => this.act(message, verb, detail) : null,
                solves: message.id === solvedBy,
                solution,
                mayModerate: this.mayModerate?.(),
                onStatus: this.onStatus && !message.state ? () => this.onStatus(message) : null,
                files,
              },
            ),
          `w-c${message.client_id}`,
        ),
      );
    });
    this.drawn = kept;
    this.last = shown.at(-1) ?? null;
    // A feed without articles is none.
    this.inner.hidden = !shown.length;
    const isEmpty = !shown.length && this.stream.isLoaded && !this.stream.hasOlder;
    if (isEmpty && !this.below.firstChild)
      this.below.append(empty(this.emptyWords ?? say('talk.empty'), { picture: 'messages' }));
    else if (!isEmpty) refill(this.below);
    return nodes;
  }

  keep(kept, id, key, make, waitedAs) {
    const known = this.drawn.get(id);
    const entry = known?.key === key ? known : { key, node: make() };
    if (id === this.marked) entry.node.classList.add('is-shown');
    const before = known ?? this.drawn.get(waitedAs);
    if (before && entry !== before && before.node.contains(document.activeElement)) entry.held = document.activeElement;
    kept.set(id, entry);
    return entry.node;
  }

  arrange(nodes) {
    const wanted = new Set(nodes);
    for (const child of [...this.inner.children]) if (!wanted.has(child)) child.remove();
    nodes.forEach((node, index) => {
      if (this.inner.children[index] !== node) this.inner.insertBefore(node, this.inner.children[index] ?? null);
    });
    for (const entry of this.drawn.values()) {
      if (!entry.held) continue;
      const { held } = entry;
      entry.held = null;
      // Its actions come with the focus.
      entry.node.focus({ preventScroll: true });
      focusAgain(entry.node, held);
    }
  }

  namesMe(message) {
    return !!this.me && isMentioned(this.me, message);
  }

  /** A message of the window, or one that is fetched; null until then. */
  known(id) {
    const found = this.stream.messages.find((it) => it.id === id) ?? this.quotes.get(id);
    if (found === undefined) {
      this.quotes.set(id, null);
      this.fetch?.(id).then(
        (it) => {
          this.quotes.set(id, it);
          this.draw();
        },
        () => {},
      );
    }
    return found ?? null;
  }

  /** The answer of the topic, for its first post. */
  solution(message, id) {
    const found = id && message.seq === 1 && message.id !== id && !message.deleted ? this.known(id) : null;
    return found && !found.deleted ? { message: found, author: this.person(found.author_id) } : null;
  }

  quote(id) {
    const found = id ? this.known(id) : null;
    if (!found) return null;
    const author = this.person(found.author_id);
    return {
      author: displayName(author),
      text: found.deleted ? say('gone.author') : plain(found.text ?? '', 120),
    };
  }

  /** Announces new messages of others. An own message scrolls to the end. */
  arrived(before) {
    const { last } = this;
    if (!before || !last || this.stream.hasNewer) return;
    const isNews = (it) => this.upTo > 0 && it.seq > this.upTo && it.author_id !== this.me?.id && !it.deleted && this.drawn.has(it.id);
    const news = this.stream.messages.filter(isNews);
    for (const { author_id: author } of news) this.announce?.(displayName(this.person(author)));
    if (!this.isStuck) this.unseen += news.length;
    if (last.id === before.id) return;
    const node = this.drawn.get(last.id)?.node;
    if (last.author_id === this.me?.id && last.state === 'waiting') {
      node?.classList.add('is-arriving');
      this.newFrom = null;
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
    const node = this.drawn.get(id)?.node;
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
    refill(this.pillPlace, wants && pill(this.unseen, () => this.newest()));
  }

  /** Brings a message into view and marks it for two seconds. */
  mark(id) {
    const node = this.drawn.get(id)?.node;
    if (!node) return;
    this.isStuck = false;
    node.scrollIntoView({ block: 'center' });
    this.marked = id;
    node.classList.add('is-shown');
    node.focus({ preventScroll: true });
    setTimeout(() => {
      this.marked = null;
      this.drawn.get(id)?.node.classList.remove('is-shown');
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
    const found = messages.find((it) => it.seq >= seq && this.drawn.has(it.id)) ?? messages.findLast((it) => this.drawn.has(it.id));
    if (!found) return;
    this.isStuck = false;
    // With the title above the first.
    if (found === messages[0] && !this.stream.hasOlder) this.node.scrollTop = 0;
    else this.drawn.get(found.id)?.node.scrollIntoView({ block: 'start' });
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

/** Whether two messages stand in one group: the same author, within five minutes, on one day. */
function joins(a, b) {
  if (!a || !b || a.kind === 'system' || b.kind === 'system' || a.deleted || b.deleted) return false;
  if (a.author_id !== b.author_id) return false;
  const [from, to] = [new Date(a.created_at), new Date(b.created_at)];
  return Math.abs(to - from) < GROUP && startOfDay(from).getTime() === startOfDay(to).getTime();
}

/** All of a message but as of when it is known. */
function withoutAge({ known: _, actions_known: __, ...message }) {
  return message;
}
