// The timeline of the user: the posts of followed users and the user's own, newest first, each once. The first page is kept, and
// shown without a network; those of other scopes and filtered ones come from the server alone. A view that needs more, such as one where new posts wait, builds it on `parley.subscribe('timeline')`.

import { keepAnswer, keptAnswer } from './answers.js';
import { withOperations } from './operations.js';
import { unsent } from './window.js';

/** @typedef {import('./parley.js').Parley} Parley @typedef {import('./operations.js').Operation} Operation */
/** @typedef {import('./api.js').Message} Message */
/** @typedef {{ entry: Message, post: Message }} Entry A post is its own entry; of a repost, `post` is the original one. */
/** @typedef {import('./api.js').TimelinePosition} TimelinePosition */
/** @typedef {Message & { reposted_by: string | null, state?: Operation['state'] }} TimelinePost */

/** The most posts of a page. */
const maxPage = 200;
const page = 50;
const name = 'timeline';
const positionName = 'timeline position';

export class Timeline {
  /** @type {Entry[]} */
  #entries = [];
  /** @type {string | null} */
  #next = null;
  /** The number of requests, and of the one whose answer is shown: earlier answers are dropped. */
  #started = 0;
  #shown = 0;
  /** The same for requests for the position. */
  #positionsStarted = 0;
  #positionShown = 0;
  /** @type {Map<string, Operation>} The posts and changes that the shown answer may lack, sent or not. */
  #changes = new Map();
  /** @type {(() => void)[]} */
  #ends = [];
  /**
   * The last post that the user has read, on any device. All timelines have one position, which never moves back.
   * @type {TimelinePosition | null}
   */
  position = null;

  /**
   * @param {Parley} parley
   * @param {(timeline: Timeline) => void} onChange Called with each change of `posts`.
   * @param {{ scope?: 'followed' | 'followedAndMentions' | 'everyone', filter?: string }} options `followedAndMentions` adds the
   *   posts and replies of all feeds that mention the user, `everyone` has the posts of all readable feeds. `filter` is the name of
   *   a saved filter: `more` may then add no posts although `hasMore` stays true.
   */
  constructor(parley, onChange, { scope = 'followed', filter } = {}) {
    this.parley = parley;
    this.onChange = onChange;
    this.scope = scope;
    this.filter = filter;
  }

