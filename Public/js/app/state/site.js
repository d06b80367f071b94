// The app's state of the site: the signed-in user, forums, conversations, users. Pages read it and listen to its events:
// "me", "forums", "conversations", "users", "presence", "files", "drafts", "overview", "forumActivity", "typing", "state", "out".
//
// A signed-in user's state comes from the client library, which caches it on disk and subscribes to the server. A visitor's
// is fetched on demand.

import { Client } from '../../parley/client.js';
import { Parley } from '../../parley/parley.js';
import { Problem } from '../../parley/problem.js';
import { forgetPictures } from '../core/bundle.js';
import { useEmoji } from '../core/emoji/custom.js';
import { useGroups } from '../core/groups.js';
import { displayName } from '../core/displayname.js';
import { compareVersions } from '../core/order.js';
import { Files } from './files.js';
import { loadForums } from './forums.js';
import { Overview } from './overview.js';
import { contentOf, withProof } from './session.js';
import { SiteEvents } from './siteevents.js';
import { Typing } from './typing.js';
import { requestUser } from './users.js';

const ACCOUNT = 'account';
/** The client version that is compared with the server's `min_client`. */
const VERSION = '0.1.0';
const CHANGED_BY = { forums: 'forums', conversations: 'conversations', users: 'users', receipts: 'conversations', drafts: 'drafts', relations: 'users' };

/**
 * The state of a session, by id; `activity` has the forums as `GET /forums` listed them, `peopleOf` the members of rooms by
 * conversation, `others` fetched conversations of others, `asked` the requests of users.
 */
const MAPS = ['forums', 'conversations', 'users', 'peopleOf', 'activity', 'others', 'asked'];

export class SiteState extends SiteEvents {
  #client;

  constructor() {
    super();
    this.client = new Client();
    this.server = null;
    this.me = null;
    this.parley = null;
    this.state = 'connecting';
    for (const name of MAPS) this[name] = new Map();
    this.files = new Files(this);
    this.typing = new Typing(this);
    /** The arrangement of the sidebar, until the account has it. */
    this.arranged = null;
    this.overview = new Overview(this);
  }

  get isStaff() {
    return ['owner', 'admin'].includes(this.me?.role);
  }

  get isModerator() {
    return this.isStaff || this.me?.role === 'moderator';
  }

