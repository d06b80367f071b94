// The reducer: local state is f(events). It does no I/O; `Rows` has the rows that an event touches and collects their
// changes.
//
// Rules for events that arrive twice, late, or beside a newer answer:
//
// - A row with a `revision` is replaced by a newer revision only.
// - Rows without a revision (participants, levels) come whole, and the newest event wins. `known` is the event id as of
//   which a row is valid; an answer is as new as its cursor.
// - The actions and the poll of a message have an age of their own, `actions_known`, since they change without its revision.
//   The user's star and vote arrive in another stream, so they have `star_known`.
// - The unread count is recomputed when an event changes what counts, also when a newer read of the message shows the
//   change already: the count may be older than that read.
// - Two messages with the same `seq` are of different histories. The replaced one is set aside if it is the user's own.
// - Read positions never move back.
// - Offsets of a stream are consecutive. A known offset changes nothing; a larger one reveals a gap.

import { newHistory, withRange } from './history.js';
import { clearOf, isList, keyOf, put } from './store.js';

/** @typedef {[table: string, key: Key]} RowSource */
/** @typedef {import('./store.js').Source} Source @typedef {import('./store.js').Change} Change */
/** @typedef {import('./store.js').Key} Key */
/**
 * @typedef {object} Event
 * @property {string} event
 * @property {string} id
 * @property {string} stream
 * @property {number} offset
 * @property {string} [at]
 * @property {string | null} [actor_id]
 * @property {any} [data]
 * @property {string} [cursor] Where storing it alone is safe; the library counts the ids itself.
 */
/**
 * @typedef {object} Context
 * @property {string | null} me
 * @property {number} generation How often the server's history has changed under us.
 * @property {(author: string) => boolean} isMuted
 * @property {(author: string) => boolean} [isIgnored] Muted or blocked; default: `isMuted`.
 * @property {boolean} [hasNotifications] Whether the replica holds notifications; default: true.
 * @property {(user: string) => string[]} [conversationsBy] The user's own conversations that another user created.
 */
/**
 * Follow-up work that needs the server.
 * @typedef {object} Outcome
 * @property {'applied' | 'known' | 'gap'} result
 * @property {string[]} refetch Names, such as `conversation:12`, that the event did not describe in full.
 * @property {string[]} recount Conversations whose unread count is to be recomputed.
 */

/** The step between generations: positions of an earlier epoch are always older. Event ids stay far below 2⁴⁰. */
const generationStep = 2 ** 40;

/** @param {number} generation @param {number | string} id */
export const position = (generation, id) => generation * generationStep + Number(id);

/** The age of a row whose real age is unknown: every answer and event is newer. */
export const unknownAge = -1;

/** @param {number} known */
const generationOf = (known) => Math.floor(known / generationStep);

/**
 * The rows that tell the histories of the server apart: it may have been restored, or have restarted with an older copy of
 * its data.
 * @type {RowSource[]}
 */
export const historySources = [['site', 'generation'], ['site', 'epoch'], ['site', 'start'], ['site', 'cursor']];

/** @typedef {{ generation: number, start?: string | null }} Asked The history at the time of a request. */

/**
 * Whether an answer is of an earlier history.
 * @param {Rows} rows With `historySources`. @param {Asked} asked
 */
export const isOutdated = (rows, { generation, start }) =>
  (rows.get('site', 'generation')?.value ?? 0) !== generation || (rows.get('site', 'start')?.value ?? null) !== (start ?? null);

/**
 * The history as stored. The tab that stored it may not have announced it.
 * @param {Rows} rows With `historySources`. @returns {Change[]}
 */
export const historyOf = (rows) =>
  historySources.map((source) => rows.get(...source)).filter(Boolean).map((row) => put('site', row));

