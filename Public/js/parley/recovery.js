// Recovers from a lost position: after a `reset`, a restart of the server, or dropped events of a stream without an offset.
// The cached conversations are compared with the server by their digests, and what no digest covers is fetched, before the
// cursor moves.

import { orGone } from './fetches.js';
import { withoutRange } from './history.js';
import { readCursor } from './ids.js';
import { Problem } from './problem.js';
import { agesOf, dropConversation, isAnother, keepLost, mergeMessage, position, unconfirmed, unknownAge, wantLater } from './reducer.js';
import { drop, verify } from './verify.js';

/** @typedef {import('./store.js').Source} Source @typedef {import('./reducer.js').Rows} Rows @typedef {import('./sync.js').Sync} Sync */

/** Rows that one transaction changes, and messages that one request names, at most. */
const maxAtOnce = 200;

/**
 * Compares the copy of a topic whose offset was forgotten: its missed events cannot be named.
 * @param {Sync} sync @param {string} topic
 */
export async function compareWithoutOffset(sync, topic) {
  const [kind, id] = topic.split(':');
  if (kind === 'conversation' || kind === 'forum') await sync.fetches.wantLater(topic);
  const isHeld = kind === 'conversation' && (await sync.pages.history(id)).held.length > 0;
  if (isHeld) await compare(sync, id, sync.mirror.position);
  await sync.keep([['site', 'uncompared']], (rows) => {
    const names = rows.get('site', 'uncompared')?.value ?? [];
    rows.put('site', { name: 'uncompared', value: names.filter((/** @type {string} */ name) => name !== topic) });
  });
}

/**
 * Forgets the offsets of streams. The copies of viewed ones are compared when they are subscribed again.
 * @param {Sync} sync @param {Rows} rows With `['site', 'uncompared']`. @param {string[]} names
 */
function forgetOffsets(sync, rows, names) {
  for (const name of names) rows.remove('streams', name);
  const viewed = names.filter((name) => !sync.mirror.isOwn(name));
  const before = rows.get('site', 'uncompared')?.value ?? [];
  if (viewed.length > 0) rows.put('site', { name: 'uncompared', value: [...new Set([...before, ...viewed])] });
}

/**
 * Handles a reset: outbox and drafts stay, everything else is compared with the server.
 * @param {Sync} sync @param {string} reason
 */
export async function reset(sync, reason) {
  const snapshot = await sync.snapshot();
  const listed = new Set((snapshot.conversations ?? []).map((/** @type {any} */ one) => one.id));
  const isOtherHistory = reason === 'rewound' || reason === 'ahead';
  const gone = [...sync.mirror.conversations.values()].filter((one) => one.role !== undefined && !listed.has(one.id));
  // Without a loss, the user was removed from them.
  const hasLost = isOtherHistory || reason === 'epoch';
  for (let left = gone.map(({ id }) => id); left.length > 0; ) {
    if (hasLost) for (const id of left) await setAside(sync, id);
    left = await dropCompared(sync, left, hasLost);
  }
  await sync.keep([['site', 'uncompared']], (rows) => {
    // Offsets of streams that the snapshot does not name are learned from later events.
    forgetOffsets(sync, rows, [...sync.mirror.streams]);
  });
  const { generation } = sync.mirror;
  const acknowledged = sync.mirror.value('unconfirmed') ?? {};
  const asOf = await sync.keepSnapshot(snapshot, { isFirst: false, isOtherHistory });
  let repaired = 0;
  for (const { id } of await sync.store.list('history')) {
    // Nothing but later events has the read positions of others.
    if (generation !== sync.mirror.generation) await sync.keep([], (rows) => rows.clear('receipts', id));
    repaired += await compare(sync, id, asOf);
  }
  await sync.confirm(acknowledged);
  await sync.moveCursor(snapshot.cursor);
  sync.emit('reset', { reason, repaired, lost: sync.mirror.value('lost')?.length ?? 0, at: new Date().toISOString() });
}

/**
 * Handles a restart of the server, perhaps with an older copy of its data. It has all events up to the cursor. What the
 * cache holds beyond it (pages, answers and acknowledgements) is compared, with unknown ages, before the cursor moves.
 * @param {Sync} sync @param {string} cursor The same event and the new start.
 */
