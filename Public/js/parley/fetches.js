// Fetches things that events and answers name only: users, forums, conversations, messages, unread counts. The names of
// pending ones are stored, so that they survive a restart of the app.

import { Problem } from './problem.js';
import {
  acknowledge, dropConversation, everyConversation, historySources, isOutdated, isUnread, mergeConversation, mergeMessage,
  mergeThing, putMe, unconfirmed, unknownAge, wantLater,
} from './reducer.js';
import { wait } from './time.js';

/** @typedef {import('./store.js').Source} Source @typedef {import('./reducer.js').Rows} Rows */

const maxUsers = 100;
const aMinute = 60_000;
/** The most names that are known to be gone. */
const maxGone = 1_000;

export class Fetches {
  #sync;
  /**
   * Things to fetch, by name.
   * @type {Set<string>}
   */
  #wanted = new Set();
  /**
   * The time at which the server omitted a user or forum, by its name. The oldest come first.
   * @type {Map<string, number>}
   */
  #gone = new Map();
  #isFetching = false;

  /** @param {import('./sync.js').Sync} sync */
  constructor(sync) {
    this.#sync = sync;
  }

  /**
   * Adds things without fetching them yet.
   * @param {string[]} names
   */
  add(...names) {
    for (const name of names) this.#wanted.add(name);
  }

