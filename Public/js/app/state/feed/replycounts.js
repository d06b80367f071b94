// The numbers of replies to posts, asked for as posts come into view, many at once, and again after a reply came or went.

import { wait } from '../../../parley/time.js';

/** The server counts the replies of this many posts in one request, and stops a count here. */
const MAX = 100;
/** The wait for further posts of a request, in milliseconds. */
const PAUSE = 50;

export class ReplyCounts extends EventTarget {
  #site;
  #known = new Map();
  #wanted = new Set();
  #isAsking = false;
  #end;

  constructor(site) {
    super();
    this.#site = site;
    this.#end = site.parley.on('change', (changes) => this.#changed(changes));
  }

  close() {
    this.#wanted.clear();
    this.#end();
  }

  /** The number of replies; null if unknown. @returns {{ n: number, hasMore: boolean } | null} */
  of(id) {
    const n = this.#known.get(id);
    return n === undefined ? null : { n, hasMore: n === MAX };
  }

  ask(id) {
    if (!this.#known.has(id)) this.#want(id);
  }

  async #want(id) {
    this.#wanted.add(id);
    if (this.#isAsking) return;
    this.#isAsking = true;
    do {
      await wait(PAUSE);
      await this.#request([...this.#wanted].slice(0, MAX));
    } while (this.#wanted.size > 0);
    this.#isAsking = false;
  }

  /** Posts of a failed request are asked for when they come into view again. */
  async #request(ids) {
    for (const id of ids) this.#wanted.delete(id);
    if (ids.length === 0) return;
    try {
      const { data } = await this.#site.client.calls.listReplyCounts({ query: { ids: ids.join(',') }, tries: 1 });
      for (const it of data) this.#known.set(it.message_id, it.count);
      this.dispatchEvent(new Event('change'));
    } catch {}
  }

  #changed(changes) {
    for (const { table, row } of changes) if (table === 'messages' && this.#known.has(row?.reply_to)) this.#want(row.reply_to);
  }
}
