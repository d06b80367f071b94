// What a person has said and the server has not yet heard. An operation is on the disk before anything else happens,
// leaves in the order of its conversation, and ends in one of two ways: it is gone, because the server has it, or it
// has `failed` with a reason and waits for the person to try again or to let it go. `client_id` makes a repeated send
// one message, so an operation whose answer was lost is simply sent again.

import { newClientId } from './ids.js';
import { Problem } from './problem.js';
import { Rows, keepSent, mergeMessage, position } from './reducer.js';
import { put } from './store.js';
import { backOff } from './time.js';
import { upload } from './upload.js';

/**
 * A file beside its message, by the name that makes a repeated upload one file.
 * @typedef {{ id: string, name: string, type: string, size: number, file_id: string | null,
 *   upload_id?: string }} PendingFile
 */
/**
 * @typedef {object} Operation
 * @property {string} id A message's `client_id`.
 * @property {number} order
 * @property {'send' | 'edit' | 'delete' | 'act' | 'unact' | 'read'} kind
 * @property {string} conversation_id
 * @property {string} [message_id] What it is about.
 * @property {string} [target] The same, while it is itself an operation that waits.
 * @property {any} body
 * @property {PendingFile[]} files
 * @property {'pending' | 'failed'} state
 * @property {any} reason The problem, as a value.
 * @property {number} tries
 * @property {string} created_at
 */
/**
 * @typedef {object} OutboxOptions
 * @property {import('./client.js').Client} client
 * @property {import('./store.js').Store} store
 * @property {() => { generation: number, cursor: number, me: string | null }} now
 * @property {() => readonly Operation[]} operations All that wait, as the tab knows them.
 * @property {(changes: import('./store.js').Change[]) => void} publish
 * @property {(kind: string, detail: any) => void} emit
 * @property {typeof backOff} [pause]
 */

/** Conversations that are served at once. */
const mostLanes = 4;

export class Outbox {
  /** @type {Map<string, AbortController>} The lanes that are busy, by conversation. */
  #lanes = new Map();
  /** @type {Map<string, ReturnType<typeof setTimeout>>} Those that wait for another try. */
  #resting = new Map();
  #isRunning = false;

  /** @param {OutboxOptions} options */
  constructor({ client, store, now, operations, publish, emit, pause = backOff }) {
    this.client = client;
    this.store = store;
    this.now = now;
    this.operations = operations;
    this.publish = publish;
    this.emit = emit;
    this.pause = pause;
  }

  /**
   * Keeps an operation; it is sent when its turn comes. What is deleted before it was sent was never said, and what is
   * edited before the first try, or after a refusal, is simply said differently.
   * @param {Pick<Operation, 'kind' | 'conversation_id'> & Partial<Operation>} draft @param {Blob[]} blobs
   * @returns {Promise<Operation | null>} Null where nothing is left to send.
   */
  async add(draft, blobs = []) {
    const target = draft.target === undefined ? undefined : this.operations().find(({ id }) => id === draft.target);
    // What failed was refused by the server, so no message has its name.
    if (target && (target.tries === 0 || target.state === 'failed') && !this.#isBusyWith(target)) {
      if (draft.kind === 'delete') {
        await this.cancel(target.id);
        return null;
      }
      if (draft.kind === 'edit') {
        return this.#change(target.id, (op) => ({ ...op, body: { ...op.body, ...draft.body } }));
      }
    }
    /** @type {Operation} */
    const operation = {
      order: 0, body: {}, state: 'pending', reason: null, tries: 0, created_at: new Date().toISOString(),
      ...draft,
      id: draft.kind === 'read' ? `read:${draft.conversation_id}` : (draft.id ?? newClientId()),
      files: blobs.map((blob) => ({
        id: newClientId(),
        name: /** @type {File} */ (blob).name ?? 'file',
        type: blob.type,
        size: blob.size,
        file_id: null,
      })),
    };
    const changes = await this.store.update([['site', 'order']], ([row]) => {
      operation.order = (row?.value ?? 0) + 1;
      return [
        put('site', { name: 'order', value: operation.order }),
        put('outbox', operation),
        ...operation.files.map((file, number) => put('files', { id: file.id, blob: blobs[number] })),
      ];
    });
    this.publish(changes);
    this.kick();
    return operation;
  }

  /**
   * Tries again what failed, or what waits, now. What failed comes last: others have been said since.
   * @param {string} id
   */
  async retry(id) {
    const changes = await this.store.update([['outbox', id], ['site', 'order']], ([held, order]) => {
      if (!held) return [];
      if (held.state === 'pending') return [put('outbox', { ...held, tries: held.tries })];
      const next = (order?.value ?? 0) + 1;
      return [
        put('outbox', { ...held, state: 'pending', reason: null, order: next }),
        put('site', { name: 'order', value: next }),
      ];
    });
    this.publish(changes);
    this.kick();
  }

