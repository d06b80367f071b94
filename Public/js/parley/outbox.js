// Operations of the user that the server has not confirmed.
//
// - Each transition (add, begin a try, finish, fail, cancel) is one transaction of the store, and decides by the rows
//   that it reads there: the operation, its target and the operations on its message, never the whole outbox. Other tabs
//   and a crash see the outbox before it or after it.
// - A post is stored as begun before its request is sent. From then on the server may have the message, so it is not
//   edited or dropped locally: the edit or the deletion is queued behind it. Its files are uploaded before that.
// - Operations of one conversation leave in their order, one at a time, but deletions first. An operation on an unsent
//   message waits for it, and gets its id when the message is sent.
// - `client_id` makes a repeated post idempotent: an operation without an answer is sent again. A refused operation has
//   `failed` with a reason and waits for the user; later ones continue.

import { newClientId } from './ids.js';
import {
  aboutSent, actionKinds, forgetRead, holdOf, inOrder, isSameAction, isSameTry, isUploaded, maxHold, mayBeSent, pollAgain,
  putAgain, removal, sendable, sourcesOfMessage,
} from './operations.js';
import { Problem, loaded, networkProblem } from './problem.js';
import {
  Rows, acknowledge, agesOf, changesUnread, dropFound, finishSend, historyOf, historySources, isAnother, isOutdated, keepLost, keepSent, mergeMessage,
  position, sourcesOfSend, unconfirmed, wantLater,
} from './reducer.js';
import { put } from './store.js';
import { backOff } from './time.js';

/** @typedef {import('./store.js').Source} Source @typedef {import('./store.js').Change} Change */
/** @typedef {import('./operations.js').Operation} Operation @typedef {import('./operations.js').PendingFile} PendingFile */
/** @typedef {{ operation: Operation, wasUnanswered: boolean }} Begun */
/** @typedef {import('./reducer.js').Asked & { position: number }} Known What was known at the time of a request. */
/**
 * @typedef {object} OutboxOptions
 * @property {import('./client.js').Client} client
 * @property {import('./store.js').Store} store
 * @property {() => { generation: number, start?: string | null, cursor: number, me: string | null }} now
 * @property {import('./mirror.js').Mirror} mirror
 * @property {(changes: Change[]) => void} publish
 * @property {(kind: string, detail: any) => void} emit
 * @property {(name: string) => void} [want] Fetches or recounts a thing.
 * @property {typeof backOff} [pause]
 */

/** The maximum number of conversations served at once. */
const maxLanes = 4;

export class Outbox {
  /** @type {Map<string, AbortController>} Busy lanes, by conversation. */
  #lanes = new Map();
  /** @type {Map<string, ReturnType<typeof setTimeout>>} Retry timers, by conversation. */
  #resting = new Map();
  /** @type {Map<string, string>} The operation that each lane sends. */
  #current = new Map();
  #isRunning = false;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #holding;

  /** @param {OutboxOptions} options */
  constructor({ client, store, mirror, now, publish, emit, want = () => {}, pause = backOff }) {
    this.client = client;
    this.store = store;
    this.mirror = mirror;
    this.now = now;
    this.publish = publish;
    this.emit = emit;
    this.want = want;
    this.pause = pause;
  }