  /** Whether the user belongs to the audience of a site setting. @param {'people'|'moderators'|'staff'} [circle] */
  isAmong(circle = 'users') {
    if (!this.me || this.me.role === 'guest') return false;
    return { users: true, moderators: this.isModerator, staff: this.isStaff }[circle] ?? false;
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

  set client(client) {
    this.#client = withProof(this, client);
  }

  /** Opens the cache if a user was signed in here; the server is asked later. */
  async open() {
    const account = localStorage.getItem(ACCOUNT);
    if (account && (await this.#hold(account))) return;
    this.server = await this.call('GET', '/server');
    if (this.server.signed_in) await this.enter(await this.call('GET', '/users/me'));
  }

  /** Begins the session of a user. */
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
    // Sent beside the request for the snapshot.
    const server = this.parley.server();
    const renewed = (it) => {
      this.server = it;
      if (this.isFollowed) this.#take();
    };
    server.then(renewed, () => {});
    if (this.parley.mirror.cursor === null) this.overview.begin();
    await contentOf(this);
    if (!this.parley?.me || this.parley.mirror.cursor === null) return false;
    this.isFollowed = true;
    this.forums = this.parley.mirror.forums;
    this.users = this.parley.mirror.users;
    this.#take();
    this.overview.attend();
    this.overview.start();
    this.server = this.parley.mirror.value('server')?.server ?? this.server ?? (await server);
    this.#take();
    return true;
  }

  #listen() {
    const { parley } = this;
    parley.on('change', (changes) => {
      const names = new Set(changes.map(({ table }) => CHANGED_BY[table]).filter(Boolean));
      if (changes.some(({ table }) => table === 'site')) names.add('me');
      if (this.isFollowed) this.#take();
      for (const name of names) this.sayOnce(name);
    });
    parley.on('state', ({ connection }) => {
      // The end of an earlier session may come late.
      if (this.parley !== parley) return;
      this.connection = connection;
      if (this.isFollowed) this.setState({ live: 'online', connecting: 'connecting', catchingUp: 'connecting' }[connection] ?? 'offline');
      else this.say('state');
    });
    parley.on('typing', ({ conversation_id: id, user_id: who }) => this.typing.typed(id, who));
    parley.on('signedOut', (reason) => {
      // The library closes this object; the next sign-in opens another one.
      if (this.me) this.#out(reason);
      else this.parley = null;
    });
    parley.on('accountChanged', (me) => {
      localStorage.setItem(ACCOUNT, me.id);
      localStorage.removeItem('unsaved');
      location.reload();
    });
    parley.on('reset', (detail) => this.say('reset', detail));
    parley.on('failed', ({ operation, problem }) => this.say('failed', { operation, problem }));
    parley.on('event', (event) => {
      if (event.event === 'message.created') this.typing.typed(event.data.conversation_id, event.data.author_id, { ended: true });
      this.say('event', event);
    });
    parley.on('forumActivity', (detail) => this.say('forumActivity', detail));
    parley.on('progress', (detail) => this.say('progress', detail));
    parley.on('presence', () => this.sayPresence());
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
    if (useEmoji(parley.settings?.emoji ?? []) || hasNewGroups) this.sayOnce('users');
  }

  setState(state) {
    if (this.state === state) return;
    this.state = state;
    this.say('state');
  }

  /** Forgets the session. The library has erased or locked its cache. The event tells whether the user can continue it. */
  #out(reason) {
    this.ban = reason?.params?.banned ? new Problem({ code: 'account_disabled', params: reason.params }) : null;
    [this.me, this.parley, this.connection, this.arranged, this.isFollowed] = [null, null, null, null, false];
    this.overview.clear();
    this.files.clear();
    this.client = new Client();
    for (const name of MAPS) this[name] = new Map();
    localStorage.clear();
    this.say('out', !!reason && reason.code !== 'session_ended');
    forgetPictures();
  }

  // MARK: Forums and conversations

  /** Fetches what is new. The cache has all forums and follows their events; a visitor has no cache. */
  async catchUp() {
    return this.parley ? this.parley.catchUp() : loadForums(this);
  }

  async forum(id) {
    if (!this.forums.has(id)) this.keepForum(await this.call('GET', `/forums/${encodeURIComponent(id)}`));
    return this.forums.get(id);
  }

  keepForum(forum) {
    this.forums.set(forum.id, forum);
    this.say('forums');
    return forum;
  }

  /** A conversation as far as known. The cache follows events; a fetched one is as old as its request. */
  knownConversation(id) {
    return this.conversations.get(id) ?? this.parley?.conversation(id) ?? this.others.get(id) ?? null;
  }

  async conversation(id) {
    if (this.knownConversation(id)) return this.knownConversation(id);
    const found = await this.call('GET', `/conversations/${encodeURIComponent(id)}`);
    this.others.set(found.id, found);
    return found;
  }

  keepConversation(conversation) {
    this.conversations.set(conversation.id, conversation);
    this.others.delete(conversation.id);
    this.say('conversations');
    return conversation;
  }

  // MARK: Users

  /** Returns a user as far as known; the event "users" announces more. */
  user(id) {
    const known = this.users.get(id) ?? (id && id === this.me?.id ? this.me : null);
    if (known) return known;
    if (id && this.isFollowed) this.parley.user(id);
    else if (id && !this.asked.has(id)) this.asked.set(id, requestUser(this, id));
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

  displayName(id) {
    return displayName(this.user(id));
  }

  /** A file by its id, as far as is known now; "files" says when more is. */
  file(id) {
    return this.files.get(id);
  }

  /** Signs out and erases the cache. */
  async signOut(options) {
    await this.deletions?.send();
    // The server may have ended the session already, as after a deletion of the account.
    await this.parley?.signOut(options);
    if (this.me) this.#out();
  }
}