/** The rows of one transaction: as read, and as changed. */
export class Rows {
  /** @type {Map<string, any>} */
  #rows = new Map();
  /** @type {Map<string, Change>} */
  #changes = new Map();
  /** @type {Change[]} */
  #clears = [];
  /** @type {Map<string, string[]>} The names of the rows of each source that is a list. */
  #lists = new Map();

  /** @param {Source[]} sources @param {any[]} rows */
  constructor(sources, rows) {
    sources.forEach(([source, key], number) => {
      const [table, index] = source.split('@');
      const row = rows[number];
      if (key === undefined || isList(table, index)) {
        const name = key === undefined ? table : nameOf(source, key);
        this.#lists.set(name, row.map((/** @type {any} */ one) => nameOf(table, keyOf(table, one))));
        for (const one of row) this.#rows.set(nameOf(table, keyOf(table, one)), one);
        return;
      }
      if (index) this.#rows.set(nameOf(source, key), row);
      if (index && row) this.#rows.set(nameOf(table, keyOf(table, row)), row);
      if (!index) this.#rows.set(nameOf(table, key), row);
    });
  }

  /** @param {string} source @param {Key} key */
  get(source, key) {
    const [table, index] = source.split('@');
    const found = this.#rows.get(nameOf(source, key));
    // The row found by an index may have changed in this transaction: return it as stored under its primary key.
    return index && found ? this.#rows.get(nameOf(table, keyOf(table, found))) : found;
  }

