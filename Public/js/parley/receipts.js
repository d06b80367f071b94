// Delivery receipts: the last cached message of each conversation that has receipts, sent by the leading tab.
//
// The receipts to send follow from the cache and from the server's delivered position. So nothing is stored, and a lost
// receipt is sent with the next round.

import { compareIds } from './ids.js';
import { Problem } from './problem.js';
import { wait } from './time.js';

/**
 * @typedef {object} ReceiptsOptions
 * @property {import('./client.js').Client} client
 * @property {import('./mirror.js').Mirror} mirror
 * @property {import('./pages.js').Pages} pages
 * @property {number} [delay] Milliseconds before a round; the server publishes receipts at most once a second.
 * @property {number} [interval] Milliseconds between two rounds.
 */

/** Receipts per round. Each counts towards the user's rate limit for changes. */
const maxPerRound = 4;
/** Larger conversations have no receipts. */
const maxParticipants = 50;
/** New messages that are searched for one by another author. */
const maxScanned = 50;

export class DeliveryReceipts {
  /**
   * The last sent or refused receipt of each conversation, by its `seq`.
   * @type {Map<string, number>}
   */
  #sent = new Map();
  #generation = 0;
  #isDue = false;
  #isRunning = false;
  #stop = new AbortController();

  /** @param {ReceiptsOptions} options */
  constructor({ client, mirror, pages, delay = 1000, interval = 4000 }) {
    this.client = client;
    this.mirror = mirror;
    this.pages = pages;
    this.delay = delay;
    this.interval = interval;
  }

  /** Schedules a round after new messages. */
  schedule() {
    this.#isDue = true;
    if (!this.#isRunning && !this.#stop.signal.aborted) this.#run();
  }

  stop() {
    this.#stop.abort();
  }

  async #run() {
    const { signal } = this.#stop;
    this.#isRunning = true;
    try {
      while (this.#isDue && !signal.aborted) {
        await wait(this.delay, signal);
        if (signal.aborted) return;
        this.#isDue = false;
        if (await this.#send()) this.#isDue = true;
        await wait(this.interval, signal);
      }
    } catch {
      // Without an answer, or with a full disk, the next round tries again.
    } finally {
      this.#isRunning = false;
    }
  }

  /** Sends a round. Returns whether more receipts are due. */
  async #send() {
    const due = await this.#due();
    for (const { id, newest } of due.slice(0, maxPerRound)) {
      try {
        const body = { message_id: newest.id };
        await this.client.calls.markDelivered({ id, body, tries: 1, signal: this.#stop.signal });
      } catch (error) {
        // The server would refuse the receipt again.
        if (!(error instanceof Problem) || error.isTemporary || error.isSignedOut) throw error;
      }
      this.#sent.set(id, newest.seq);
    }
    return due.length > maxPerRound;
  }

  /** The newest message of each conversation with new messages by others. */
  async #due() {
    const { me, generation } = this.mirror;
    if (generation !== this.#generation) this.#sent.clear();
    this.#generation = generation;
    /** @type {{ id: string, newest: any }[]} */
    const due = [];
    if (me?.show_receipts !== true) return due;
    for (const conversation of this.mirror.conversations.values()) {
      const { id } = conversation;
      if (!hasReceipts(conversation)) continue;
      const known = Math.max(conversation.delivered_up_to ?? 0, conversation.joined_seq ?? 0, this.#sent.get(id) ?? 0);
      if ((conversation.last_seq ?? 0) <= known) continue;
      const last = (await this.pages.history(id)).held.pop()?.[1] ?? 0;
      const from = Math.max(known + 1, last - maxScanned + 1);
      const messages = await this.pages.held(id, from, last);
      const newest = messages[messages.length - 1];
      if (newest && messages.some(({ author_id }) => author_id !== me.id)) due.push({ id, newest });
    }
    return due.sort((a, b) => compareIds(a.newest.id, b.newest.id));
  }
}

/** @param {any} conversation */
const hasReceipts = ({ kind, role, request, participant_count: count }) =>
  (kind === 'direct' || kind === 'group') && role !== undefined && !request && (count ?? 0) <= maxParticipants;
