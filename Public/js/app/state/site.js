// The app's state of the site: the signed-in user, forums, conversations, users. Pages read it and listen to its events:
// "me", "forums", "conversations", "users", "presence", "files", "overview", "forumActivity", "typing", "state", "out".
//
// A signed-in user's state comes from the client library, which caches it on disk and subscribes to the server. A visitor's
// is fetched on demand.

import { Client } from '../../parley/client.js';
import { Parley } from '../../parley/parley.js';
import { Problem } from '../../parley/problem.js';
import { forgetPictures } from '../core/bundle.js';
import { useEmoji } from '../core/customemoji.js';
import { useGroups } from '../core/groups.js';
import { displayName } from '../core/displayname.js';
import { Files } from './files.js';
import { Overview } from './overview.js';

const TYPING_LASTS = 6_000;
const PRESENCE_GATHERS = 250;
const MAX_FORUMS = 500;
const ACCOUNT = 'account';
/** The client version that is compared with the server's `min_client`. */
const VERSION = '0.1.0';
const CHANGED_BY = {
  forums: 'forums',
  conversations: 'conversations',
  users: 'users',
  receipts: 'conversations',
  relations: 'users',
};

export class SiteState extends EventTarget {
  #client;

  constructor() {
    super();
    this.client = new Client();
    this.server = null;
    this.me = null;
    this.parley = null;
    this.state = 'connecting';
    this.forums = new Map();
    this.conversations = new Map();
    /** Conversations that are not mine but were met, by id. */
    this.others = new Map();
    this.users = new Map();
    /** The forums as `GET /forums` listed them, with activity and counts, by id. */
    this.activity = new Map();
    /** The members of rooms, by conversation. */
    this.peopleOf = new Map();
    this.files = new Files(this);
    this.asked = new Map();
    this.writing = new Map();
    this.said = new Set();
    this.toldPresence = null;
    this.overview = new Overview(this);
  }

  get isHost() {
    return ['owner', 'admin'].includes(this.me?.role);
  }

  get isModerator() {
    return this.isHost || this.me?.role === 'moderator';
  }

  /** Whether the user belongs to the audience of a site setting. @param {'people'|'moderators'|'staff'} [circle] */
  isAmong(circle = 'users') {
    if (!this.me || this.me.role === 'guest') return false;
    return { users: true, moderators: this.isModerator, staff: this.isHost }[circle] ?? false;
  }

  get mayInvite() {
    return this.isAmong(this.parley?.settings?.may_invite);
  }

  get mayMakeForums() {
    return this.isAmong(this.parley?.settings?.may_create_forums);
  }

  /** Whether this app is older than the server's minimum version. */
  get isTooOld() {
    return compareVersions(VERSION, this.server?.min_client ?? '0') < 0;
  }

  call(method, path, options) {
    return this.client.call(method, path, options);
  }

  get client() {
    return this.#client;
  }

  /** Repeats a request that needs a new proof, after the user has given it. */
  set client(client) {
    const call = client.call.bind(client);
    client.call = (...request) =>
      call(...request).catch(async (error) => {
        if (error.code !== 'step_up_required' || !(await this.prove?.(error))) throw error;
        return call(...request);
      });
    this.#client = client;
  }