  /**
   * Fetches a thing soon: `conversation:12`, `forum:3`, `user:7`, `message:1042`, `inbox`, or `unread:12`.
   * @param {string} name @param {boolean} [isShown] A view asks at each change: a thing that was just gone is not fetched again.
   */
  want(name, isShown = false) {
    if (isShown && Date.now() - (this.#gone.get(name) ?? 0) < aMinute) return;
    this.#wanted.add(name);
    if (!this.#isFetching) queueMicrotask(() => this.fetchWanted());
  }

  /**
   * Fetches a thing soon, also after a restart of the app.
   * @param {string} name
   */
  async wantLater(name) {
    await this.#sync.keep([['site', 'wanted']], (rows) => wantLater(rows, name));
    this.want(name);
  }

  async fetchWanted() {
    if (this.#isFetching) return;
    this.#isFetching = true;
    /** Answers in a row that were older than the cache: of a slow reader, or of a server that went back in time. */
    let behind = 0;
    try {
      for (const name of this.#wanted) {
        const names = this.#together(name);
        for (const one of names) this.#wanted.delete(one);
        if (this.#sync.signal.aborted) return;
        try {
          const isBehind = names.length > 1 ? await this.#fetchUsers(names) : await this.#fetchOne(name);
          behind = isBehind ? behind + 1 : 0;
          await this.#settled(names);
        } catch (error) {
          if (!(error instanceof Problem)) {
            // The answer could not be stored. It is asked for again with the next thing, or the next connection.
            for (const one of names) this.#wanted.add(one);
            throw error;
          }
          if (!error.isTemporary) {
            await this.#settled(names);
            continue;
          }
          // Without a network there is no use in the rest; it is asked for again when there is one.
          for (const one of names) this.#wanted.add(one);
          await wait(error.retryAfter ?? this.#sync.live.options.pause(1), this.#sync.signal);
          if (this.#sync.live.state !== 'live') return;
        }
        // The reset that follows needs its turn.
        if (behind > 1) {
          await wait(this.#sync.live.options.pause(behind - 1), this.#sync.signal);
          if (this.#sync.live.state !== 'live') return;
        }
      }
    } catch (error) {
      this.#sync.emit('fault', error);
    } finally {
      this.#isFetching = false;
    }
  }

  /**
   * The wanted things that are fetched together with `name`: users are, in one request.
   * @param {string} name
   */
  #together(name) {
    const isUser = (/** @type {string} */ one) => /^user:[1-9]\d*$/.test(one);
    return isUser(name) && this.#sync.mirror.me ? [...this.#wanted].filter(isUser).slice(0, maxUsers) : [name];
  }

  /** @param {string[]} names @returns {Promise<void>} */
  async #fetchUsers(names) {
    const ids = names.map((name) => name.slice('user:'.length));
    const call = () => this.#sync.client.calls.listUsers({ query: { ids: ids.join(',') } });
    /** @type {Source[]} */
    const sources = [['site', 'me'], ...ids.map((id) => /** @type {Source} */ (['users', id]))];
    await this.#keepAnswer(call, sources, (rows, found, known) => {
      const users = new Map((found?.data ?? []).map((/** @type {any} */ user) => [user.id, user]));
      for (const id of ids) this.#keepThing(rows, 'users', id, users.get(id) ?? null, known);
    });
  }

  /** @param {string} name */
  #noteGone(name) {
    const now = Date.now();
    this.#gone.delete(name);
    this.#gone.set(name, now);
    // After a minute they are fetched again.
    for (const [one, at] of this.#gone) {
      if (now - at < aMinute && this.#gone.size <= maxGone) break;
      this.#gone.delete(one);
    }
  }

  /**
   * Stores the answer of a user or forum. The cursor may be before it.
   * @param {Rows} rows @param {'users' | 'forums'} table @param {string} id @param {any} found Null if it is gone.
   * @param {number} known
   */
  #keepThing(rows, table, id, found, known) {
    const name = `${table.slice(0, -1)}:${id}`;
    if (!found) {
      this.#noteGone(name);
      if (this.#sync.mirror[table].has(id) || rows.get(table, id)) rows.remove(table, id);
      return undefined;
    }
    this.#gone.delete(name);
    // Guests get the event of their own new role with the id alone.
    if (table === 'users' && id === this.#sync.mirror.context.me) putMe(rows, found, known);
    return rows.put(table, { ...mergeThing(rows.get(table, id), found, known), ahead: this.#sync.mirror.position });
  }

  /** @param {string[]} names */
  async #settled(names) {
    // Wanted again meanwhile: then it stays until that is done, too.
    const isSettled = (/** @type {string} */ name) => names.includes(name) && !this.#wanted.has(name);
    if (!this.#sync.mirror.value('wanted')?.some(isSettled)) return;
    await this.#sync.keep([['site', 'wanted']], (rows) => {
      const held = rows.get('site', 'wanted')?.value ?? [];
      const value = held.filter((/** @type {string} */ name) => !isSettled(name));
      if (value.length < held.length) rows.put('site', { name: 'wanted', value });
    });
  }

  /** @param {string} name @returns {Promise<boolean | void>} Whether the answer was older than the cache. */
  async #fetchOne(name) {
    const [kind, id = ''] = name.split(':');
    switch (kind) {
      case 'conversation':
        return this.fetchConversation(id);
      case 'forum': {
        const conversations = this.#sync.mirror.conversationsOf(id);
        const call = () => this.#sync.client.calls.getForum({ id });
        await this.#keepAnswer(call, [['forums', id], unconfirmed], (rows, found, known) => {
          if (!found || isUnreadable(found)) dropForum(rows, id, conversations);
          else this.#keepThing(rows, 'forums', id, found, known);
        });
        return undefined;
      }
      case 'user': {
        const call = () => this.#sync.client.calls.getUser({ id });
        await this.#keepAnswer(call, [['users', id], ['site', 'me']], (rows, found, known) =>
          this.#keepThing(rows, 'users', id, found, known),
        );
        return undefined;
      }
      case 'message': {
        // The answer is at least as new as the row before the request, too.
        const before = await this.#sync.store.get('messages@id', id);
        /** @type {Source[]} */
        const sources = [['messages@id', id], ['site', 'wanted']];
        await this.#keepAnswer(() => this.#sync.client.calls.getMessage({ id }), sources, (rows, found, known) => {
          const held = rows.get('messages@id', id);
          if (!found || held?.seq !== found.seq) return;
          const asOf = Math.max(known, before?.known ?? 0, before?.actions_known ?? 0, before?.star_known ?? 0);
          const merged = mergeMessage(held, found, asOf);
          rows.put('messages', merged);
          const again = [
            ...(held.deleted === merged.deleted ? [] : [`unread:${found.conversation_id}`]),
            // An event was faster than the answer. Events do not have the user's own actions.
            ...(asOf < Math.max(held.actions_known ?? 0, held.star_known ?? 0) ? [name] : []),
          ];
          wantLater(rows, ...again);
          for (const one of again) this.want(one);
        });
        return undefined;
      }
      case 'inbox':
        await this.#keepAnswer(() => this.#sync.client.calls.listNotifications(), [['site', 'inbox'], unconfirmed], (rows, page) => {
          answered(rows, 'inbox');
          // Notifications about a deleted message are deleted with it.
          for (const held of this.#sync.mirror.inbox.keys()) rows.remove('inbox', held);
          for (const row of page?.data ?? []) rows.put('inbox', row);
          rows.put('site', { name: 'inbox', value: { unread: page?.unread ?? null } });
        });
        return undefined;
      case 'unread':
        return id === everyConversation ? this.#recountAll() : this.#recount(id);
      default:
        return undefined;
    }
  }

  /** @param {string} id @returns {Promise<boolean>} Whether the answer was older than the cache. */
  async fetchConversation(id) {
    const name = `conversation:${id}`;
    /** @type {Source[]} */
    const sources = [['conversations', id], ['streams', name], ['site', 'wanted'], unconfirmed];
    let isBehind = false;
    await this.#keepAnswer(() => this.#sync.client.calls.getConversation({ id }), sources, (rows, found, known) => {
      if (!found) {
        if (rows.get('conversations', id)?.role !== undefined) answered(rows, 'gone');
        return dropConversation(rows, id);
      }
      const cached = rows.get('conversations', id);
      // The end and the read position of a row of unknown age may be of another history.
      const { read_up_to: _, delivered_up_to: __, ...undated } = cached ?? {};
      const held = cached?.known === unknownAge ? { ...undated, last_seq: 0 } : cached;
      const offset = rows.get('streams', name)?.offset ?? 0;
      // Events, or the answer to a post, were faster than this answer: its counts are of before them.
      const { last_offset: end, read_up_to: read } = /** @type {import('./api.js').OwnConversation} */ (found);
      isBehind = (end ?? Infinity) < offset || (read ?? Infinity) < (held?.read_up_to ?? 0) ||
        found.last_seq < (held?.last_seq ?? 0);
      if (isBehind) {
        wantLater(rows, name);
        this.want(name);
      }
      answered(rows, name, id);
      const asOf = isBehind ? known : Math.max(known, held?.known ?? 0);
      return rows.put('conversations', { ...mergeConversation(held, found, asOf), ahead: this.#sync.mirror.position });
    });
    return isBehind;
  }

  /**
   * Makes a call and stores its answer. If the server has restarted meanwhile, perhaps with an older copy of its data, it
   * calls again.
   * @template T @param {() => Promise<T>} call @param {Source[]} sources
   * @param {(rows: Rows, found: T | null, known: number) => void} change `found`: null if the thing is gone. `known`: the
   *   answer is at least as new as the cursor at the time of the request.
   */
  async #keepAnswer(call, sources, change) {
    for (;;) {
      const asked = { generation: this.#sync.mirror.generation, start: this.#sync.mirror.start };
      const known = this.#sync.mirror.position;
      const found = await orGone(call());
      let isKept = false;
      await this.#sync.keep([...sources, ...historySources], (rows) => {
        isKept = !isOutdated(rows, asked);
        if (isKept) change(rows, found, known);
      });
      if (isKept) return;
    }
  }

  /**
   * Recomputes the unread count, locally if all messages are cached.
   * @param {string} id @returns {Promise<boolean | void>}
   */
  async #recount(id) {
    const conversation = this.#sync.mirror.conversations.get(id);
    if (!conversation) return;
    const from = (conversation.read_up_to ?? 0) + 1;
    if (!(await this.#sync.pages.isHeld(id, from, conversation.last_seq))) return this.fetchConversation(id);
    const messages = await this.#sync.pages.held(id, from, conversation.last_seq);
    const context = this.#sync.mirror.context;
    const count = messages.filter((message) => isUnread(message, conversation, context)).length;
    await this.#sync.keep([['conversations', id]], (rows) => {
      const now = rows.get('conversations', id);
      if (now?.read_up_to === conversation.read_up_to && now.last_seq === conversation.last_seq) {
        rows.put('conversations', { ...now, unread_count: Math.min(1000, count) });
      } else if (now) {
        this.want(`unread:${id}`);
      }
    });
  }

  /** Recomputes the unread count of all conversations, after a change of the ignored users. */
  async #recountAll() {
    for (const one of [...this.#sync.mirror.conversations.values()]) {
      if (one.unread_count !== undefined && (one.last_seq ?? 0) > (one.read_up_to ?? 0)) await this.#recount(one.id);
    }
  }
}