  /**
   * Lets an operation go, and what was to happen to the message that it would have made.
   * @param {string} id
   */
  async cancel(id) {
    const all = this.operations().filter((op) => op.id === id || op.target === id);
    for (const op of all) if (this.#isBusyWith(op)) this.#lanes.get(op.conversation_id)?.abort();
    this.publish(await this.store.update([], () => all.flatMap((op) => removal(op))));
    this.emit('cancelled', { id });
  }

  /** Begins to send, until `stop`. Only one tab does. */
  start() {
    this.#isRunning = true;
    this.kick();
  }

  stop() {
    this.#isRunning = false;
    for (const lane of this.#lanes.values()) lane.abort();
    for (const timer of this.#resting.values()) clearTimeout(timer);
    this.#resting.clear();
  }

  /** Tries everything that waits, now: the network is back, or there is something new. */
  kick({ isBack = false } = {}) {
    if (!this.#isRunning) return;
    if (isBack) {
      for (const timer of this.#resting.values()) clearTimeout(timer);
      this.#resting.clear();
    }
    for (const op of this.#waiting()) {
      if (this.#lanes.size >= mostLanes) return;
      if (!this.#lanes.has(op.conversation_id) && !this.#resting.has(op.conversation_id)) this.#run(op.conversation_id);
    }
  }

  /** @param {Operation} operation */
  #isBusyWith(operation) {
    return this.#lanes.has(operation.conversation_id) && this.#current.get(operation.conversation_id) === operation.id;
  }

  /** @type {Map<string, string>} */
  #current = new Map();

  /** What may be sent, in order. What is about a message that waits itself comes after that. */
  #waiting() {
    const all = this.operations();
    const ids = new Set(all.map(({ id }) => id));
    return all.filter((op) => op.state === 'pending' && !(op.target !== undefined && ids.has(op.target)));
  }

  /** @param {string} conversation */
  async #run(conversation) {
    const stop = new AbortController();
    this.#lanes.set(conversation, stop);
    try {
      while (this.#isRunning && !stop.signal.aborted) {
        const op = this.#waiting().find((op) => op.conversation_id === conversation);
        if (!op) break;
        this.#current.set(conversation, op.id);
        try {
          await this.#perform(op, stop.signal);
        } catch (error) {
          if (stop.signal.aborted) break;
          if (!(error instanceof Problem)) throw error;
          if (!(await this.#settleFailure(op, error))) break;
        }
      }
    } finally {
      this.#lanes.delete(conversation);
      this.#current.delete(conversation);
      // A lane that was full, or an operation that came in the meantime.
      if (this.#isRunning) queueMicrotask(() => this.kick());
    }
  }

  /**
   * Whether the lane goes on.
   * @param {Operation} op @param {Problem} problem
   */
  async #settleFailure(op, problem) {
    const tries = op.tries + 1;
    if (problem.isTemporary || problem.isSignedOut) {
      await this.#change(op.id, (held) => ({ ...held, tries }));
      this.emit('waiting', { id: op.id, reason: problem.toJSON() });
      if (problem.isSignedOut) this.stop();
      else this.#rest(op.conversation_id, problem.retryAfter ?? this.pause(tries));
      return false;
    }
    const failed = await this.#change(op.id, (held) => ({ ...held, tries, state: 'failed', reason: problem.toJSON() }));
    if (failed) this.emit('failed', { operation: failed, problem });
    return true;
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
    });
    this.publish(changes);
    return changed;
  }

  /** @param {Operation} op @param {AbortSignal} signal */
  async #perform(op, signal) {
    const { calls } = this.client;
    const id = op.kind === 'send' || op.kind === 'read' ? '' : await this.#targetOf(op);
    // An answer knows at least what had happened when it was asked for.
    const { generation, cursor } = this.now();
    const known = position(generation, cursor);
    const options = { signal, tries: 1 };
    switch (op.kind) {
      case 'send': {
        const body = { ...op.body, client_id: op.id, sent_at: op.created_at };
        const attachments = await this.#uploadFiles(op, signal);
        if (attachments.length > 0) body.attachments = [...(body.attachments ?? []), ...attachments];
        return this.#settle(op, await calls.postMessage({ ...options, id: op.conversation_id, body }), known);
      }
      case 'edit':
        return this.#settle(op, await calls.editMessage({ ...options, id, body: op.body }), known);
      case 'delete':
        return this.#settle(op, await calls.deleteMessage({ ...options, id }), known);
      case 'act':
        return this.#settle(op, await calls.setAction({ ...options, id, type: op.body.type }), known);
      case 'unact':
        await calls.removeAction({ ...options, id, type: op.body.type });
        return this.#settle(op, await calls.getMessage({ ...options, id }), known);
      case 'read': {
        const mark = await calls.markRead({ ...options, id: op.conversation_id, body: op.body });
        return this.#settleMark(op, mark);
      }
    }
  }

  /**
   * The message that an operation is about. One that was itself sent from here is found by the name it was sent under.
   * @param {Operation} op @returns {Promise<string>}
   */
  async #targetOf(op) {
    if (op.message_id !== undefined) return op.message_id;
    const sent = await this.store.get('messages@client', op.target ?? '');
    if (sent) return sent.id;
    throw new Problem({ status: 404, code: 'not_found', detail: 'the message that it is about was never sent' });
  }

  /**
   * A file that has arrived is not sent twice.
   * @param {Operation} op @param {AbortSignal} signal
   */
  async #uploadFiles(op, signal) {
    const ids = [];
    for (const held of op.files) {
      const file = { ...held };
      if (file.file_id === null) {
        const { blob } = (await this.store.get('files', file.id)) ?? {};
        if (!blob) throw new Problem({ code: 'file_lost', detail: 'the file is no longer held here' });
        const onProgress = (/** @type {number} */ sent, /** @type {number} */ size) =>
          this.emit('progress', { id: op.id, file: file.id, sent, size });
        const note = async (/** @type {Partial<PendingFile>} */ change) => {
          Object.assign(file, change);
          const changed = (/** @type {PendingFile} */ one) => (one.id === file.id ? { ...one, ...change } : one);
          await this.#change(op.id, (held) => ({ ...held, files: held.files.map(changed) }));
        };
        const uploaded = await upload(this.client, blob, {
          name: file.name, type: file.type, clientId: file.id, uploadId: file.upload_id, signal, onProgress,
          onUpload: (id) => note({ upload_id: id }),
        });
        await note({ file_id: uploaded.id });
      }
      ids.push(/** @type {string} */ (file.file_id));
    }
    return ids;
  }

  /**
   * The operation goes and the message comes, in one step.
   * @param {Operation} op @param {any} message @param {number} known
   */
  async #settle(op, message, known) {
    const { catch_up: _, ...own } = message;
    const sources = placesOfMessage(own);
    const changes = await this.store.update(sources, (found) => {
      const rows = new Rows(sources, found);
      keepSent(rows, mergeMessage(rows.get('messages', [own.conversation_id, own.seq]), own, known));
      return [...rows.changes, ...removal(op)];
    });
    this.publish(changes);
    this.emit('sent', { id: op.id, kind: op.kind, message: own });
  }

