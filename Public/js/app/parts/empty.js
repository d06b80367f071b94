import { el, icon } from '../core/dom.js';

/** A place where nothing is yet: one sentence, and what one can do about it. */
export function empty(sentence, { picture, second, actions = [] } = {}) {
  return el(
    'div.empty',
    null,
    picture && el('span.empty-picture', null, icon(picture)),
    el('p', null, sentence),
    second && el('p.second', null, second),
    actions.length ? el('div.empty-actions', null, actions) : null,
  );
}

/** The shape of what comes; shown by the one who waits, after 300 ms. */
export function skeleton(rows = 6) {
  return el(
    'div.skeleton',
    { aria: { hidden: 'true' } },
    Array.from({ length: rows }, () => el('div.skeleton-row')),
  );
}
