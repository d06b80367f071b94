// Drafts on disk. The files of a draft are in the table `files`; the row of the draft names them. A file is written once,
// and removed with its draft or when the user removes it.

import { newClientId } from './ids.js';
import { put } from './store.js';

/** @typedef {import('./store.js').Store} Store @typedef {import('./store.js').Change} Change */
/** @typedef {{ id: string, name: string, type: string, size: number, description?: string }} DraftFile */
/** @typedef {File & { description?: string }} DescribedFile A file of a message; the draft keeps its description. */

/** The most bytes of files of all drafts together. */
const maxDraftBytes = 50_000_000;

export class Drafts {
  #store;
  #publish;
  #maxBytes;
  /**
   * Changes that are not on disk yet. Only the latest change of each draft is written; `files` of an earlier one stay.
   * @type {Map<string, { value: unknown, files?: File[] }>}
   */
  #waiting = new Map();
  /** @type {Promise<void> | null} */
  #keeping = null;
  /** @type {WeakMap<File, DraftFile>} */
  #names = new WeakMap();

  /** @param {{ store: Store, publish: (changes: Change[]) => void, maxBytes?: number }} options */
  constructor({ store, publish, maxBytes = maxDraftBytes }) {
    this.#store = store;
    this.#publish = publish;
    this.#maxBytes = maxBytes;
  }

  /** Resolves when all changes are on disk. */
  get kept() {
    return this.#keeping ?? Promise.resolve();
  }

  /** @param {File[]} files @returns {DraftFile[]} */
  #nameFiles(files) {
    return files.map((file) => {
      const { name, type, size } = file;
      if (!this.#names.has(file)) this.#names.set(file, { id: newClientId(), name, type, size });
      const { description } = /** @type {DescribedFile} */ (file);
      return { .../** @type {DraftFile} */ (this.#names.get(file)), ...(description ? { description } : {}) };
    });
  }

  /** @param {string} conversation @param {unknown} value @param {File[]} [files] */
  keep(conversation, value, files) {
    this.#waiting.set(conversation, { value, files: files ?? this.#waiting.get(conversation)?.files });
    this.#keeping ??= this.#keepAll().finally(() => {
      this.#keeping = null;
    });
    return this.#keeping;
  }

  async #keepAll() {
    while (this.#waiting.size > 0) {
      const waiting = [...this.#waiting];
      this.#waiting.clear();
      const changes = await this.#write(waiting);
      // Files beyond the limit are not in the stored row.
      this.#publish(changes.filter(({ table, ...change }) => table === 'drafts' && 'row' in change && !this.#waiting.has(change.row.conversation_id)));
    }
  }

  /**
   * Without room on the disk for the files, the texts are stored.
   * @param {[string, { value: unknown, files?: File[] }][]} waiting @returns {Promise<Change[]>}
   */
  async #write(waiting) {
    const write = (/** @type {typeof waiting} */ drafts) => this.#store.update([['drafts']], ([rows]) => this.#changesFor(rows, drafts));
    try {
      return await write(waiting);
    } catch (error) {
      if (!waiting.some(([, { files }]) => files?.length)) throw error;
      return write(waiting.map(([conversation, { value }]) => [conversation, { value }]));
    }
  }

  /** @param {any[]} rows All drafts. @param {[string, { value: unknown, files?: File[] }][]} waiting @returns {Change[]} */
  #changesFor(rows, waiting) {
    const drafts = new Map(rows.map((row) => [row.conversation_id, row]));
    /** @type {Change[]} */
    const changes = [];
    for (const [conversation, { value, files }] of waiting) {
      /** @type {DraftFile[]} */
      const before = drafts.get(conversation)?.files ?? [];
      drafts.delete(conversation);
      /** @type {DraftFile[]} */
      let named = [];
      if (value !== null) named = files ? this.#fitting(files, [...drafts.values()]) : before;
      const isStored = (/** @type {DraftFile} */ { id }) => before.some((one) => one.id === id);
      for (const file of files ?? []) {
        const { id } = this.#nameFiles([file])[0];
        if (named.some((one) => one.id === id && !isStored(one))) changes.push(put('files', { id, blob: file }));
      }
      for (const { id } of before) if (!named.some((one) => one.id === id)) changes.push({ table: 'files', key: id });
      if (value === null) {
        changes.push({ table: 'drafts', key: conversation });
      } else {
        const row = draftRow(conversation, value, named);
        drafts.set(conversation, row);
        changes.push(put('drafts', row));
      }
    }
    return changes;
  }

  /**
   * Gives drafts with their files other keys, in one transaction. Drafts of these keys are replaced.
   * @param {[from: string, to: string][]} moves
   */
  async move(moves) {
    await this.kept;
    const changes = await this.#store.update([['drafts']], ([rows]) => {
      const rowOf = (/** @type {string} */ key) => rows.find((/** @type {any} */ row) => row.conversation_id === key);
      return moves.flatMap(([from, to]) => {
        const row = rowOf(from);
        /** @type {DraftFile[]} */
        const replaced = rowOf(to)?.files ?? [];
        return [
          ...replaced.map(({ id }) => ({ table: 'files', key: id })),
          { table: 'drafts', key: from },
          row ? put('drafts', { ...row, conversation_id: to }) : { table: 'drafts', key: to },
        ];
      });
    });
    this.#publish(changes.filter(({ table }) => table === 'drafts'));
  }

  /**
   * The files that the limit has room for, beside those of other drafts.
   * @param {File[]} files @param {any[]} others
   */
  #fitting(files, others) {
    const sizes = others.flatMap((row) => (row.files ?? []).map((/** @type {DraftFile} */ { size }) => size));
    let room = this.#maxBytes - sizes.reduce((sum, size) => sum + size, 0);
    return this.#nameFiles(files).filter(({ size }) => {
      if (size > room) return false;
      room -= size;
      return true;
    });
  }

  /**
   * Returns the files of a draft, in memory: a browser may drop a stored file with its row.
   * @param {string} conversation @returns {Promise<File[]>}
   */
  async filesOf(conversation) {
    await this.kept;
    /** @type {DraftFile[]} */
    const named = (await this.#store.get('drafts', conversation))?.files ?? [];
    /** @type {File[]} */
    const files = [];
    for (const one of named) {
      const { blob } = (await this.#store.get('files', one.id)) ?? {};
      if (!blob) continue;
      const file = new File([await blob.arrayBuffer()], one.name, { type: one.type });
      const { description, ...name } = one;
      this.#names.set(file, name);
      files.push(description ? Object.assign(file, { description }) : file);
    }
    return files;
  }
}

/** @param {string} conversation @param {unknown} value @param {DraftFile[]} [files] */
const draftRow = (conversation, value, files = []) =>
  ({ conversation_id: conversation, value, ...(files.length > 0 ? { files } : {}) });
