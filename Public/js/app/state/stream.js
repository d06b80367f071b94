// The messages of a conversation for a view: the library's window, with unsent messages at its end.

import { canJoin } from './forums.js';
import { unsentRow } from './unsent.js';

/** The maximum number of unsent messages shown; the offline notice has the total. */
const MAX_WAITING = 100;
/** While more than this leave one by one, not each of them is drawn: that would take longer than the sending. */
const FEW = 20;
const PAUSE = 250;

export class Stream extends EventTarget {
  constructor(site, conversation) {
    super();
    this.site = site;
    this.conversation = conversation;
    this.shown = [];
    this.isLoaded = false;
    /** Upload progress, by operation and file. */
    this.sent = new Map();
    this.onProgress = ({ detail }) => this.#progressed(detail);
    site.addEventListener('progress', this.onProgress);
    // Messages of muted users fill no page.
    const isIncluded = (message) => !site.parley?.mirror.relations.get(message.author_id)?.mute;
    this.window = site.parley.window(conversation.id, (window) => this.#take(window), { size: 150, isIncluded });
  }

  close() {
    this.site.removeEventListener('progress', this.onProgress);
    clearTimeout(this.later);
    this.window.close();
  }

  get latest() {
    // Also of a topic that the user only reads.
    return this.site.parley?.conversation(this.conversation.id)?.last_seq ?? this.conversation.last_seq ?? 0;
  }

  get hasOlder() {
    const [first] = this.messages;
    return !!first && !this.window.isAtOldest && first.seq !== 1;
  }

  get hasNewer() {
    return !this.window.isAtNewest;
  }

  get messages() {
    return this.shown.filter((it) => !it.state);
  }

  /** Keeps the top of the window while the view is scrolled up. */
  set isSticking(isSticking) {
    this.window.isSticking = isSticking;
  }

  /** The newest, or those around one. */
  async open(around) {
    await (around ? this.window.around({ id: around }) : this.window.latest());
    if (this.window.problem && !this.shown.length && !this.window.problem.isTemporary) throw this.window.problem;
    this.isLoaded = true;
    this.dispatchEvent(new Event('change'));
  }

  /** Shows the message with this `seq` and its neighbours, from the cache if offline. */
  async openAt(seq) {
    await this.window.around({ seq });
    const { problem, items } = this.window;
    const isShown = items.some(({ message }) => message.seq >= seq);
    if (problem && !isShown && this.isLoaded) throw problem;
    if (problem && !isShown) return this.open();
    this.isLoaded = true;
    return this.dispatchEvent(new Event('change'));
  }

  older() {
    return this.#once(() => this.window.older());
  }

  newer() {
    return this.#once(() => this.window.newer());
  }

  async #once(work) {
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      await work();
      if (this.window.problem) throw this.window.problem;
    } finally {
      this.isBusy = false;
    }
  }

  #take(window) {
    const waiting = window.items.filter((it) => it.state === 'pending');
    if (waiting.length <= FEW) return this.#show(window, waiting);
    this.later ??= setTimeout(() => {
      this.later = null;
      this.#show(window, window.items.filter((it) => it.state === 'pending'));
    }, PAUSE);
    return undefined;
  }

  #show(window, waiting) {
    const me = this.site.me?.id;
    const hidden = new Set(waiting.slice(0, Math.max(0, waiting.length - MAX_WAITING)));
    this.shown = window.items
      .filter((it) => !hidden.has(it))
      .map(({ message, operations, state }) => {
        if (state !== 'sent') {
          const sent = this.sent.get(operations[0].id);
          return unsentRow({ ...message, author_id: message.author_id ?? me }, operations, (file) => sent?.get(file) ?? 0);
        }
        // Events and cached answers have no current status.
        return message.author_id === me ? { ...message, status: this.site.parley.statusOf(message) } : message;
      });
    this.dispatchEvent(new Event('change'));
  }

  #progressed({ id, file, sent, size }) {
    if (!this.shown.some((it) => it.operation === id)) return;
    const files = this.sent.get(id) ?? new Map();
    this.sent.set(id, files.set(file, size ? sent / size : 1));
    this.#take(this.window);
  }

  /** Applies a server answer that did not come through the outbox. */
  keep(message) {
    this.site.parley.renew(`message:${message.id}`);
  }

  #held(message) {
    return { ...message, conversation_id: this.conversation.id };
  }

  send({ text, replyTo, files = [], ...more }) {
    const forum = this.site.forums.get(this.conversation.forum_id);
    return this.site.parley.send(
      this.conversation.id,
      { text, ...(replyTo ? { reply_to: replyTo.id } : {}), ...more },
      files.map((it) => it.file),
      // Writing in a forum joins it.
      canJoin(this.site, forum) ? { joins: forum.id } : {},
    );
  }

  edit(message, change) {
    return this.site.parley.edit(this.#held(message), change);
  }

  setAction(message, type) {
    return this.site.parley.setAction(this.#held(message), type);
  }

  removeAction(message, type) {
    return this.site.parley.removeAction(this.#held(message), type);
  }

  setVote(message, options) {
    return this.site.parley.setVote(this.#held(message), options);
  }

  retry(message) {
    return this.site.parley.retry(message.operation);
  }

  discard(message) {
    return this.site.parley.cancel(message.operation);
  }
}
