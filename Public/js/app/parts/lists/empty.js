import { el, icon } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { button } from '../forms/button.js';

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

/** An empty state of failed content, with a button that loads it again. `isNetwork`: the server did not answer. */
export function unreachable(again, isNetwork = true) {
  return empty(say(isNetwork ? 'fault.network' : 'fault.other'), { picture: 'alert', actions: [button(say('act.retry'), { kind: 'primary', on: again })] });
}

/** A skeleton of the loading content; the caller shows it after 300 ms. */
export function skeleton(rows = 6) {
  return el(
    'div.skeleton',
    { aria: { hidden: 'true' } },
    Array.from({ length: rows }, () => el('div.skeleton-row')),
  );
}