/**
 * Notes what an answer has changed that no single event confirms, but the next catch-up: a conversation, `inbox`, or `gone` if
 * a thing was not there any more.
 * @param {Rows} rows With `unconfirmed`. @param {string} name @param {string | null} [conversation]
 */
function answered(rows, name, conversation = null) {
  const { at = 0 } = rows.get(...unconfirmed)?.value?.[name] ?? {};
  acknowledge(rows, name, conversation, Math.max(at + 1, Date.now()), { isAnswer: true });
}

/**
 * Returns the answer of a call, or null if the thing is gone.
 * @template T @param {Promise<T>} answer @returns {Promise<T | null>}
 */
export async function orGone(answer) {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof Problem && [403, 404, 410].includes(error.status)) return null;
    throw error;
  }
}

/**
 * Whether the user only manages a forum: staff sees a private one without reading it.
 * @param {any} forum
 */
const isUnreadable = (forum) => forum.visibility === 'private' && !forum.role && !forum.group_access;

/**
 * Removes a forum that is no longer readable.
 * @param {Rows} rows @param {string} id @param {string[]} conversations
 */
function dropForum(rows, id, conversations) {
  if (rows.get('forums', id)) answered(rows, 'gone');
  rows.remove('forums', id);
  rows.remove('streams', `forum:${id}`);
  for (const conversation of conversations) dropConversation(rows, conversation);
}