  /** Opens the cache if a user was signed in here; the server is asked later. */
  async open() {
    const account = localStorage.getItem(ACCOUNT);
    if (account && (await this.#hold(account))) return;
    this.server = await this.call('GET', '/server');
    if (this.server.signed_in) await this.enter(await this.call('GET', '/users/me'));
  }

  /** From here on this person is in. */
  async enter(me) {
    this.me = me;
    this.ban = null;
    localStorage.setItem(ACCOUNT, me.id);
    this.users.set(me.id, me);
    if (!(await this.#hold(me.id))) throw this.parley?.state.reason ?? new Problem({ code: 'network' });
  }

  // MARK: Cache and sync

  /** Whether the cache can be shown. */
  async #hold(account) {
    if (!this.parley) {
      this.parley = await Parley.open({ account, notifications: false });
      this.client = this.parley.client;
      this.connection = null;
      this.#listen();
    }
    await this.#settled();
    if (!this.parley?.me || this.parley.mirror.cursor === null) return false;
    this.isFollowed = true;
    this.forums = this.parley.mirror.forums;
    this.users = this.parley.mirror.users;
    this.#take();
    this.overview.attend();
    this.overview.soon();
    const held = this.parley.mirror.value('server')?.server ?? this.server;
    this.server = held ?? (await this.parley.server());
    if (held)
      this.parley.server().then(
        (it) => {
          this.server = it;
          this.#take();
        },
        () => {},
      );
    this.#take();
    return true;
  }

  /** Resolves when there is content to show, or when it is certain that there is none. */
  #settled() {
    const { parley } = this;
    const isDone = () =>
      parley.mirror.cursor !== null || (this.connection && ['offline', 'stopped'].includes(this.connection));
    if (isDone()) return undefined;
    return new Promise((resolve) => {
      const ends = [];
      const look = () => {
        if (!isDone()) return;
        for (const end of ends) end();
        resolve();
      };
      ends.push(parley.on('change', look), parley.on('state', look));
    });
  }

  #listen() {
    const { parley } = this;
    parley.on('change', (changes) => {
      const names = new Set(changes.map(({ table }) => CHANGED_BY[table]).filter(Boolean));
      if (changes.some(({ table }) => table === 'site')) names.add('me');
      if (this.isFollowed) this.#take();
      for (const name of names) this.#sayOnce(name);
    });
    parley.on('state', ({ connection }) => {
      // The end of an earlier session may come late.
      if (this.parley !== parley) return;
      this.connection = connection;
      if (this.isFollowed) this.setState({ live: 'online', connecting: 'connecting', catchingUp: 'connecting' }[connection] ?? 'offline');
      else this.say('state');
    });
    parley.on('typing', ({ conversation_id: id, user_id: who }) => this.#typed(id, who));
    parley.on('signedOut', (reason) => {
      // The library closes this object; the next sign-in opens another one.
      if (this.me) this.#out(reason);
      else this.parley = null;
    });
    parley.on('accountChanged', (me) => {
      localStorage.setItem(ACCOUNT, me.id);
      location.reload();
    });
    parley.on('reset', (detail) => this.say('reset', detail));
    parley.on('failed', ({ operation, problem }) => this.say('failed', { operation, problem }));
    parley.on('event', (event) => {
      if (event.event === 'message.created') this.#typed(event.data.conversation_id, event.data.author_id, { ended: true });
      this.say('event', event);
    });
    parley.on('forumActivity', (detail) => this.say('forumActivity', detail));
    parley.on('progress', (detail) => this.say('progress', detail));
    parley.on('presence', () => this.#sayPresence());
    parley.subscribe('presence');
  }

  #take() {
    const { parley } = this;
    this.me = parley.me ?? this.me;
    // The cache has topics that the user only reads, too. None of them counts as unread.
    const isOwn = (it) => it.role !== undefined || it.kind === 'feed';
    this.conversations = new Map(parley.conversations.filter(isOwn).map((it) => [it.id, it]));
    if (parley.settings && this.server) {
      const { name, hue, registration } = parley.settings;
      Object.assign(this.server, { name, hue, policy: registration });
    }
    const hasNewGroups = useGroups(parley.settings?.groups ?? []);
    if (useEmoji(parley.settings?.emoji ?? []) || hasNewGroups) this.#sayOnce('users');
  }

  /** Many changes, one word: pages draw once for all of them. */
  #sayOnce(name) {
    if (this.said.has(name)) return;
    this.said.add(name);
    queueMicrotask(() => {
      this.said.delete(name);
      this.say(name, {});
    });
  }

  /** Many come and go at once, after the server was started anew say. */
  #sayPresence() {
    this.toldPresence ??= setTimeout(() => {
      this.toldPresence = null;
      this.say('presence', {});
    }, PRESENCE_GATHERS);
  }