export async function restart(sync, cursor) {
  const { id: event, start } = readCursor(cursor);
  // Events of the connection before were stored after the hello: the copy may not have them. Replayed events have states
  // that a later cursor covers, which did not arrive. And an interrupted reset has offsets of the history before.
  const isAhead = sync.mirror.lastEvent > event || sync.mirror.value('isReplaying') || sync.mirror.value('isResetting');
  if (isAhead) return reset(sync, 'rewound');
  await sync.keep([], (rows) => rows.put('site', { name: 'start', value: start }));
  const acknowledged = sync.mirror.value('unconfirmed') ?? {};
  // A conversation or forum that was gone may be there again: a snapshot has it.
  if (acknowledged.gone) return reset(sync, 'rewound');
  if (acknowledged.inbox) sync.fetches.want('inbox');
  /** @type {string[]} */
  const changed = Object.values(acknowledged).map((one) => one.conversation_id);
  const ahead = new Set(changed.filter((id) => id !== null));
  for (const history of await sync.store.list('history')) {
    // No cursor covers conversations beyond the user's own.
    if ((history.ahead ?? 0) > event || !sync.mirror.isOwn(`conversation:${history.id}`)) ahead.add(history.id);
  }
  await forgetThings(sync, ahead);
  for (const id of ahead) {
    if (sync.mirror.isOwn(`conversation:${id}`) && !(await orGone(sync.client.calls.getConversation({ id })))) {
      await setAside(sync, id);
    }
    await forgetAges(sync, id);
    await sync.fetches.fetchConversation(id);
    await compare(sync, id, position(sync.mirror.generation, event));
  }
  await sync.keep([['site', 'uncompared']], (rows) => {
    // The cursor does not cover the streams of views either.
    forgetOffsets(sync, rows, [...sync.mirror.streams].filter((name) => !sync.mirror.isOwn(name)));
  });
  await sync.confirm(acknowledged);
  await sync.moveCursor(cursor);
}

/**
 * Makes the ages of users, forums and other conversations beyond the cursor unknown, and fetches them.
 * @param {Sync} sync @param {Set<string>} compared Conversations that are compared.
 */
async function forgetThings(sync, compared) {
  const covered = sync.mirror.value('covered') ?? 0;
  for (const table of /** @type {const} */ (['users', 'forums', 'conversations'])) {
    const isBeyond = (/** @type {string} */ id) => {
      const { ahead = -1, known } = /** @type {any} */ (sync.mirror[table].get(id));
      const isOther = table !== 'conversations' || (!compared.has(id) && !sync.mirror.isOwn(`conversation:${id}`));
      // An event has the state at its delivery, which may be of after it.
      return isOther && (ahead >= covered || known > covered);
    };
    const ids = sync.mirror.idsOf(table).filter(isBeyond);
    for (let first = 0; first < ids.length; first += maxAtOnce) {
      const some = ids.slice(first, first + maxAtOnce);
      const names = some.map((id) => `${table.slice(0, -1)}:${id}`);
      await sync.keep([['site', 'wanted'], ...some.map((id) => /** @type {Source} */ ([table, id]))], (rows) => {
        for (const id of some) {
          const row = rows.get(table, id);
          if (row) rows.put(table, { ...row, known: unknownAge });
        }
        wantLater(rows, ...names);
      });
      for (const name of names) sync.fetches.want(name);
    }
  }
}

/**
 * Makes the ages of a conversation and its messages unknown, so that every answer and event is newer.
 * @param {Sync} sync @param {string} id
 */
async function forgetAges(sync, id) {
  const messages = await sync.pages.held(id, 1, Number.MAX_SAFE_INTEGER);
  for (let first = 0; first === 0 || first < messages.length; first += maxAtOnce) {
    /** @type {Source[]} */
    const sources = [['conversations', id]];
    for (const { seq } of messages.slice(first, first + maxAtOnce)) sources.push(['messages', [id, seq]]);
    await sync.keep(sources, (rows) => {
      const conversation = rows.get('conversations', id);
      if (conversation) rows.put('conversations', { ...conversation, known: unknownAge });
      for (const [, key] of sources.slice(1)) {
        const message = rows.get('messages', /** @type {import('./store.js').Key} */ (key));
        if (!message) continue;
        const { actions_known: _, star_known: __, ...row } = message;
        rows.put('messages', { ...row, known: unknownAge });
      }
      if (first === 0) rows.clear('receipts', id);
    });
  }
}

/**
 * Compares a cached conversation with the server, and fetches what no digest covers.
 * @param {Sync} sync @param {string} id @param {number} asOf Actions of an earlier age are fetched.
 * @returns {Promise<number>} How many messages were repaired.
 */
async function compare(sync, id, asOf) {
  const { signal } = sync;
  try {
    await sync.keep([['history', id]], (rows) => {
      const history = rows.get('history', id);
      if (history) rows.put('history', { ...history, ahead: 0 });
    });
    await cutOff(sync, id);
    const { repaired } = await verify(sync.pages, id, { signal, isFollowing: false });
    if (repaired > 0) await recountLater(sync, id);
    await sync.pages.fetch(id, { limit: 200, signal });
    await refreshActions(sync, id, asOf);
    return repaired;
  } catch (error) {
    if (!(error instanceof Problem) || error.isTemporary || error.isSignedOut) throw error;
    // An event or another reset follows.
    if (!sync.mirror.isOwn(`conversation:${id}`)) await sync.keep([], (rows) => dropConversation(rows, id));
    return 0;
  }
}

