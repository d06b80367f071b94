// Finds a message by its `seq`. The server has pages beside an id and from a time on. While both known neighbours are far
// away, the search interpolates a time between theirs.

/** @typedef {{ id: string, seq: number, created_at: string }} Known */
/** @typedef {{ after?: string, before?: string, after_time?: string, order?: 'asc', limit: number }} Asked */

/** The max that one page has. */
const max = 200;
/** Times that are tried before one goes on page by page: many messages may bear one time. */
const tries = 12;

/**
 * Finds the message with this `seq`, or the next existing one; null if there is none.
 * @param {number} seq
 * @param {{ low?: Known, high?: Known, last: number }} known The nearest cached neighbours, and the newest `seq`.
 * @param {(query: Asked) => Promise<Known[]>} fetch Gives a page in order.
 * @returns {Promise<Known | null>}
 */
export async function find(seq, { low, high, last }, fetch) {
  const among = (/** @type {Known[]} */ page) => page.find((it) => it.seq >= seq) ?? null;
  let left = tries;
  for (;;) {
    const [below, above] = [low ? low.seq : 0, high ? high.seq : last + 1];
    // One page from an end that is known has it; from the newest, if that is still the newest.
    if (above - seq <= max) {
      const page = await fetch({ ...(high ? { before: high.id } : {}), limit: max });
      const [first] = page;
      if (!first || first.seq <= seq) return among(page) ?? high ?? null;
      high = first;
    } else if (seq - below <= max || left === 0) {
      const page = await fetch({ ...(low ? { after: low.id } : { order: 'asc' }), limit: max });
      const found = among(page);
      if (found || !page.length) return found ?? high ?? null;
      low = page[page.length - 1];
    } else if (!low || !high) {
      // Interpolation needs the times of both ends.
      const [end] = await fetch({ ...(low ? {} : { order: 'asc' }), limit: 1 });
      if (!end) return null;
      if (low) high = end;
      else low = end;
    } else {
      left--;
      const [from, to] = [Date.parse(low.created_at), Date.parse(high.created_at)];
      const time = from + ((to - from) * (seq - low.seq)) / (high.seq - low.seq);
      const [met] = await fetch({ after_time: new Date(time).toISOString(), limit: 1 });
      if (!met || met.seq <= low.seq || met.seq >= high.seq) left = 0;
      else if (met.seq > seq) high = met;
      else low = met;
    }
  }
}
