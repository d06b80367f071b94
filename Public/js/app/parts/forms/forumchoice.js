import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { toggle } from './switch.js';

/**
 * A switch for each forum.
 * @param {[string, string][]} forums ids and titles @param {string} hint
 * @returns {{ node: HTMLElement | false, chosen: () => string[] | undefined }} Without a forum there is no node.
 */
export function forumChoice(forums, hint) {
  const switches = forums.map(([id, title]) => /** @type {const} */ ([id, toggle(title)]));
  const node =
    forums.length > 0 &&
    el(
      'div.field',
      { role: 'group', aria: { label: say('navigation.forums') } },
      el('span.field-label', null, say('navigation.forums')),
      el('p.field-hint', null, hint),
      switches.map(([, it]) => it),
    );
  const chosen = () => {
    const ids = switches.filter(([, { input }]) => input.checked).map(([id]) => id);
    return ids.length ? ids : undefined;
  };
  return { node, chosen };
}