/**
 * Recounts the unread messages: an earlier count may include replaced messages.
 * @param {Sync} sync @param {string} id
 */
async function recountLater(sync, id) {
  if (sync.mirror.conversations.get(id)?.unread_count !== undefined) await sync.fetches.wantLater(`unread:${id}`);
}

/**
 * Empties the copy of a conversation that is gone. Own messages that the server does not have are set aside, so that the
 * user can send them again.
 * @param {Sync} sync @param {string} id
 */
function setAside(sync, id) {
  return drop(sync.pages, id, 1, Number.MAX_SAFE_INTEGER, sync.signal);
}

/**
 * Drops conversations that are gone. Returns those that stay, since another answer has stored a message after `setAside`.
 * @param {Sync} sync @param {string[]} ids @param {boolean} hasLost Whether the server has lost data.
 */
async function dropCompared(sync, ids, hasLost) {
  /** @type {string[]} */
  let left = [];
  await sync.keep(ids.map((id) => ['history', id]), (rows) => {
    left = hasLost ? ids.filter((id) => rows.get('history', id)?.held.length > 0) : [];
    for (const id of ids) if (!left.includes(id)) dropConversation(rows, id);
  });
  return left;
}

/**
 * Fetches the messages whose actions are older, since a digest does not cover actions.
 * @param {Sync} sync @param {string} id @param {number} asOf
 */
async function refreshActions(sync, id, asOf) {
  const isOlder = (/** @type {any} */ message) => agesOf(message).actions < asOf;
  const older = (await sync.pages.held(id, 1, Number.MAX_SAFE_INTEGER)).filter(isOlder);
  for (let first = 0; first < older.length; first += maxAtOnce) {
    const ids = older.slice(first, first + maxAtOnce).map((message) => message.id).join(',');
    const { data } = await sync.client.calls.getMessages({ query: { ids }, signal: sync.signal });
    /** @type {[string, import('./store.js').Key][]} */
    const sources = data.map((/** @type {any} */ message) => ['messages', [id, message.seq]]);
    await sync.keep(sources, (rows) => {
      data.forEach((/** @type {any} */ message, /** @type {number} */ index) => {
        const held = rows.get(...sources[index]);
        if (held?.id === message.id) rows.put('messages', mergeMessage(held, message, asOf));
      });
    });
  }
}

/**
 * Removes messages beyond the server's end of a conversation: after a restore they exist here alone. Own messages
 * are set aside, so that the user can send them again. A message that was sent meanwhile stays.
 * @param {Sync} sync @param {string} id
 */
async function cutOff(sync, id) {
  const endOf = async () => (await sync.client.calls.getConversation({ id })).last_seq;
  const beyond = await sync.pages.held(id, (await endOf()) + 1, Number.MAX_SAFE_INTEGER);
  if (beyond.length === 0) return;
  // The server had confirmed the listed messages before this second answer.
  const last = await endOf();
  /** @type {Source[]} */
  const sources = [['history', id], ['site', 'lost']];
  for (const { seq } of beyond) if (seq > last) sources.push(['messages', [id, seq]]);
  await sync.keep(sources, (rows) => {
    const gone = beyond.filter(({ seq }) => seq > last).filter((message) => {
      const now = rows.get('messages', [id, message.seq]);
      return now !== undefined && !isAnother(now, message);
    });
    const history = rows.get('history', id);
    if (gone.length === 0 || !history) return;
    let { held } = history;
    for (const { seq } of gone) {
      rows.remove('messages', [id, seq]);
      held = withoutRange(held, seq, seq);
    }
    rows.put('history', { ...history, held, checked: Math.min(history.checked, last) });
    keepLost(rows, gone, sync.mirror.context.me);
  });
}

/**
 * Fetches and applies the user's events since the cursor. Events that arrive twice are known. Without the log of these events the
 * next connection compares.
 * @param {import('./sync.js').Sync} sync
 */
export async function catchUp(sync) {
  const { cursor, generation, start } = sync.mirror;
  for (let after = cursor; after !== null; ) {
    const page = await sync.client.calls.sync({ query: { topics: 'me', after }, signal: sync.signal, tries: 1 });
    if (page.reset) sync.live.restart();
    if (page.reset || sync.mirror.generation !== generation || sync.mirror.start !== start) return;
    await sync.apply(page.data);
    after = page.more ? page.cursor : null;
  }
}
