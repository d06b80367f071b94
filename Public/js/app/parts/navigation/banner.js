import { el, icon } from '../../core/dom.js';

/** One line under the header that says how things are. @param {"info"|"good"|"warn"|"bad"} kind */
export function banner(sentence, { kind = 'info', actions = [] } = {}) {
  const picture = { info: 'alert', good: 'online', warn: 'alert', bad: 'offline' }[kind];
  return el(`div.banner.banner-${kind}`, { role: 'status' }, icon(picture), el('span.banner-words', null, sentence), [actions].flat().length ? el('span.banner-actions', null, actions) : null);
}