  /**
   * Returns the rows of a list, as changed so far.
   * @param {string} source @param {Key} [key] @returns {any[]}
   */
  list(source, key) {
    const names = this.#lists.get(key === undefined ? source : nameOf(source, key)) ?? [];
    return names.map((name) => this.#rows.get(name)).filter((row) => row !== undefined);
  }

  /** @param {string} table @param {any} row */
  put(table, row) {
    const name = nameOf(table, keyOf(table, row));
    this.#rows.set(name, row);
    if (table === 'messages') this.#rows.set(nameOf('messages@id', row.id), row);
    this.#changes.set(name, put(table, row));
  }

  /** @param {string} table @param {Key} key */
  remove(table, key) {
    const name = nameOf(table, key);
    this.#rows.delete(name);
    this.#changes.set(name, { table, key });
  }

  /**
   * Takes all rows of a conversation.
   * @param {string} table @param {string} conversation
   */
  clear(table, conversation) {
    const isOf = (/** @type {any} */ row) => row?.conversation_id === conversation;
    for (const [name, row] of this.#rows) if (name.startsWith(`${table} `) && isOf(row)) this.#rows.delete(name);
    for (const [name, change] of this.#changes) {
      if (change.table === table && 'row' in change && isOf(change.row)) this.#changes.delete(name);
    }
    this.#clears.push(clearOf(table, conversation));
  }

  /** @returns {Change[]} Deletions of whole tables first. */
  get changes() {
    return [...this.#clears, ...this.#changes.values()];
  }
}

/** @param {string} table @param {Key} key */
const nameOf = (table, key) => `${table} ${JSON.stringify(key)}`;

/**
 * The rows that an event may touch.
 * @param {Event} event @param {Context} context
 * @returns {Source[]}
 */
export function sourcesOf({ event, stream, data }, { me, conversationsBy }) {
  /** @type {Source[]} */
  const sources = [['streams', stream]];
  if (event === 'hidden' || !data) return sources;
  const conversation = data.conversation_id ?? data.id;
  switch (event.split('.')[0]) {
    case 'message':
      sources.push(['messages', [conversation, data.seq]], ['messages@id', data.id], ['site', 'lost'], unconfirmed);
      sources.push(['conversations', conversation], ['history', conversation]);
      if (data.client_id && data.author_id === me) sources.push(...sourcesOfSend(data.client_id));
      return sources;
    case 'action':
    case 'poll':
      return [...sources, ['messages@id', data.message_id], unconfirmed];
    case 'receipt':
      return [...sources, ['receipts', [conversation, data.user_id]]];
    case 'conversation':
      return [...sources, ['conversations', conversation], ['history', conversation]];
    case 'participant':
    case 'level':
      return [...sources, data.forum_id ? ['forums', data.forum_id] : ['conversations', conversation]];
    case 'read_position':
      return [...sources, ['conversations', conversation], unconfirmed];
    case 'forum':
      return [...sources, ['forums', data.id]];
    case 'user':
      return [...sources, ['users', data.id], ['site', 'me']];
    case 'notification':
      return [...sources, ['inbox', data.id ?? ''], ['site', 'inbox']];
    case 'relation':
      for (const id of conversationsBy?.(data.user_id) ?? []) sources.push(['conversations', id]);
      return [...sources, ['relations', data.user_id]];
    case 'preferences':
      return [...sources, ['site', 'me']];
    case 'settings':
      return [...sources, ['site', 'settings']];
    default:
      return sources;
  }
}

/**
 * Acknowledgements of the server whose events have not arrived: the cursor does not cover them.
 * @type {RowSource}
 */
export const unconfirmed = ['site', 'unconfirmed'];

/**
 * Stores an acknowledgement until its event arrives.
 * @param {Rows} rows With `unconfirmed`. @param {string} name @param {string | null} conversation
 * @param {number} [at] The acknowledged revision or `seq`. @param {{ isAnswer?: true }} [more]
 */
export function acknowledge(rows, name, conversation, at = 0, more = {}) {
  const value = { ...rows.get(...unconfirmed)?.value, [name]: { conversation_id: conversation, at, ...more } };
  rows.put('site', { name: 'unconfirmed', value });
}

/**
 * Removes an acknowledgement whose event has arrived.
 * @param {Rows} rows @param {string} name @param {number} at
 */
function confirm(rows, name, at = Infinity) {
  const { [name]: one, ...others } = rows.get(...unconfirmed)?.value ?? {};
  if (one && one.at <= at) rows.put('site', { name: 'unconfirmed', value: others });
}

/** @param {Rows} rows @param {Event} event @param {Context} context @returns {Outcome} */
export function reduce(rows, event, context) {
  /** @type {Outcome} */
  const outcome = { result: 'applied', refetch: [], recount: [] };
  const stream = rows.get('streams', event.stream);
  if (stream && event.offset <= stream.offset) return { ...outcome, result: 'known' };
  if (stream && event.offset > stream.offset + 1) return { ...outcome, result: 'gap' };
  rows.put('streams', { name: event.stream, offset: event.offset });
  if (event.event !== 'hidden' && event.data) {
    const known = position(context.generation, event.id);
    kinds[event.event.split('.')[0]]?.({ rows, event, data: event.data, known, context, outcome });
  }
  return outcome;
}

/** @typedef {{ rows: Rows, event: Event, data: any, known: number, context: Context, outcome: Outcome }} Step */
/** @type {Record<string, (step: Step) => void>} */
const kinds = {
  message({ rows, event, data, known, context, outcome }) {
    const before = rows.get('messages', [data.conversation_id, data.seq]);
    const message = mergeMessage(before, data, known, { isEvent: true });
    if (message !== before && isAnother(before, data)) keepLost(rows, [before], context.me);
    dropFound(rows, message);
    keepMessage(rows, message);
    confirm(rows, `message:${data.id}`, data.revision);
    // A newer read has the deletion already, but the count may be of before it.
    const isReread = event.event !== 'message.created' && before !== undefined && known <= before.known;
    countMessage(rows, before, message, context, outcome, isReread);
    // The event of a moved message's copy has no own actions and no own vote.
    const isCopy = event.event === 'message.created' && !before && data.moved_from;
    if (isCopy && (data.poll || Object.keys(data.actions ?? {}).length > 0)) outcome.refetch.push(`message:${data.id}`);
    // The event of an own message arrived before the answer to its post.
    if (data.client_id && data.author_id === context.me) finishSend(rows, message);
  },

  action({ rows, event, data, known, context, outcome }) {
    const message = rows.get('messages@id', data.message_id);
    if (!message || message.id !== data.message_id) return;
    const age = agesOf(message);
    const { star, ...others } = message.actions ?? {};
    if (event.stream.startsWith('user:')) {
      // The own stream has the star alone; the other counts may be older.
      confirm(rows, `action:${data.message_id}`);
      if (known <= age.star) return;
      const actions = data.actions.star ? { ...others, star: { count: 1, mine: true } } : others;
      rows.put('messages', { ...message, actions, actions_known: age.actions, star_known: known });
      return;
    }
    if (known <= age.actions) return;
    const actions = { ...keepMine(data.actions, message.actions), ...(star ? { star } : {}) };
    // No event has the user's own part. It is fetched if the user is the actor.
    if (event.actor_id === context.me) outcome.refetch.push(`message:${data.message_id}`);
    if (event.actor_id === context.me) confirm(rows, `action:${data.message_id}`);
    rows.put('messages', { ...message, actions, actions_known: known, star_known: age.star });
  },

  poll({ rows, event, data, known }) {
    const message = rows.get('messages@id', data.message_id);
    if (!message?.poll || message.id !== data.message_id || !(data.poll ?? data.mine)) return;
    const age = agesOf(message);
    // The own stream has the user's vote, the stream of the conversation the totals.
    if (event.stream.startsWith('user:')) {
      confirm(rows, `action:${data.message_id}`);
      if (known <= age.star) return;
      const poll = { ...message.poll, mine: data.mine };
      rows.put('messages', { ...message, poll, actions_known: age.actions, star_known: known });
      return;
    }
    if (known <= age.actions) return;
    const poll = { ...data.poll, mine: message.poll.mine ?? [] };
    rows.put('messages', { ...message, poll, actions_known: known, star_known: age.star });
  },

  receipt({ rows, data }) {
    const stored = rows.get('receipts', [data.conversation_id, data.user_id]);
    rows.put('receipts', {
      ...data,
      read_up_to: Math.max(data.read_up_to, stored?.read_up_to ?? 0),
      delivered_up_to: Math.max(data.delivered_up_to, stored?.delivered_up_to ?? 0),
    });
  },

  conversation({ rows, event, data, known, outcome }) {
    if (event.event === 'conversation.removed') return dropConversation(rows, data.id);
    const stored = rows.get('conversations', data.id);
    // No event has the unread count and the stream offset of an existing conversation.
    if (data.from_seq !== undefined && stored?.unread_count === undefined) {
      outcome.refetch.push(`conversation:${data.id}`);
    }
    if (data.kind === undefined) {
      outcome.refetch.push(`conversation:${data.id}`);
    } else {
      // Message events move the end, one by one, so that each is counted.
      const { last_seq: last, last_message_id: id } = stored ?? data;
      rows.put('conversations', mergeConversation(stored, { ...data, last_seq: last, last_message_id: id }, known));
    }
    return undefined;
  },

  participant({ rows, event, data, known, context, outcome }) {
    if (data.forum_id) {
      if (data.user_id !== context.me) return;
      const forum = rows.get('forums', data.forum_id);
      if (forum) rows.put('forums', { ...forum, role: data.role ?? null });
      // No event has the content of a private forum for a new member. A former member may not read it.
      const isUnknown = data.role ? !forum : forum && forum.visibility !== 'public';
      if (isUnknown) outcome.refetch.push(`forum:${data.forum_id}`);
      return;
    }
    const stored = rows.get('conversations', data.conversation_id);
    if (!stored || known <= (stored.participants_known ?? 0)) return;
    const isIn = event.event !== 'participant.left' && data.role !== undefined;
    const others = stored.participants?.filter((/** @type {any} */ one) => one.user_id !== data.user_id);
    const participants = others && (isIn ? [...others, { user_id: data.user_id, role: data.role }] : others);
    const step = { 'participant.joined': 1, 'participant.left': -1 }[event.event] ?? 0;
    const count = participants?.length ?? Math.max(0, (stored.participant_count ?? 0) + step);
    const role = data.user_id === context.me && isIn ? { role: data.role } : {};
    rows.put('conversations', {
      ...stored, ...role, participants, participant_count: count, participants_known: known,
    });
  },

  read_position({ rows, data, outcome }) {
    const stored = rows.get('conversations', data.conversation_id);
    if (!stored) return;
    confirm(rows, `read:${stored.id}`, data.read_up_to);
    const read = Math.max(stored.read_up_to ?? 0, data.read_up_to);
    const delivered = Math.max(stored.delivered_up_to ?? 0, data.delivered_up_to);
    const isAllRead = read >= (stored.last_seq ?? 0);
    if (read > (stored.read_up_to ?? 0) && !isAllRead) outcome.recount.push(stored.id);
    const unread = isAllRead ? { unread_count: 0 } : {};
    rows.put('conversations', { ...stored, read_up_to: read, delivered_up_to: delivered, ...unread });
  },

  level({ rows, data, known }) {
    const table = data.forum_id ? 'forums' : 'conversations';
    const stored = rows.get(table, data.forum_id ?? data.conversation_id);
    if (!stored || known <= (stored.level_known ?? 0)) return;
    rows.put(table, { ...stored, level: data.level, level_set: data.set, level_known: known });
  },

  forum({ rows, event, data, known, outcome }) {
    if (event.event === 'forum.deleted') {
      rows.remove('forums', data.id);
      outcome.refetch.push(`forum:${data.id}`);
    } else if (data.title === undefined) {
      outcome.refetch.push(`forum:${data.id}`);
    } else {
      rows.put('forums', mergeThing(rows.get('forums', data.id), data, known));
    }
  },

  user({ rows, data, known, context, outcome }) {
    if (data.revision === undefined) {
      outcome.refetch.push(`user:${data.id}`);
      return;
    }
    rows.put('users', mergeThing(rows.get('users', data.id), data, known));
    if (data.id === context.me) putMe(rows, data, known);
  },

  notification({ rows, event, data, context, outcome }) {
    if (context.hasNotifications === false) return;
    if (event.event === 'notification.created' && data.id) rows.put('inbox', data);
    outcome.refetch.push('inbox');
  },

  relation({ rows, data, known, context, outcome }) {
    const stored = rows.get('relations', data.user_id);
    if (stored && known <= stored.known) return;
    rows.put('relations', { ...data, known });
    // No other event has the answer to a message request.
    for (const id of context.conversationsBy?.(data.user_id) ?? []) {
      const conversation = rows.get('conversations', id);
      if (!conversation || known <= conversation.known) continue;
      rows.put('conversations', { ...conversation, request: data.requests.includes(id), request_known: known });
    }
    // Messages of muted and blocked users do not count.
    if (isIgnored(stored) !== isIgnored(data)) outcome.recount.push(everyConversation);
  },

  preferences({ rows, data, known }) {
    putMe(rows, data, known);
  },

  settings({ rows, data, known }) {
    const stored = rows.get('site', 'settings');
    if (!stored || data.revision > stored.value.revision || generationOf(known) > generationOf(stored.known)) {
      rows.put('site', { name: 'settings', value: data, known });
    }
  },
};

/**
 * Merges the signed-in user, who has more fields than others.
 * @param {Rows} rows @param {any} user @param {number} known
 */
export function putMe(rows, user, known) {
  const stored = rows.get('site', 'me');
  const value = mergeThing(stored?.value, user, known);
  // Both are absent without any, and the silences where the answer has no private members.
  if (value !== stored?.value) {
    if (!user.groups) delete value.groups;
    if (user.preferences && !user.silences) delete value.silences;
  }
  rows.put('site', { name: 'me', value });
}

/**
 * Merges a row with a revision. An answer of the same revision may have more fields than an event.
 * @param {any} stored @param {any} incoming @param {number} known
 */
export function mergeThing(stored, incoming, known) {
  if (!stored) return { ...incoming, known };
  if (generationOf(known) < generationOf(stored.known)) return stored;
  const isNewer =
    generationOf(known) > generationOf(stored.known) || incoming.revision > stored.revision ||
    (incoming.revision === stored.revision && known >= stored.known);
  return isNewer ? { ...stored, ...incoming, known } : stored;
}

/**
 * Merges a conversation. Participants, level, request, read positions and the end follow rules of their own beside the
 * revision.
 * @param {any} stored @param {any} incoming @param {number} known
 */
export function mergeConversation(stored, incoming, known) {
  if (!stored || generationOf(known) > generationOf(stored.known)) return { ...incoming, known };
  if (generationOf(known) < generationOf(stored.known)) return stored;
  const merged = mergeThing(stored, incoming, known);
  const latest = (/** @type {string} */ name) => Math.max(stored[name] ?? 0, incoming[name] ?? 0);
  const isBehind = (stored.last_seq ?? 0) > (incoming.last_seq ?? 0);
  const kept = isBehind ? stored : merged;
  const later = (/** @type {string} */ name) => known < (stored[`${name}_known`] ?? 0);
  return {
    ...merged,
    last_seq: latest('last_seq'),
    last_message_id: kept.last_message_id,
    last_message: kept.last_message,
    ...(stored.read_up_to === undefined && incoming.read_up_to === undefined
      ? {}
      : { read_up_to: latest('read_up_to'), delivered_up_to: latest('delivered_up_to') }),
    unread_count: isBehind || latest('read_up_to') > (incoming.read_up_to ?? 0) ? stored.unread_count : merged.unread_count,
    ...(later('participants') ? { participants: stored.participants, participant_count: stored.participant_count } : {}),
    ...(later('level') ? { level: stored.level, level_set: stored.level_set } : {}),
    ...(later('request') ? { request: stored.request } : {}),
  };
}

/**
 * Whether two messages with the same `seq` differ, as after a restore.
 * @param {any} stored @param {any} message
 */
export const isAnother = (stored, message) =>
  stored !== undefined && (stored.id !== message.id || stored.created_at !== message.created_at);

/**
 * The ages of a message's actions and of the user's star.
 * @param {any} message
 */
export function agesOf(message) {
  const actions = message.actions_known ?? message.known;
  return { actions, star: message.star_known ?? actions };
}

/**
 * Merges a message of an event or an answer into the cached one.
 * @param {any} stored @param {any} incoming @param {number} known
 * @param {{ isEvent?: boolean, isForced?: boolean }} options `isForced`: the cached message was found to be wrong.
 */
export function mergeMessage(stored, incoming, known, { isEvent = false, isForced = false } = {}) {
  const actions = incoming.actions ?? {};
  const isOlder = stored !== undefined && generationOf(known) < generationOf(stored.known);
  const isOther = !stored || generationOf(known) > generationOf(stored.known);
  if (isOther || (known >= stored.known && isAnother(stored, incoming))) {
    return { ...incoming, actions, known, actions_known: known, star_known: known };
  }
  if (isOlder || isAnother(stored, incoming)) return stored;
  const isLater = known >= stored.known;
  const isNewer = incoming.revision > stored.revision || ((isForced || incoming.revision === stored.revision) && isLater);
  const content = isNewer ? { ...incoming, known: Math.max(known, stored.known) } : stored;
  const age = agesOf(stored);
  const hasActions = known >= age.actions;
  // Events have no star.
  const hasStar = !isEvent && known >= age.star;
  const counted = isEvent ? keepMine(actions, stored.actions) : actions;
  const { star: _, ...others } = hasActions ? counted : (stored.actions ?? {});
  const star = hasStar ? actions.star : stored.actions?.star;
  const poll = (hasActions ? incoming.poll : stored.poll) ?? incoming.poll ?? stored.poll;
  const mine = (hasStar ? incoming.poll?.mine : stored.poll?.mine) ?? [];
  return {
    ...content,
    actions: star ? { ...others, star } : others,
    ...(poll && !content.deleted ? { poll: { ...poll, mine } } : {}),
    actions_known: hasActions ? known : age.actions,
    star_known: hasStar ? known : age.star,
    // Events don't say it; it never goes back.
    ...(stored.status && !content.status ? { status: stored.status } : {}),
  };
}

/**
 * Merges action counts. Events have counts, but not the user's own actions.
 * @param {Record<string, any>} [incoming] @param {Record<string, any>} [stored]
 */
function keepMine(incoming = {}, stored = {}) {
  /** @type {Record<string, any>} */
  const actions = {};
  for (const [type, action] of Object.entries(incoming)) {
    actions[type] = stored[type]?.mine ? { ...action, mine: true } : action;
  }
  if (stored.star && !actions.star) actions.star = stored.star;
  return actions;
}

/**
 * Stores names to refetch, until that is done.
 * @param {Rows} rows @param {string[]} names
 */
export function wantLater(rows, ...names) {
  const stored = rows.get('site', 'wanted')?.value ?? [];
  const all = new Set([...stored, ...names]);
  if (all.size > stored.length) rows.put('site', { name: 'wanted', value: [...all] });
}

/**
 * Sets aside own messages that the server lost, so that the user can send them again.
 * @param {Rows} rows @param {any[]} messages @param {string | null} me
 */
export function keepLost(rows, messages, me) {
  const own = messages.filter((one) => one.author_id === me && !(one.deleted || one.repost_of));
  if (own.length === 0) return;
  const stored = rows.get('site', 'lost')?.value ?? [];
  const isStored = (/** @type {any} */ one) => stored.some((/** @type {any} */ other) => !isAnother(other, one));
  const all = [...stored, ...own.filter((one) => !isStored(one))];
  rows.put('site', { name: 'lost', value: all.sort((a, b) => (a.created_at < b.created_at ? -1 : 1)) });
}

/**
 * Removes a message from the lost ones: the server has it after all, or another device has sent it again.
 * @param {Rows} rows With `['site', 'lost']`. @param {any} message
 */
export function dropFound(rows, message) {
  const stored = rows.get('site', 'lost')?.value ?? [];
  const isFound = (/** @type {any} */ one) =>
    !isAnother(one, message) ||
    (message.client_id != null && one.client_id === message.client_id && one.author_id === message.author_id);
  const left = stored.filter((/** @type {any} */ one) => !isFound(one));
  if (left.length < stored.length) rows.put('site', { name: 'lost', value: left });
}

/**
 * Stores a message and extends the cached range.
 * @param {Rows} rows @param {any} message
 */
export function keepMessage(rows, message) {
  const history = rows.get('history', message.conversation_id) ?? newHistory(message.conversation_id);
  rows.put('messages', message);
  const held = withRange(history.held, message.seq, message.seq);
  if (JSON.stringify(held) !== JSON.stringify(history.held)) rows.put('history', { ...history, held });
}

/**
 * The operation of a message that may be unsent, and the operations that wait for it.
 * @param {string} id @returns {Source[]}
 */
export const sourcesOfSend = (id) => [['outbox', id], ['outbox@target', id]];

/**
 * Removes the operation of a sent message. Operations on the message, and replies to it, get its id.
 * @param {Rows} rows With `sourcesOfSend`. @param {any} message
 */
export function finishSend(rows, message) {
  const operation = rows.get('outbox', message.client_id);
  if (!operation) return;
  rows.remove('outbox', operation.id);
  for (const file of operation.files ?? []) rows.remove('files', file.id);
  for (const { target: _, ...waiting } of rows.list('outbox@target', operation.id)) {
    const isReply = waiting.kind === 'send';
    rows.put('outbox', isReply ? withReply(waiting, message.id) : { ...waiting, message_id: message.id });
  }
}

/** @param {any} operation @param {string} message */
export const withReply = (operation, message) => ({ ...operation, body: { ...operation.body, reply_to: message } });

/** The name of all conversations, to recount them. */
export const everyConversation = '*';

/**
 * Whether messages of a user do not count as unread.
 * @param {any} relation
 */
export const isIgnored = (relation) => relation?.mute === true || relation?.block === true;

/**
 * Returns the unread count that one message contributes.
 * @param {any} message @param {any} conversation @param {Context} context
 */
export const isUnread = (message, conversation, context) =>
  message !== undefined && !message.deleted && !message.machine_only && message.author_id !== context.me &&
  !(context.isIgnored ?? context.isMuted)(message.author_id) && !message.moved_from &&
  message.seq > (conversation.read_up_to ?? 0);

/**
 * Whether the message of an answer changes the unread count. Its event will change nothing any more.
 * @param {Rows} rows With its conversation. @param {any} before @param {any} merged
 */
export const changesUnread = (rows, before, merged) =>
  (before ? isAnother(before, merged) || before.deleted !== merged.deleted : merged.deleted) &&
  merged.seq > (rows.get('conversations', merged.conversation_id)?.read_up_to ?? Infinity);

/**
 * @param {Rows} rows @param {any} before @param {any} message @param {Context} context @param {Outcome} outcome
 * @param {boolean} isReread The cached message is newer than the event.
 */
function countMessage(rows, before, message, context, outcome, isReread) {
  const stored = rows.get('conversations', message.conversation_id);
  if (!stored) {
    outcome.refetch.push(`conversation:${message.conversation_id}`);
    return;
  }
  const isNew = message.seq > (stored.last_seq ?? 0);
  const isLast = message.seq >= (stored.last_seq ?? 0);
  let unread = stored.unread_count;
  if (unread !== undefined) {
    const counts = isUnread(message, stored, context);
    if (isNew) {
      unread = Math.min(1000, unread + Number(counts));
    } else if (message.seq > (stored.read_up_to ?? 0)) {
      const isSame = before !== undefined && counts === isUnread(before, stored, context);
      // The count may include this change already, and 1000 may stand for more.
      if (before && !isSame && unread < 1000) unread = Math.max(0, unread + (counts ? 1 : -1));
      if (!isSame || isReread) outcome.recount.push(stored.id);
    }
  }
  const last = isLast ? { last_seq: message.seq, last_message_id: message.id, last_message: message } : {};
  rows.put('conversations', { ...stored, ...last, unread_count: unread });
}

/**
 * Deletes a conversation from the cache. Drafts and unsent messages stay.
 * @param {Rows} rows @param {string} id
 */
export function dropConversation(rows, id) {
  rows.remove('conversations', id);
  rows.remove('history', id);
  rows.remove('streams', `conversation:${id}`);
  rows.clear('messages', id);
  rows.clear('receipts', id);
}

/**
 * Moves the conversation's end to a message of an answer, if that is newer.
 * @param {Rows} rows @param {any} message
 * @returns {boolean} Whether to recount: messages before it are not cached yet, and are not counted when they arrive.
 */
export function keepSent(rows, message) {
  keepMessage(rows, message);
  const stored = rows.get('conversations', message.conversation_id);
  if (!stored || message.seq < (stored.last_seq ?? 0)) return false;
  const last = { last_seq: message.seq, last_message_id: message.id, last_message: message };
  rows.put('conversations', { ...stored, ...last });
  return stored.unread_count !== undefined && message.seq > (stored.last_seq ?? 0) + 1;
}