  get #isKept() {
    return this.scope === 'followed' && this.filter === undefined;
  }

  /** The posts of other users after the position, at most 100; undefined until it is known, and in the timeline of all feeds. */
  get unread() {
    return this.scope === 'everyone' ? undefined : this.position?.unread_count;
  }

  /** Whether `more` has a page to fetch. */
  get hasMore() {
    return this.#next !== null;
  }

  /**
   * Shows the kept posts and then the server's, and follows the timeline until `close`. Without a network the kept ones stay.
   * @returns {Promise<void>}
   */
  async open() {
    const { parley } = this;
    let wasLive = false;
    this.#ends = [
      parley.subscribe('timeline'),
      parley.on('change', (changes) => {
        if (changes.some((/** @type {{ table: string }} */ { table }) => table === 'outbox')) this.#show();
      }),
      parley.on('cancelled', ({ id }) => {
        if (this.#changes.delete(id)) this.#show();
      }),
      parley.on('event', (event) => {
        if (this.#isOfTimeline(event)) this.#refreshIfPossible().catch(() => {});
      }),
      parley.on('state', ({ connection }) => {
        const isLive = connection === 'live';
        if (isLive && !wasLive) this.#refreshIfPossible().catch(() => {});
        wasLive = isLive;
      }),
    ];
    const kept = this.#isKept ? await keptAnswer(parley, name) : null;
    if (kept && this.#shown === 0) {
      this.#entries = kept;
      this.position = await keptAnswer(parley, positionName);
      this.#show();
    }
    await this.#refreshIfPossible();
  }

  close() {
    for (const end of this.#ends) end();
    this.#ends = [];
  }

  /**
   * Unsent posts, then the others, with the user's pending changes.
   * @returns {TimelinePost[]}
   */
  get posts() {
    const { parley } = this;
    const changes = [...this.#changes.values()].sort((a, b) => a.order - b.order);
    const sent = this.#entries.map(({ entry, post }) => {
      const shown = withOperations(post, changes.filter((it) => it.message_id === post.id));
      return { ...shown, reposted_by: entry === post || entry.id === post.id ? null : entry.author_id };
    });
    const known = new Set();
    const listed = sent.filter(({ id, deleted }) => !deleted && !known.has(id) && known.add(id));
    const clients = new Set(listed.filter((it) => it.author_id === parley.me?.id).map((it) => it.client_id));
    const waiting = changes.filter((it) => this.#isOwnPost(it) && !clients.has(it.id)).reverse();
    return [...waiting.map((it) => ({ .../** @type {any} */ (unsent(it, parley.me?.id)), reposted_by: null, state: it.state })), ...listed];
  }

  /** Fetches the newest posts again. */
  async refresh() {
    const request = ++this.#started;
    const { parley } = this;
    const [waiting, { start }] = [parley.operations(), parley.mirror];
    const answer = await this.#load({ limit: Math.min(maxPage, Math.max(page, this.#entries.length)) });
    if (request < this.#shown) return;
    [this.#shown, this.#entries, this.#next] = [request, answer.entries, answer.next];
    this.#changes = new Map(waiting.map((it) => [it.id, it]));
    if (this.#isKept) await keepAnswer(parley, name, answer.entries, start);
    this.#show();
    await this.#readPosition(request);
  }

  /** @param {number} request That of the shown posts: a later one reads the position itself. */
  async #readPosition(request) {
    const { parley, scope, filter } = this;
    const { start } = parley.mirror;
    const number = ++this.#positionsStarted;
    const query = scope === 'everyone' ? {} : { filter, mentions: scope === 'followedAndMentions' || undefined };
    const position = await parley.client.calls.getTimelinePosition({ query });
    if (request !== this.#shown || number < this.#positionShown) return;
    await this.#setPosition(position, number, start);
  }

  /** @param {TimelinePosition} position @param {number} number That of its request. @param {string | null} start That of the mirror at the request. */
  async #setPosition(position, number, start) {
    [this.#positionShown, this.position] = [number, position];
    if (this.#isKept) await keepAnswer(this.parley, positionName, position, start);
    this.#show();
  }

  /**
   * Moves the position up to a post, by default the newest one. Needs the network.
   * @param {{ id: string }} [post]
   */
  async markRead(post) {
    const { entry } = (post ? this.#entries.find((it) => it.post.id === post.id) : this.#entries[0]) ?? {};
    if (!entry || entry.id === this.position?.message_id) return;
    const { start } = this.parley.mirror;
    const position = await this.parley.client.calls.markTimelineRead({ body: { message_id: entry.id } });
    // The answers to earlier requests may be from before.
    await this.#setPosition(position, ++this.#positionsStarted, start);
    await this.#readPosition(this.#shown);
  }

  /** Fetches the next page. */
  async more() {
    if (this.#next === null) return;
    const request = this.#shown;
    const answer = await this.#load({ limit: page, next: this.#next });
    if (request !== this.#shown) return;
    const known = new Set(this.#entries.map(({ entry }) => entry.id));
    this.#entries = [...this.#entries, ...answer.entries.filter(({ entry }) => !known.has(entry.id))];
    this.#next = answer.next;
    this.#show();
  }

  /** @param {{ limit: number, next?: string }} query @returns {Promise<{ entries: Entry[], next: string | null }>} */
  async #load(query) {
    const { calls } = this.parley.client;
    const all = { ...query, filter: this.filter, include: 'users,messages' };
    const { data, next, included } = await (this.scope === 'everyone'
      ? calls.getGlobalTimeline({ query: all })
      : calls.getTimeline({ query: { ...all, mentions: this.scope === 'followedAndMentions' || undefined } }));
    this.parley.keepUsers(included?.users ?? []);
    const posts = new Map((included?.messages ?? []).map((/** @type {Message} */ it) => [it.id, it]));
    const entries = data.flatMap((/** @type {Message} */ entry) => {
      const post = entry.repost_of ? posts.get(entry.repost_of) : entry;
      return post ? [{ entry, post }] : [];
    });
    return { entries, next };
  }

  #show() {
    for (const it of this.parley.operations()) this.#changes.set(it.id, it);
    this.onChange(this);
  }

  /** Without a network, or while the server restarts, the next connection refreshes. */
  async #refreshIfPossible() {
    try {
      await this.refresh();
    } catch (error) {
      if (!(/** @type {{ isTemporary?: boolean }} */ (error).isTemporary)) throw error;
    }
  }

  /** Whether an event may change the timeline: of a feed, of a conversation that only this topic has events of, or one of these. */
  #isOfTimeline(/** @type {{ event: string, stream?: string }} */ { event, stream }) {
    if (['relation.changed', 'notification.created', 'timeline_filters.changed', 'timeline.read'].includes(event)) return true;
    const [kind, id] = (stream ?? '').split(':');
    return kind === 'conversation' && (this.parley.conversation(id)?.kind ?? 'feed') === 'feed';
  }

  #isOwnPost(/** @type {Operation} */ { kind, conversation_id: id, body, target }) {
    const { kind: conversationKind, owner_id: owner } = this.parley.conversation(id) ?? {};
    return kind === 'send' && conversationKind === 'feed' && owner === this.parley.me?.id && !body.reply_to && !target;
  }
}
