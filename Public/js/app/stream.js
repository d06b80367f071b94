// The messages of one conversation as the view sees them: a window that grows at both ends, and what waits to be sent.

import { compare } from "./place.js";
import { sayProblem } from "./text.js";

const PAGE = 50;
/** Messages that are held in the window: beyond that it forgets at the other end. */
const MOST = 150;

export class Stream extends EventTarget {
  constructor(place, conversation) {
    super();
    this.place = place;
    this.conversation = conversation;
    this.messages = [];
    this.waiting = [];
    this.hasOlder = false;
    this.hasNewer = false;
    this.isLoaded = false;
    this.latest = conversation.last_seq ?? 0;
  }

  get path() {
    return `/conversations/${this.conversation.id}/messages`;
  }

  changed() {
    this.dispatchEvent(new Event("change"));
  }

  /** The newest, or those around one. */
  async open(around) {
    const page = await this.place.call("GET", this.path, { query: { around, limit: PAGE } });
    this.messages = [];
    this.#take(page);
    this.hasOlder = !!page.next_older;
    this.hasNewer = !!page.next_newer;
    this.isLoaded = true;
    this.changed();
  }

  async older() {
    if (!this.hasOlder || this.isBusy) return;
    await this.#busy(async () => {
      const page = await this.place.call("GET", this.path, { query: { before: this.messages[0]?.id, limit: PAGE } });
      this.#take(page);
      this.hasOlder = !!page.next_older;
      if (this.messages.length > MOST) {
        this.messages.length = MOST;
        this.hasNewer = true;
      }
    });
  }

  async newer() {
    if (!this.hasNewer || this.isBusy) return;
    await this.#busy(async () => {
      const page = await this.place.call("GET", this.path, { query: { after: this.messages.at(-1)?.id, order: "asc", limit: PAGE } });
      this.#take(page);
      this.hasNewer = !!page.next_newer;
      if (this.messages.length > MOST) {
        this.messages.splice(0, this.messages.length - MOST);
        this.hasOlder = true;
      }
    });
  }

  async refresh() {
    if (!this.isLoaded || this.isBusy) return;
    const page = await this.place.call("GET", this.path, { query: { limit: PAGE } });
    if (this.hasNewer) return;
    const before = JSON.stringify(this.messages.slice(-PAGE));
    this.#take(page);
    if (JSON.stringify(this.messages.slice(-PAGE)) !== before) this.changed();
  }

  async #busy(work) {
    this.isBusy = true;
    try {
      await work();
    } finally {
      this.isBusy = false;
    }
    this.changed();
  }

  #take(page) {
    const all = new Map(this.messages.map((it) => [it.id, it]));
    for (const it of page.data) all.set(it.id, it);
    this.messages = [...all.values()].sort((a, b) => a.seq - b.seq || compare(a.id, b.id));
    this.latest = Math.max(this.latest, page.latest_seq ?? 0);
    const sent = new Set(page.data.map((it) => it.client_id).filter(Boolean));
    this.waiting = this.waiting.filter((it) => !sent.has(it.client_id));
  }

  /** A message as it is now. */
  keep(message) {
    const at = this.messages.findIndex((it) => it.id === message.id);
    if (at >= 0) this.messages[at] = message;
    else if (!this.hasNewer) this.messages = [...this.messages, message].sort((a, b) => a.seq - b.seq);
    this.latest = Math.max(this.latest, message.seq);
    this.changed();
  }

  /** All, as they are shown: what is stored, then what waits. */
  get shown() {
    return this.hasNewer ? this.messages : [...this.messages, ...this.waiting];
  }

  send({ text, replyTo, files = [] }) {
    const waiting = {
      id: `w-${crypto.randomUUID()}`, client_id: crypto.randomUUID(), author_id: this.place.me.id, text, state: "waiting",
      reply_to: replyTo?.id ?? null, attachments: files.map((it) => it.id), created_at: new Date().toISOString(), actions: {},
    };
    this.waiting.push(waiting);
    this.changed();
    return this.#post(waiting);
  }

  retry(id) {
    const waiting = this.waiting.find((it) => it.id === id);
    if (!waiting) return undefined;
    waiting.state = "waiting";
    this.changed();
    return this.#post(waiting);
  }

  discard(id) {
    this.waiting = this.waiting.filter((it) => it.id !== id);
    this.changed();
  }

  async #post(waiting) {
    try {
      const message = await this.place.call("POST", this.path, {
        body: {
          text: waiting.text, client_id: waiting.client_id,
          ...(waiting.reply_to ? { reply_to: waiting.reply_to } : {}),
          ...(waiting.attachments.length ? { attachments: waiting.attachments } : {}),
        },
      });
      this.waiting = this.waiting.filter((it) => it !== waiting);
      this.keep(message);
    } catch (error) {
      Object.assign(waiting, { state: "failed", fault: sayProblem(error) });
      this.changed();
    }
  }
}
