// Style sheets of parts that few pages have: each is loaded with its part.

import { el } from './dom.js';

const sheets = new Map();

/** Resolves once the sheet applies, or is unavailable: without it the part is plain but works. */
export function loadSheet(href) {
  if (!sheets.has(href)) {
    const loaded = new Promise((resolve) => {
      const failed = () => {
        sheets.delete(href);
        resolve();
      };
      document.head.append(el('link', { rel: 'stylesheet', href, on: { load: resolve, error: failed } }));
    });
    sheets.set(href, loaded);
  }
  return sheets.get(href);
}
