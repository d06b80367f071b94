// The overview of everything unread: mentions, new topics by forum, notices. One answer of `GET /unread`, fetched again after
// events that change it. The event "overview" announces a change.

import { keepAnswer, keptAnswer } from '../../parley/answers.js';
import { backOff } from '../../parley/time.js';
import { markRead } from './messages.js';

/** Events within this time lead to one request, in milliseconds; a stream of events delays it by at most the second time. */
const GATHERS = 400;
const MAX_DELAY = 2_000;
const LIMIT = 200;
/** An answer is kept so long after it came, in milliseconds, unless another one follows. */
const KEEPS_AFTER = 5_000;
/** Whether an answer was kept, in the local storage. */
const KEPT = 'overview';
/** The wait for the end of a conversation for later: the clock of the server may be behind, and timers have a maximum. */
const REST = 1_000;
const MAX_WAIT = 2 ** 31 - 1;
/** The time after the opening of the page until which the answer of the start serves, in milliseconds. */
const MAX_START = 10_000;
/** The forums whose new topics are announced live. */
const MAX_FORUMS = 100;
const CHANGING = new Set(['conversation.created', 'conversation.removed', 'notification.created', 'notification.read', 'level.changed', 'later.changed', 'participant.joined', 'participant.left']);

/** A row of a further page without what was read since. @param {Set<string>} read conversations and topics */
function withoutRead(item, read) {
  const topics = item.topics.filter(({ id }) => !read.has(id));
  const counts = read.has(item.conversation_id) && { unread_count: 0, mentions: 0, replies: 0 };
  return { ...item, ...counts, topics, new_topics: item.new_topics - item.topics.length + topics.length };
}

export class Overview {
  #site;
  #timer = null;
  /** The time of the first event that no request has followed. */
  #since = null;
  #failures = 0;
  #end = null;
  #topics = new Map();
  #asked = 0;
  #askedAt = 0;
  /** The position in the log at the last request; null before there is content. */
  #cursor;
  /** The first request, sent before there is content. */
  #early = null;
  /** The first answer of this start, until a page has shown it. */
  #first = null;
  #keeping = null;

