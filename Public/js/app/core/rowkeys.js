// The letters of the keyboard shortcuts, and the keys j and k in lists.

import { isTyping } from './dom.js';

/** Whether a key is a letter for the page: not typed in a field, and no shortcut of the browser. */
export const isLetter = (event) => !isTyping(event.target) && !event.ctrlKey && !event.metaKey && !event.altKey;

/** The row whose link or button has the focus; -1 without one. @param {HTMLElement[]} links of rows */
export const focusedRow = (links) =>
  links.findIndex((it) => (it.closest('.inbox-item, .topic-tagged') ?? it).contains(document.activeElement));

/** Moves the focus between the links of rows with j and k. Returns whether the key was one of these. */
export function stepRows(event, links) {
  const step = { j: 1, k: -1 }[event.key];
  if (!step || !isLetter(event)) return false;
  const at = focusedRow(links);
  const next = links[at < 0 ? 0 : Math.max(0, Math.min(links.length - 1, at + step))];
  next?.focus();
  next?.scrollIntoView({ block: 'nearest' });
  return true;
}
