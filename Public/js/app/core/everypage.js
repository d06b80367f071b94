// A list as a whole.

/**
 * The elements of all pages.
 * @template Element
 * @param {(next?: string) => Promise<{ data: Element[], next?: string | null }>} load
 * @returns {Promise<Element[]>}
 */
export async function everyPage(load) {
  /** @type {Element[]} */
  const all = [];
  /** @type {string | undefined} */
  let next;
  do {
    const page = await load(next);
    all.push(...page.data);
    next = page.next ?? undefined;
  } while (next);
  return all;
}