  constructor(site) {
    this.#site = site;
    this.clear();
    site.addEventListener('event', ({ detail }) => CHANGING.has(detail.event) && this.soon());
    // A request that was sent just before, or since which nothing has happened, is not repeated: later changes arrive as events.
    site.addEventListener('state', () => site.state === 'online' && Date.now() - this.#askedAt > GATHERS && this.#cursor !== site.parley?.mirror.cursor && this.soon());
    site.addEventListener('forums', () => this.attend());
    document.addEventListener('visibilitychange', () => !document.hidden && site.me && this.soon());
  }

  clear() {
    clearTimeout(this.#timer);
    clearTimeout(this.#end);
    this.#early = this.#first = null;
    this.#cursor = undefined;
    for (const end of this.#topics.values()) end();
    this.#topics.clear();
    [this.items, this.further, this.next, this.notices, this.unread, this.upTo, this.isKnown] = [[], [], null, [], {}, null, false];
    /** Conversations marked as read since the answer. */
    this.seen = new Set();
    /** Conversations for later, and until when. */
    this.later = new Map();
  }

  /** Fetches it soon. */
  soon() {
    this.#since ??= Date.now();
    this.#loadIn(Math.max(0, Math.min(GATHERS, this.#since + MAX_DELAY - Date.now())));
  }

  #loadIn(delay) {
    if (!this.#site.parley) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.load().catch(() => {}), delay);
  }

  /** Sends the first request beside that of the snapshot. The next call of `load` takes its answer. */
  begin() {
    (this.#early = this.#ask()).catch(() => {});
  }

  /** Takes the answer of the first request, or sends it. */
  start() {
    (this.#first = this.load()).catch(() => (this.#first = null));
  }

  /** Fetches it for a page. In the first seconds, the answer of the start serves. */
  show() {
    const first = performance.now() < MAX_START && this.#first;
    this.#first = null;
    return first || this.load();
  }

  #ask() {
    this.#askedAt = Date.now();
    this.#cursor = this.#site.parley.mirror.cursor;
    return this.#site.call('GET', '/unread', { query: { limit: LIMIT, include: 'users' }, tries: 1 });
  }

  /** Keeps the last answer if the server can't be reached, and retries while the connection is up. */
  async load() {
    const { parley } = this.#site;
    if (!parley) return;
    clearTimeout(this.#timer);
    this.#since = null;
    const turn = ++this.#asked;
    const isCurrent = () => turn === this.#asked && parley === this.#site.parley;
    const seen = new Set(this.seen);
    const { start } = parley.mirror;
    try {
      const asked = this.#early ?? this.#ask();
      this.#early = null;
      const found = await asked;
      if (!isCurrent()) return;
      this.#failures = 0;
      this.#site.keepUsers(found.included.users);
      for (const id of seen) this.seen.delete(id);
      this.further = this.further.map((it) => withoutRead(it, seen));
      this.#take(found);
      clearTimeout(this.#keeping);
      this.#keeping = setTimeout(() => this.#keep(parley, found, start).catch(() => {}), KEEPS_AFTER);
    } catch (error) {
      this.#askedAt = 0;
      this.#cursor = undefined;
      if (!error.isTemporary) throw error;
      if (!isCurrent()) return;
      if (this.#site.state === 'online') this.#loadIn(error.retryAfter ?? backOff(++this.#failures));
    }
  }

  #take(found) {
    // Rows of further pages (inbox/further.js) stay below the first page.
    if (!found.next || !this.further[0]) [this.further, this.next] = [[], found.next];
    this.items = this.#joined(found.data, this.further);
    [this.notices, this.unread, this.upTo, this.isKnown] = [found.notifications, found.unread, found.up_to, true];
    this.later = new Map(found.later.map((it) => [it.conversation_id, Date.parse(it.until)]));
    clearTimeout(this.#end);
    const wait = Math.min(...this.later.values()) - Date.now();
    if (this.later.size) this.#end = setTimeout(() => this.soon(), Math.min(Math.max(wait, REST), MAX_WAIT));
    this.#site.say('overview');
  }

  /** The items of a later page that an earlier one does not have. */
  #joined(items, more) {
    const keyOf = (it) => it.kind + it.forum_id + it.conversation_id;
    const listed = new Set(items.map(keyOf));
    return [...items, ...more.filter((it) => !listed.has(keyOf(it)))];
  }

  /** Adds a further page. */
  append({ data, next }) {
    this.next = next;
    this.further.push(...data);
    this.items = this.#joined(this.items, data);
    this.#site.say('overview');
  }

  /** Keeps an answer for the next start. */
  async #keep(parley, found, start) {
    await keepAnswer(parley, KEPT, { ...found, included: null }, start);
    if (parley === this.#site.parley) localStorage.setItem(KEPT, '1');
  }

  /** Shows the answer that was kept, until the first one of this start. */
  async restore() {
    if (this.isKnown || !localStorage.getItem(KEPT)) return;
    const { parley } = this.#site;
    const found = await keptAnswer(parley, KEPT);
    if (found && !this.isKnown && parley === this.#site.parley) this.#take(found);
  }

  /** Marks a conversation or new topic as read up to a message. */
  async markSeen(id, message) {
    this.take(id);
    await markRead(this.#site, { id }, message);
    this.soon();
  }

  /** Removes a conversation until the next answer. */
  take(id) {
    if (this.seen.has(id) || !this.#lists(id)) return;
    this.seen.add(id);
    this.#site.say('overview');
  }

  /** Whether a conversation is listed no more. */
  omits(id) {
    return this.seen.has(id) || this.later.has(id);
  }

  #lists(id) {
    return this.items.some((it) => it.conversation_id === id || it.topics.some((topic) => topic.id === id));
  }

  /** The listed new topics of a forum, the most active first. */
  topicsOf(forum) {
    const item = this.items.find((it) => it.kind === 'forum' && it.forum_id === forum);
    return (item?.topics ?? []).filter((it) => !this.omits(it.id));
  }

  isNew(topic) {
    return !this.seen.has(topic) && this.items.some((it) => it.topics.some(({ id }) => id === topic));
  }

  /** The number of new topics of a forum. */
  newTopicsOf(forum) {
    const item = this.items.find((it) => it.kind === 'forum' && it.forum_id === forum);
    return item ? Math.max(0, item.new_topics - item.topics.filter((it) => this.omits(it.id)).length) : 0;
  }

  /** The number of notices, and of topics and rooms with mentions or replies. All reports count as one. */
  get mentions() {
    const called = this.items.filter((it) => it.mentions + it.replies > 0 && /room|topic|forum|feed/.test(it.kind) && !this.omits(it.conversation_id));
    // A request with unread messages counts as these.
    const notices = this.notices.filter((it) => it.kind !== 'request' || !this.#site.conversations.get(it.conversation_id)?.unread_count);
    return called.length + new Set(notices.map((it) => (it.kind === 'report' ? 0 : it.id))).size;
  }

  get newTopics() {
    return this.items.reduce((sum, it) => sum + (it.kind === 'forum' ? this.newTopicsOf(it.forum_id) : 0), 0);
  }

  /** Subscribes to the user's forums, for events of new topics. */
  attend() {
    const { parley, forums } = this.#site;
    if (!parley) return;
    // The position of the snapshot, which was asked for beside the first request.
    if (this.#cursor === null) this.#cursor = parley.mirror.cursor;
    const joined = [...forums.values()].filter((it) => it.role && it.level !== 'nothing').slice(0, MAX_FORUMS);
    const wanted = new Set(joined.map(({ id }) => id));
    for (const [id, end] of this.#topics) {
      if (wanted.has(id)) continue;
      end();
      this.#topics.delete(id);
    }
    for (const id of wanted) if (!this.#topics.has(id)) this.#topics.set(id, parley.subscribe(`forum:${id}`));
  }
}
