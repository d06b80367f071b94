import { el, icon } from '../../core/dom.js';
import { say } from '../../core/text/text.js';

/** The state of the connection: a green check, a red cross, or on its way. @param {"online"|"offline"|"connecting"} state */
export function sign(state, { withWord = false } = {}) {
  const words = say(`sign.${state}`);
  const picture = { online: 'online', offline: 'offline', connecting: 'again' }[state];
  return el(
    `span.sign.sign-${state}`,
    { title: words },
    icon(picture, withWord ? null : words),
    withWord && el('span.second', null, words),
  );
}
