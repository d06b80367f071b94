import { el, icon } from '../../core/dom.js';

/** An empty state: one sentence and an action. */
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

/** A skeleton of the loading content; the caller shows it after 300 ms. */
export function skeleton(rows = 6) {
  return el(
    'div.skeleton',
    { aria: { hidden: 'true' } },
    Array.from({ length: rows }, () => el('div.skeleton-row')),
  );
}