  /** @param {Operation} op @param {any} mark */
  async #settleMark(op, mark) {
    /** @type {import('./store.js').Source[]} */
    const sources = [['conversations', op.conversation_id], ['outbox', op.id]];
    const changes = await this.store.update(sources, ([held, own]) => {
      const done = own && own.order === op.order ? removal(op) : [];
      if (!held) return done;
      const read = Math.max(held.read_up_to ?? 0, mark.read_up_to);
      const unread = read === mark.read_up_to ? mark.unread_count : held.unread_count;
      const delivered = Math.max(held.delivered_up_to ?? 0, mark.delivered_up_to);
      const marks = { read_up_to: read, delivered_up_to: delivered, unread_count: unread };
      return [...done, put('conversations', { ...held, ...marks })];
    });
    this.publish(changes);
  }
}

/** @param {any} message @returns {import('./store.js').Source[]} */
export const placesOfMessage = (message) => [
  ['messages', [message.conversation_id, message.seq]],
  ['conversations', message.conversation_id],
  ['history', message.conversation_id],
];

/** @param {Operation} op @returns {import('./store.js').Change[]} */
const removal = (op) => [
  { table: 'outbox', key: op.id },
  ...op.files.map((file) => ({ table: 'files', key: file.id })),
];

/**
 * A message as its author sees it while operations about it wait.
 * @param {any} message @param {Operation[]} operations Those about it, in order.
 */
export function withOperations(message, operations) {
  let shown = message;
  for (const op of operations) {
    if (op.state === 'failed') continue;
    const { type } = op.body;
    const mark = shown.actions?.[type];
    if (op.kind === 'edit') shown = { ...shown, ...op.body };
    if (op.kind === 'delete') shown = { ...shown, text: '', attachments: [], deleted: true, deletion: 'author' };
    if (op.kind === 'act' && !mark?.mine) {
      shown = { ...shown, actions: { ...shown.actions, [type]: { count: (mark?.count ?? 0) + 1, mine: true } } };
    }
    if (op.kind === 'unact' && mark?.mine) {
      const { [type]: _, ...others } = shown.actions;
      const left = mark.count > 1 ? { [type]: { count: mark.count - 1 } } : {};
      shown = { ...shown, actions: { ...others, ...left } };
    }
  }
  return shown;
}
