// All emoji in their groups, and the search in them. The picker loads them.

import { el } from '../dom.js';
import { language, say } from '../text/text.js';
import { allEmoji } from './all.js';

export { toneBar, toned } from './tones.js';

/** Sections with a heading and a grid. @param {(it: { character: string, words: string }) => HTMLElement} make the button of an emoji */
export function emojiSections(make) {
  return allEmoji(language()).map(([name, entries]) => {
    const words = say(`emoji.group.${name}`);
    const node = el('section', { aria: { label: words } }, el('h3.section-title', null, words), el('div.emoji-grid', null, entries.map(make)));
    // Most of them are out of view.
    Object.assign(node.style, { contentVisibility: 'auto', containIntrinsicSize: 'auto 24rem' });
    return node;
  });
}

/** The emoji with a word that starts with the query. */
export function searchEmoji(start) {
  const wanted = start.toLowerCase();
  const fits = ({ words }) => words.toLowerCase().startsWith(wanted) || words.toLowerCase().split(/[\s-]/).some((word) => word.startsWith(wanted));
  return allEmoji(language()).flatMap(([, entries]) => entries.filter(fits));
}
