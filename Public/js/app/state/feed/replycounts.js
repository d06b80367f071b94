// The numbers of replies to posts, asked for as posts come into view. Their replies are in the cache from then on.

import { loadPage } from './cache.js';

const PAGE = 50;
/** Requests at once. */
const LANES = 2;

export class ReplyCounts extends EventTarget {
  #site;
  /** The replies of a post that are not deleted, and whether there are more. */
  #known = new Map();
  #queue = [];
  #busy = 0;
  #end;

  constructor(site) {
    super();
    this.#site = site;
    this.#end = site.parley.on('change', (changes) => this.#changed(changes));
  }

  close() {
    this.#queue = [];
    this.#end();
  }

  /** The number of replies; null if unknown. @returns {{ n: number, hasMore: boolean } | null} */
  of(id) {
    const known = this.#known.get(id);
    return known?.ids ? { n: known.ids.size, hasMore: known.hasMore } : null;
  }

  ask(id) {
    if (this.#known.has(id)) return;
    this.#known.set(id, {});
    this.#queue.push(id);
    this.#work();
  }

  async #work() {
    if (this.#busy >= LANES || !this.#queue.length) return;
    const id = this.#queue.shift();
    this.#busy += 1;
    try {
      const query = { limit: PAGE, include: 'users' };
      const page = await loadPage(this.#site, () => this.#site.client.calls.listReplies({ id, query, tries: 1 }));
      const live = page.data.filter((it) => !it.deleted).map((it) => it.id);
      this.#known.set(id, { ids: new Set(live), hasMore: !!page.next });
      this.dispatchEvent(new Event('change'));
    } catch {
      // It is asked for when the post comes into view again.
      this.#known.delete(id);
    } finally {
      this.#busy -= 1;
      this.#work();
    }
  }

  #changed(changes) {
    let isTouched = false;
    for (const { table, row } of changes) {
      const ids = table === 'messages' && row && this.#known.get(row.reply_to)?.ids;
      if (!ids || ids.has(row.id) !== !!row.deleted) continue;
      if (row.deleted) ids.delete(row.id);
      else ids.add(row.id);
      isTouched = true;
    }
    if (isTouched) this.dispatchEvent(new Event('change'));
  }
}
