// The order of lists of topics, which this device keeps.

import { say } from '../core/text/text.js';
import { menu } from '../parts/overlays/menu.js';
import { KEY, topicOrder } from './topicrows.js';

/** Opens the menu of the orders at its button. @param {() => void} changed */
export function orderMenu(anchor, changed) {
  const choose = (order) => {
    localStorage.setItem(KEY, order);
    changed();
  };
  menu(anchor, ['activity', 'created'].map((it) => ({ words: say(`filter.order.${it}`), isChosen: it === (topicOrder() ?? 'activity'), on: () => choose(it) })), say('filter.order'));
}