  /** A user types, or has sent what was typed. */
  #typed(id, who, { ended = false } = {}) {
    if (who === this.me?.id) return;
    const users = this.writing.get(id) ?? new Map();
    if (ended && !users.has(who)) return;
    this.writing.set(id, users);
    clearTimeout(users.get(who));
    const names = () => [...users.keys()].map((it) => this.displayName(it)).filter(Boolean);
    const tell = () => this.say('typing', { conversation: id, names: names() });
    const end = () => {
      users.delete(who);
      tell();
    };
    if (ended) return void end();
    users.set(who, setTimeout(end, TYPING_LASTS));
    tell();
  }

  // MARK: Events for pages

  say(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  /** Calls a function at each of these events. Returns a function that ends that. */
  listen(names, listener) {
    for (const name of names) this.addEventListener(name, listener);
    return () => {
      for (const name of names) this.removeEventListener(name, listener);
    };
  }

  setState(state) {
    if (this.state === state) return;
    this.state = state;
    this.say('state');
  }

  /** Forgets the session. The library has erased or locked its cache. */
  #out(reason) {
    this.ban = reason?.params?.banned ? new Problem({ code: 'account_disabled', params: reason.params }) : null;
    [this.me, this.parley, this.connection, this.isFollowed] = [null, null, null, false];
    this.overview.clear();
    this.files.clear();
    this.client = new Client();
    [this.forums, this.conversations, this.users, this.peopleOf, this.activity] = [new Map(), new Map(), new Map(), new Map(), new Map()];
    localStorage.clear();
    this.say('out');
    forgetPictures();
  }

  // MARK: Forums and conversations

  async loadForums() {
    const forums = new Map();
    let next;
    do {
      const page = await this.call('GET', '/forums', { query: { next, include: 'users' } });
      this.keepUsers(page.included.users);
      for (const it of page.data) {
        forums.set(it.id, it);
        this.activity.set(it.id, it);
      }
      next = page.next;
    } while (next && forums.size < MAX_FORUMS);
    if (!this.isFollowed) this.forums = forums;
    else for (const [id, it] of forums) if (!this.forums.has(id)) this.forums.set(id, it);
    this.say('forums');
  }

  /** Fetches what is new. The cache has all forums and follows their events; a visitor has no cache. */
  async catchUp() {
    return this.parley ? this.parley.catchUp() : this.loadForums();
  }

  async forum(id) {
    if (!this.forums.has(id)) this.keepForum(await this.call('GET', `/forums/${encodeURIComponent(id)}`));
    return this.forums.get(id);
  }

  /** Whether the user may join a forum, as far as known: readers may, guests and groups of a private one are added by others. */
  canJoin(forum) {
    if (!this.me || !forum || forum.role || forum.archived || this.me.role === 'guest') return false;
    return forum.visibility !== 'private' || this.isHost;
  }

  keepForum(forum) {
    this.forums.set(forum.id, forum);
    this.say('forums');
    return forum;
  }

  /** By the host's sections, in the host's order. */
  sections() {
    const sections = new Map();
    const inOrder = [...this.forums.values()].sort((a, b) => a.position - b.position || compare(a.id, b.id));
    for (const it of inOrder) {
      const title = it.section ?? null;
      if (!sections.has(title)) sections.set(title, []);
      sections.get(title).push(it);
    }
    return [...sections].map(([title, forums]) => ({ title, forums }));
  }

  async conversation(id) {
    const known = this.conversations.get(id) ?? this.others.get(id);
    if (known) return known;
    const found = this.parley?.conversation(id) ?? (await this.call('GET', `/conversations/${encodeURIComponent(id)}`));
    this.others.set(found.id, found);
    return found;
  }

  keepConversation(conversation) {
    this.conversations.set(conversation.id, conversation);
    this.others.delete(conversation.id);
    this.say('conversations');
    return conversation;
  }

  /** The cached topics of a forum, last active first. */
  topicsHere(forum) {
    const active = (it) => it.last_message_id ?? it.id;
    const isHere = (it) => it.kind === 'topic' && it.forum_id === forum.id;
    return [...this.parley.mirror.conversations.values()].filter(isHere).sort((a, b) => compare(active(b), active(a)));
  }

  /** Those that are no part of a forum, last active first. */
  talks() {
    return [...this.conversations.values()].filter((it) => !it.forum_id && it.kind !== 'feed' && !it.type);
  }

  unreadOf(forum) {
    let unread = 0;
    for (const it of this.conversations.values())
      if (it.forum_id === forum.id && it.level !== 'nothing') unread += it.unread_count ?? 0;
    return unread;
  }

  /** The number of conversations with unread messages. */
  unreadByForum() {
    const unread = new Map();
    for (const { forum_id: id, level, unread_count: count } of this.conversations.values())
      if (id && count && level !== 'nothing') unread.set(id, (unread.get(id) ?? 0) + count);
    return unread;
  }

  // MARK: People

  /** Returns a user as far as known; the event "users" announces more. */
  person(id) {
    const known = this.users.get(id) ?? (id && id === this.me?.id ? this.me : null);
    if (known) return known;
    if (id && this.isFollowed) this.parley.user(id);
    else if (id && !this.asked.has(id)) {
      this.asked.set(
        id,
        this.call('GET', `/users/${encodeURIComponent(id)}`).then(
          (it) => {
            this.users.set(it.id, it);
            this.#sayOnce('users');
            return it;
          },
          () => null,
        ),
      );
    }
    return { id, name: '', display_name: '', avatar: id ? `/api/v1/users/${id}/avatar` : '/icon.svg' };
  }

  /** Changes the signed-in user, and shows the answer before its event. */
  async updateMe(body) {
    this.me = await this.parley.updateMe(body);
    this.users.set(this.me.id, this.me);
    this.say('me');
    this.say('users', { id: this.me.id });
  }

  /** Keeps users of an answer, unless they are known; also on disk, for use offline. */
  keepUsers(users) {
    if (this.isFollowed) this.parley.keepUsers(users);
    else for (const it of users) if (!this.users.has(it.id)) this.users.set(it.id, it);
  }

  /** Returns another user's presence, if visible. */
  presenceOf(id) {
    if (!id || id === this.me?.id || this.parley?.mirror.relations.get(id)?.block) return null;
    return this.parley?.presenceOf(id) ?? null;
  }

  /** Returns the number of members of a room, and their ids if they fit on one page; null if unknown. */
  peopleIn(room) {
    return this.peopleOf.get(room.id) ?? null;
  }

  async loadPeople(room) {
    const page = await this.call('GET', `/conversations/${room.id}/participants`, { query: { limit: 200 }, tries: 1 });
    const ids = page.next ? [] : page.data.map((it) => it.user_id);
    const n = page.next ? (await this.call('GET', `/forums/${room.forum_id}`, { tries: 1 })).member_count : ids.length;
    this.peopleOf.set(room.id, { n, ids });
  }

  /** Returns the number of these users that are online, the user included. */
  onlineAmong(ids) {
    return ids.filter((id) => id === this.me?.id || this.presenceOf(id)?.presence === 'online').length;
  }

  displayName(id) {
    return displayName(this.person(id));
  }

  /** A user by id, fetched if unknown; null if there is none to see. */
  async personWith(id) {
    if (!this.users.has(id)) {
      const found = await this.call('GET', `/users/${encodeURIComponent(id)}`).catch(() => null);
      if (found) this.keepUsers([found]);
    }
    return this.users.get(id) ?? null;
  }

  async personNamed(name) {
    for (const it of this.users.values()) if (it.name === name) return it;
    const found = await this.call('GET', `/users/${/^\d+$/.test(name) ? name : `@${encodeURIComponent(name)}`}`);
    this.keepUsers([found]);
    return found;
  }

  /** Finds users by the start of their name or of a word of their display name; offline among cached users. */
  async findPeople(start) {
    try {
      const page = await this.call('GET', '/users', { query: { query: start || undefined, limit: 20 }, tries: 1 });
      this.keepUsers(page.data);
      return page.data;
    } catch (error) {
      if (error.code !== 'network') throw error;
      const wanted = (start ?? '').toLowerCase();
      return [...this.users.values()].filter((it) =>
        [it.name, it.display_name, ...(it.display_name ?? '').split(/\s+/)].some((name) => name?.toLowerCase().startsWith(wanted)),
      );
    }
  }

  othersIn(conversation) {
    const ids = (conversation.participants ?? []).map((it) => it.user_id).filter((id) => id !== this.me?.id);
    return ids.map((id) => this.person(id));
  }

  /** A file by its id, as far as is known now; "files" says when more is. */
  file(id) {
    return this.files.get(id);
  }

  // MARK: Messages

  async markRead(conversation, message) {
    this.overview.take(conversation.id);
    if (this.parley.conversation(conversation.id)?.read_up_to !== undefined && message.seq)
      return this.parley.markRead({ ...message, conversation_id: conversation.id });
    return this.call('PUT', `/conversations/${conversation.id}/read`, { body: { message_id: message.id } });
  }

  /** A message that a view names, from the cache if it is there. */
  async message(id) {
    return (await this.parley?.store.get('messages@id', id)) ?? this.call('GET', `/messages/${id}`);
  }

  /** How many things wait to be sent. */
  waiting() {
    return this.parley?.state.waiting ?? 0;
  }

  /** The drafts. */
  draft(id) {
    return this.parley?.draft(id) ?? null;
  }

  /** Reads the files of a draft; null if it has none. */
  draftFiles(id) {
    return this.parley?.mirror.drafts.get(id)?.files ? () => this.parley.draftFiles(id) : null;
  }

  /** Without `files` those of the draft stay. Resolves to whether all files are stored. */
  async keepDraft(id, text, replyTo, poll, files) {
    const hasFiles = (files ?? this.parley?.mirror.drafts.get(id)?.files)?.length > 0;
    return this.parley?.setDraft(id, text || replyTo || poll || hasFiles ? { text, replyTo, poll, at: new Date().toISOString() } : null, files);
  }

  /** Verifies the cached copy of a conversation and repairs it. */
  async verify(conversation) {
    return this.parley.verify(conversation.id);
  }

  /** Up to which message all of a conversation is known to be here and right; 0 if that was never looked at. */
  async checkedUpTo(conversation) {
    return (await this.parley.pages.history(conversation.id)).checked;
  }

  /** Searches on the server; offline in the cache. */
  async search(query, signal) {
    try {
      const page = await this.call('GET', '/messages/search', { query: { ...query, include: 'users' }, signal, tries: 1 });
      this.keepUsers(page.included.users);
      return { data: page.data, next: page.next, isHeld: false };
    } catch (error) {
      if (!this.parley || !(error.isTemporary || [400, 404, 405].includes(error.status))) throw error;
      const { has, q, language, limit, conversation, author, mention, after_time } = query;
      const named = (wanted) => (wanted === 'me' ? this.me : [...this.users.values()].find((it) => `@${it.name}` === wanted));
      const held = await this.parley.searchCache(
        {
          q, language, limit, conversation, after_time,
          ...(['file', 'link'].includes(has) ? { has } : {}),
          ...(author ? { author: named(author)?.id ?? '' } : {}),
          ...(mention ? { mention: named(mention)?.name ?? '' } : {}),
        },
        signal,
      );
      return { data: held.map((message) => ({ message })), isHeld: true };
    }
  }

  /** Signs out and erases the cache. */
  async signOut(options) {
    await this.deletions?.send();
    // The server may have ended the session already, as after a deletion of the account.
    await this.parley?.signOut(options);
    if (this.me) this.#out();
  }
}

/** Number by number: 0.10 is newer than 0.9. */
export function compareVersions(a, b) {
  const [one, other] = [a, b].map((it) => it.split('.').map(Number));
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    const difference = (one[at] || 0) - (other[at] || 0);
    if (difference) return difference;
  }
  return 0;
}

/** Ids: by length, then as text. */
export function compare(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