  /**
   * Stores an operation. It is sent in its order. A message that the server cannot have is edited or deleted locally,
   * and an action without a request is cancelled by its opposite.
   * @param {Pick<Operation, 'kind' | 'conversation_id'> & Partial<Operation>} draft @param {Blob[]} blobs
   * @param {{ isDone?: boolean }} options `isDone`: the message shows the action's result already.
   * @returns {Promise<Operation | null>} Null if there is nothing left to send.
   */
  async add(draft, blobs = [], { isDone = false } = {}) {
    const files = blobs.map((blob) => ({
      id: newClientId(),
      name: /** @type {File} */ (blob).name ?? 'file',
      type: blob.type,
      size: blob.size,
      file_id: null,
    }));
    const id = draft.id ?? newClientId();
    const target = draft.target ?? '';
    /** @type {Operation | null} */
    let result = null;
    let isCancelled = false;
    /** @type {(rows: Rows, sent: any) => Change[] | null} */
    const decide = (rows, sent) => {
      result = null;
      isCancelled = false;
      if (target !== '' && rows.get('messages@client', target)?.id !== sent?.id) return null;
      const unsent = target === '' ? undefined : rows.get('outbox', target);
      const about = sent && !unsent ? aboutSent(draft, sent.id) : draft;
      const changing = inOrder([
        ...rows.list('outbox@target', target), ...rows.list('outbox@message', about.message_id ?? ''),
      ]).filter(({ kind }) => kind !== 'send');
      if (unsent && !mayBeSent(unsent) && draft.kind === 'delete') {
        isCancelled = true;
        return [unsent, ...changing].flatMap(removal);
      }
      if (unsent && !mayBeSent(unsent) && draft.kind === 'edit') {
        // Edits that were queued before a refusal are older than this one.
        const earlier = changing.filter((op) => op.kind === 'edit');
        result = { ...unsent, body: Object.assign({ ...unsent.body }, ...earlier.map(({ body }) => body), draft.body) };
        return [put('outbox', result), ...earlier.flatMap(removal)];
      }
      // The server may have a refused message from an earlier try: it is sent again, and deleted there.
      if (unsent?.state === 'failed' && draft.kind === 'delete') putAgain(rows, unsent);
      // The server handles a request in flight of a removed operation before the deletion, or refuses it after it.
      if (about.kind === 'delete' && !about.held_until) for (const op of changing) rows.remove('outbox', op.id);
      const waiting = changing.filter((op) => isSameAction(op, about) && !mayBeSent(op)).pop();
      // A failed action does not stop a new one.
      if (waiting?.state === 'failed') rows.remove('outbox', waiting.id);
      else if (waiting) {
        // A later vote replaces it.
        result = waiting.kind === about.kind ? { ...waiting, body: about.body } : null;
        return result ? [put('outbox', result)] : removal(waiting);
      }
      if (isDone) return rows.changes;
      result = this.#put(rows, about, id, files);
      files.forEach((file, number) => rows.put('files', { id: file.id, blob: blobs[number] }));
      return rows.changes;
    };
    const changes = await this.#update(async () => {
      const sent = target === '' ? undefined : await this.store.get('messages@client', target);
      const message = sent?.id ?? draft.message_id;
      /** @type {Source[]} */
      const sources = [['site', 'order']];
      if (target !== '') sources.push(...sourcesOfSend(target), ['messages@client', target]);
      if (message !== undefined && draft.kind !== 'send') sources.push(['outbox@message', message]);
      return { sources, decide: (rows) => decide(rows, sent) };
    });
    this.publish(changes);
    if (isCancelled) {
      this.#abort(target);
      this.emit('cancelled', { id: target });
    }
    this.kick();
    return result;
  }

  /**
   * Runs a transition whose sources depend on rows that are read first; again, if they have changed in the meantime.
   * @param {() => Promise<{ sources: Source[], decide: (rows: Rows) => Change[] | null }>} plan `decide` returns null if
   *   the plan is outdated.
   * @returns {Promise<Change[]>}
   */
  async #update(plan) {
    for (;;) {
      const { sources, decide } = await plan();
      let isOutdated = false;
      const changes = await this.store.update(sources, (found) => {
        const decided = decide(new Rows(sources, found));
        isOutdated = decided === null;
        return decided ?? [];
      }, { isDurable: true });
      if (!isOutdated) return changes;
    }
  }

  /**
   * Ends the current request of an operation that was dropped.
   * @param {string} id
   */
  #abort(id) {
    for (const [conversation, current] of this.#current) if (current === id) this.#lanes.get(conversation)?.abort();
  }

  /**
   * @param {Rows} rows With the last order.
   * @param {Pick<Operation, 'kind' | 'conversation_id'> & Partial<Operation>} draft
   * @param {string} id @param {PendingFile[]} [files]
   * @returns {Operation}
   */
  #put(rows, draft, id, files = []) {
    const order = (rows.get('site', 'order')?.value ?? 0) + 1;
    /** @type {Operation} */
    const operation = {
      body: {}, state: 'pending', reason: null, tries: 0, unanswered: false, created_at: new Date().toISOString(),
      ...draft, id, order, files,
    };
    rows.put('site', { name: 'order', value: order });
    rows.put('outbox', operation);
    return operation;
  }

  /**
   * Moves the read position in the cache and queues it, in one transaction. An older position changes nothing.
   * @param {Pick<import('./api.js').Message, 'id' | 'conversation_id' | 'seq'>} message
   */
  async markRead({ id: message, conversation_id: conversation, seq }) {
    const id = `read:${conversation}`;
    /** @type {Source[]} */
    const sources = [['site', 'order'], ['site', 'wanted'], ['outbox', id], ['conversations', conversation]];
    let isPartial = false;
    const changes = await this.store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      const row = rows.get('conversations', conversation);
      const queued = rows.get('outbox', id);
      isPartial = false;
      if (!row || (row.read_up_to ?? 0) >= seq) return [];
      isPartial = seq < (row.last_seq ?? 0);
      if (isPartial) wantLater(rows, `unread:${conversation}`);
      rows.put('conversations', { ...row, read_up_to: seq, ...(isPartial ? {} : { unread_count: 0 }) });
      if (queued?.state !== 'pending' || (queued.seq ?? 0) < seq) {
        this.#put(rows, { kind: 'read', conversation_id: conversation, seq, body: { message_id: message } }, id);
      }
      return rows.changes;
    }, { isDurable: true });
    this.publish(changes);
    if (isPartial) this.want(`unread:${conversation}`);
    this.kick();
  }

  /**
   * Queues messages that a restore removed from the server, under their earlier names, in one transaction. A reply to one
   * of them waits for it; any other reply keeps its reference, if the server still has the message.
   */
  async sendLost() {
    /** @type {Source[]} */
    const sources = [['site', 'order'], ['site', 'lost']];
    const changes = await this.store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      const lost = rows.get('site', 'lost')?.value ?? [];
      const names = new Map(lost.map((/** @type {any} */ one) => [one.id, one.client_id ?? newClientId()]));
      for (const { id, conversation_id, text, annotations, attachments, descriptions, reply_to, machine_only, poll, buttons } of lost) {
        const target = names.get(reply_to);
        const body = {
          text, annotations, attachments, ...(descriptions ? { descriptions } : {}), ...(reply_to && !target ? { reply_to } : {}),
          ...(machine_only ? { machine_only } : {}), ...(poll ? { poll: pollAgain(poll) } : {}), ...(buttons ? { buttons } : {}),
        };
        const reply = target ? { target } : {};
        this.#put(rows, { kind: 'send', conversation_id, body, ...reply }, names.get(id));
      }
      rows.remove('site', 'lost');
      return rows.changes;
    }, { isDurable: true });
    this.publish(changes);
    this.kick();
  }

  /**
   * Tries a failed or pending operation again, now. It keeps its position before later operations.
   * @param {string} id
   */
  async retry(id) {
    /** @type {string | undefined} */
    let conversation;
    /** @type {Source[]} */
    const sources = [['outbox', id]];
    const changes = await this.store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      const held = rows.get('outbox', id);
      conversation = held?.conversation_id;
      if (held?.state === 'failed') putAgain(rows, held);
      return rows.changes;
    }, { isDurable: true });
    this.publish(changes);
    if (conversation !== undefined) {
      clearTimeout(this.#resting.get(conversation));
      this.#resting.delete(conversation);
    }
    this.kick();
  }

  /**
   * Drops an operation, and the operations that change its message. Other unsent messages stay, also replies to it. A
   * message that the server has, or may have, is deleted there, unless the server has refused that, too.
   * @param {string} id
   */
  async cancel(id) {
    /** @type {Operation[]} */
    let dropped = [];
    /** @type {Source[]} */
    const sources = [['site', 'order'], ...sourcesOfSend(id), ['messages@client', id]];
    const changes = await this.store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      const operation = rows.get('outbox', id);
      const changing = rows.list('outbox@target', id).filter(({ kind }) => kind !== 'send');
      dropped = [];
      const sent = rows.get('messages@client', id);
      if (!operation) {
        // The message was sent since the caller read the outbox.
        if (!sent || sent.deleted || sent.author_id !== this.now().me) return [];
        this.#put(rows, { kind: 'delete', conversation_id: sent.conversation_id, message_id: sent.id }, newClientId());
        return rows.changes;
      }
      const isRefused = operation.state === 'failed' && changing.some(({ kind }) => kind === 'delete');
      if (operation.kind === 'send' && mayBeSent(operation) && !isRefused) {
        dropped = changing;
        for (const op of dropped) rows.remove('outbox', op.id);
        if (operation.state === 'failed') putAgain(rows, operation);
        const draft = { kind: /** @type {const} */ ('delete'), conversation_id: operation.conversation_id, target: id };
        this.#put(rows, draft, newClientId());
        return rows.changes;
      }
      dropped = [operation, ...changing];
      return dropped.flatMap(removal);
    }, { isDurable: true });
    for (const op of dropped) this.#abort(op.id);
    this.publish(changes);
    this.emit('cancelled', { id });
    this.kick();
  }

  /**
   * Ends the hold of a deletion: it is sent now, in place of the other changes of its message, or it is dropped.
   * @param {Operation} operation @param {{ isTakenBack?: boolean }} options
   * @returns {Promise<boolean>} Whether it was held until now.
   */
  async endHold({ id, message_id: message }, { isTakenBack = false } = {}) {
    let wasHeld = false;
    /** @type {Source[]} */
    const sources = [['outbox', id], ['outbox@message', message ?? '']];
    const changes = await this.store.update(sources, ([held, others]) => {
      wasHeld = held?.held_until !== undefined && !mayBeSent(held);
      if (!wasHeld) return [];
      if (isTakenBack) return removal(held);
      const { held_until: _, ...released } = held;
      return [...others.flatMap(removal), put('outbox', released)];
    }, { isDurable: true });
    this.publish(changes);
    this.kick();
    return wasHeld;
  }

  /** Sends until `stop`. Only the leading tab does. */
  start() {
    this.#isRunning = true;
    this.kick();
  }

  stop() {
    this.#isRunning = false;
    for (const lane of this.#lanes.values()) lane.abort();
    for (const timer of this.#resting.values()) clearTimeout(timer);
    this.#resting.clear();
    clearTimeout(this.#holding);
  }

  /** Sends pending operations. `isBack`: without the remaining pauses, since the network is back. */
  kick({ isBack = false } = {}) {
    if (!this.#isRunning) return;
    if (isBack) {
      for (const timer of this.#resting.values()) clearTimeout(timer);
      this.#resting.clear();
    }
    clearTimeout(this.#holding);
    const hold = Math.min(...this.mirror.outbox.map(holdOf).filter((left) => left > 0));
    if (hold <= maxHold) this.#holding = setTimeout(() => this.kick(), hold);
    for (const op of this.#waiting()) {
      if (this.#lanes.size >= maxLanes) return;
      if (!this.#lanes.has(op.conversation_id) && !this.#resting.has(op.conversation_id)) this.#run(op.conversation_id);
    }
  }

  /** The operations that may be sent, in order. */
  #waiting() {
    return sendable(this.mirror.outbox);
  }

  /** @param {string} conversation */
  async #run(conversation) {
    const stop = new AbortController();
    this.#lanes.set(conversation, stop);
    try {
      while (this.#isRunning && !stop.signal.aborted) {
        const begun = await this.#begin(conversation);
        if (!begun || stop.signal.aborted) break;
        try {
          await this.#perform(begun.operation, stop.signal);
        } catch (error) {
          if (stop.signal.aborted) break;
          if (!(error instanceof Problem)) throw error;
          if (!(await this.#settleFailure(begun, error))) break;
        }
      }
    } catch (error) {
      // The store failed, for example because the disk is full. An operation is sent only after it is recorded.
      if (this.#isRunning && !stop.signal.aborted) {
        this.emit('fault', error);
        this.#rest(conversation, this.pause(maxPause));
        const next = this.#waiting().find((op) => op.conversation_id === conversation);
        const reason = new Problem({ code: 'not_stored', detail: String(error) });
        if (next) this.emit('waiting', { id: next.id, reason: reason.toJSON() });
      }
    } finally {
      this.#lanes.delete(conversation);
      this.#current.delete(conversation);
      // An operation may have been added meanwhile, or waits for a free lane.
      if (this.#isRunning) queueMicrotask(() => this.kick());
    }
  }

  /**
   * Stores that a try of the lane's next operation begins, before anything is sent.
   * @param {string} conversation @returns {Promise<Begun | null>}
   */
  async #begin(conversation) {
    for (;;) {
      const next = this.#waiting().find((op) => op.conversation_id === conversation);
      this.#current.delete(conversation);
      if (!next) return null;
      /** @type {Source[]} */
      const sources = [['site', 'order'], ['outbox', next.id], ['outbox', next.target ?? '']];
      /** @type {Begun | null} */
      let begun = null;
      const changes = await this.store.update(sources, ([order, held, target]) => {
        begun = null;
        // Another tab has added, changed or removed an operation, and has not announced it.
        if ((order?.value ?? 0) > this.mirror.order || target || !held || !isSameTry(held, next)) return [];
        const wasUnanswered = mayBeSent(held);
        begun = { operation: { ...held, tries: held.tries + 1, unanswered: isUploaded(held) || wasUnanswered }, wasUnanswered };
        this.#current.set(conversation, held.id);
        return [put('outbox', begun.operation)];
      }, { isDurable: true });
      this.publish(changes);
      if (begun) return begun;
      await this.#readOutbox();
    }
  }

  /** Reads the operations that another tab stored and did not announce. */
  async #readOutbox() {
    let last = 0;
    const changes = await this.store.update([['outbox'], ['site', 'order']], ([rows, order]) => {
      const held = new Set(rows.map((/** @type {Operation} */ { id }) => id));
      last = order?.value ?? 0;
      return [
        ...rows.map((/** @type {Operation} */ row) => put('outbox', row)),
        ...this.mirror.outbox.filter(({ id }) => !held.has(id)).map(({ id }) => ({ table: 'outbox', key: id })),
      ];
    });
    this.publish(changes);
    this.mirror.order = Math.max(this.mirror.order, last);
  }

  /**
   * Returns whether the lane continues.
   * @param {Begun} begun @param {Problem} problem
   */
  async #settleFailure({ operation: op, wasUnanswered }, problem) {
    // A refused request stored nothing, except that 409 means that a message with this `client_id` exists. The server looks up
    // the `client_id` before it validates the body, so 400 and 413 rule out an earlier stored try, too.
    const { status } = problem;
    const isRefused = status === 0 ? !problem.isTemporary : status < 500 && ![408, 409].includes(status);
    const isRejected = status === 400 || status === 413;
    // A try that ended before its request, as during an upload, has changed nothing.
    const ended = (/** @type {Operation} */ held) =>
      ({ ...held, unanswered: mayBeSent(held) && (isRefused ? wasUnanswered && !isRejected : true) });
    if (problem.isTemporary || problem.isSignedOut) {
      const waiting = await this.#change(op.id, ended);
      if (problem.isSignedOut) this.stop();
      // The operation was dropped during the request, so the next one is tried at once.
      else if (!waiting) return true;
      else this.#rest(op.conversation_id, problem.retryAfter ?? this.pause(op.tries));
      this.emit('waiting', { id: op.id, reason: problem.toJSON() });
      return false;
    }
    await this.#fail(op, ended, problem);
    return true;
  }

  /**
   * Stores a refusal. A message that is to be deleted and that the server does not have is dropped. If the server may have
   * it, the deletion fails with it, so that both are shown. A read position is dropped: it is of no use to the user, and the
   * server's is fetched.
   * @param {Operation} op @param {(held: Operation) => Operation} ended @param {Problem} problem
   */
  async #fail(op, ended, problem) {
    /** @type {Source[]} */
    const sources = [...sourcesOfSend(op.id), ['conversations', op.conversation_id], ['site', 'wanted']];
    const reason = problem.toJSON();
    const again = op.files[0] && (await import('./upload.js').catch(() => null))?.withLostFiles;
    /** @type {Operation | null} */
    let failed = null;
    let isDropped = false;
    const changes = await this.store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      const held = rows.get('outbox', op.id);
      [failed, isDropped] = [null, false];
      // The operation was retried or replaced during the request.
      if (held?.order !== op.order || held.tries !== op.tries) return [];
      const changing = rows.list('outbox@target', op.id).filter(({ kind }) => kind !== 'send');
      const deletions = changing.filter(({ kind, state }) => kind === 'delete' && state === 'pending');
      const { reply_to: _, ...body } = held.body;
      // The server has lost the message, or the user may not read it any more. The text is sent without the reference.
      if (held.body.reply_to && problem.errors.some(({ field }) => field === 'reply_to')) {
        return [put('outbox', { ...ended(held), body })];
      }
      const unsent = again?.(held, problem);
      if (unsent) return [put('outbox', ended(unsent))];
      failed = /** @type {Operation} */ ({ ...ended(held), state: 'failed', reason });
      if (op.kind === 'read') {
        rows.remove('outbox', op.id);
        forgetRead(rows, op.conversation_id);
        return rows.changes;
      }
      isDropped = deletions.length > 0 && !mayBeSent(failed);
      if (isDropped) return [held, ...changing].flatMap(removal);
      return [put('outbox', failed), ...deletions.map((one) => put('outbox', { ...one, state: 'failed', reason }))];
    }, { isDurable: true });
    this.publish(changes);
    if (failed && op.kind === 'read') this.want(`conversation:${op.conversation_id}`);
    if (isDropped) this.emit('cancelled', { id: op.id });
    else if (failed) this.emit('failed', { operation: failed, problem });
  }

  /** @param {string} conversation @param {number} milliseconds */
  #rest(conversation, milliseconds) {
    if (!this.#isRunning) return;
    const timer = setTimeout(() => {
      this.#resting.delete(conversation);
      this.kick();
    }, milliseconds);
    this.#resting.set(conversation, timer);
  }

  /** @param {string} id @param {(operation: Operation) => Operation} change @returns {Promise<Operation | null>} */
  async #change(id, change) {
    /** @type {Operation | null} */
    let changed = null;
    const changes = await this.store.update([['outbox', id]], ([held]) => {
      if (!held) return [];
      changed = change(held);
      return [put('outbox', changed)];
    }, { isDurable: true });
    this.publish(changes);
    return changed;
  }

  /** @param {Operation} op @param {AbortSignal} signal */
  async #perform(op, signal) {
    const { calls } = this.client;
    const id = op.kind === 'send' || !(op.message_id ?? op.target) ? '' : await this.#targetOf(op);
    // An answer is at least as new as the cursor at the time of the request.
    const { generation, start, cursor } = this.now();
    const known = { generation, start, position: position(generation, cursor) };
    const options = { signal, tries: 1 };
    switch (op.kind) {
      case 'send': {
        const ready = isUploaded(op) ? op : await this.#uploadFiles(op, signal);
        if (!ready) return undefined;
        if (op.joins !== undefined) {
          await calls.setForumMember({ ...options, id: op.joins, user: 'me' });
          this.want(`forum:${op.joins}`);
        }
        const body = { ...ready.body, client_id: op.id, sent_at: op.created_at };
        const attachments = [...(body.attachments ?? []), ...ready.files.map(({ file_id }) => file_id)];
        if (attachments.length > 0) body.attachments = attachments;
        return this.#settle(op, await calls.postMessage({ ...options, id: op.conversation_id, body }), known);
      }
      case 'edit':
        return this.#settle(op, await calls.editMessage({ ...options, id, body: op.body }), known);
      case 'delete':
        return this.#settle(op, await calls.deleteMessage({ ...options, id }), known);
      case 'set_action':
        return this.#settle(op, await calls.setAction({ ...options, id, type: op.body.type }), known);
      case 'remove_action':
        await calls.removeAction({ ...options, id, type: op.body.type });
        return this.#settle(op, await calls.getMessage({ ...options, id }), known);
      case 'vote':
        return this.#settle(op, await calls.setVote({ ...options, id, body: op.body }), known);
      case 'read': {
        const read = await calls.markRead({ ...options, id: op.conversation_id, body: op.body });
        return this.#settleRead(op, read, known);
      }
      default:
        return (await loaded(import('./conversationrequests.js'))).changeConversation(this, op, options, known);
    }
  }

  /**
   * The id of the message that an operation changes. A message that was sent from here is found by its `client_id`.
   * @param {Operation} op @returns {Promise<string>}
   */
  async #targetOf(op) {
    if (op.message_id !== undefined) return op.message_id;
    const sent = await this.store.get('messages@client', op.target ?? '');
    if (sent) return sent.id;
    throw new Problem({ status: 404, code: 'not_found', detail: 'its message was never sent' });
  }

  /**
   * Uploads the files that are not uploaded yet. Then stores that the message is posted, as it is by now: it can be edited
   * and dropped during the uploads.
   * @param {Operation} op @param {AbortSignal} signal @returns {Promise<Operation | null>} Null if it was dropped.
   */
  async #uploadFiles(op, signal) {
    for (const held of op.files) {
      const file = { ...held };
      if (file.file_id === null) {
        const { blob } = (await this.store.get('files', file.id)) ?? {};
        if (!blob) throw new Problem({ code: 'file_lost', detail: 'the file is gone' });
        const onProgress = (/** @type {number} */ sent, /** @type {number} */ size) =>
          this.emit('progress', { id: op.id, file: file.id, sent, size });
        const note = async (/** @type {Partial<PendingFile>} */ change) => {
          Object.assign(file, change);
          const changed = (/** @type {PendingFile} */ one) => (one.id === file.id ? { ...one, ...change } : one);
          await this.#change(op.id, (held) => ({ ...held, files: held.files.map(changed) }));
        };
        // Loaded with the first file. Without the network it is tried again later.
        const { upload } = await loaded(import('./upload.js'));
        const uploaded = await upload(this.client, blob, {
          name: file.name, type: file.type, clientId: file.id, uploadId: file.upload_id, signal, onProgress,
          onUpload: (id) => note({ upload_id: id }),
        });
        await note({ file_id: uploaded.id });
      }
    }
    signal.throwIfAborted();
    return this.#change(op.id, (held) => ({ ...held, unanswered: true }));
  }

  /**
   * Removes the operation and stores its message, in one transaction. An answer of an earlier history is not stored:
   * the operation is sent again, and the `client_id` makes it one message.
   * @param {Operation} op @param {any} message @param {Known} known
   */
  async #settle(op, message, known) {
    // A proxy or a captive portal answered.
    if (message?.id === undefined || message.seq === undefined) throw networkProblem(new TypeError('no message'));
    const { catch_up: _, ...own } = message;
    /** @type {Source[]} */
    const sources = [['site', 'lost'], ['site', 'wanted'], ...sourcesOfMessage(own), ...sourcesOfSend(op.id), unconfirmed];
    const recount = `unread:${own.conversation_id}`;
    let isRecounted = false;
    await this.keepAnswer(sources, known, (rows) => {
      const before = rows.get('messages', [own.conversation_id, own.seq]);
      const isForced = isAnother(before, own);
      // A restored server used this `seq` again: the earlier message exists only on this client.
      if (isForced) keepLost(rows, [before], this.now().me);
      dropFound(rows, own);
      const asOf = isForced ? Math.max(known.position, before.known) : known.position;
      const merged = mergeMessage(before, own, asOf, { isForced });
      const isOther = changesUnread(rows, before, merged);
      isRecounted = keepSent(rows, merged) || isOther;
      if (isRecounted) wantLater(rows, recount);
      const isAction = actionKinds.includes(op.kind);
      const isKnown = before?.id === own.id &&
        (isAction ? agesOf(before).actions > known.position : before.revision >= own.revision);
      if (!isKnown) {
        acknowledge(rows, `${isAction ? 'action' : 'message'}:${own.id}`, own.conversation_id, isAction ? 0 : own.revision);
      }
      if (op.kind === 'send') finishSend(rows, { ...own, client_id: op.id });
      else rows.remove('outbox', op.id);
    });
    if (isRecounted) this.want(recount);
    this.emit('sent', { id: op.id, kind: op.kind, message: own });
  }

  /**
   * Stores an answer. One of an earlier history is not stored: the operation is sent again.
   * @param {Source[]} sources @param {Known} known @param {(rows: Rows) => void} change
   */
  async keepAnswer(sources, known, change) {
    const all = [...sources, ...historySources];
    let isOld = false;
    const changes = await this.store.update(all, (found) => {
      const rows = new Rows(all, found);
      isOld = isOutdated(rows, known);
      if (isOld) return historyOf(rows);
      change(rows);
      return rows.changes;
    }, { isDurable: true });
    this.publish(changes);
    if (isOld) throw networkProblem(new TypeError('an answer of an earlier history'));
  }

  /** @param {Operation} op @param {any} read @param {Known} known */
  async #settleRead(op, read, known) {
    if (typeof read?.read_up_to !== 'number') throw networkProblem(new TypeError('no read position'));
    const name = `unread:${op.conversation_id}`;
    /** @type {Source[]} */
    const sources = [['conversations', op.conversation_id], ['outbox', op.id], ['site', 'wanted'], unconfirmed];
    let isRecounted = false;
    await this.keepAnswer(sources, known, (rows) => {
      const [held, own] = [rows.get('conversations', op.conversation_id), rows.get('outbox', op.id)];
      // A later position may have replaced the operation.
      if (own?.order === op.order) rows.remove('outbox', op.id);
      isRecounted = false;
      if (!held) return;
      const position = Math.max(held.read_up_to ?? 0, read.read_up_to);
      const delivered = Math.max(held.delivered_up_to ?? 0, read.delivered_up_to);
      const unread = position === read.read_up_to ? read.unread_count : held.unread_count;
      // Events that arrived before the answer may be missing from its count.
      isRecounted = unread !== held.unread_count;
      if (isRecounted) wantLater(rows, name);
      acknowledge(rows, `read:${op.conversation_id}`, op.conversation_id, read.read_up_to);
      rows.put('conversations', { ...held, read_up_to: position, delivered_up_to: delivered, unread_count: unread });
    });
    if (isRecounted) this.want(name);
  }
}

/** The number of tries after which the pause is the longest. */
const maxPause = 10;

export { voted, withOperations } from './operations.js';
