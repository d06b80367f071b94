// The formats for selected text, above a composer without a toolbar.

import { el } from '../../core/dom.js';
import { formatBar } from './format.js';

const bars = new WeakMap();

/** Shows the bar while text of the field is selected, on wide pages. @param {HTMLTextAreaElement} input */
export function showSelectionBar(input) {
  if (!bars.has(input)) bars.set(input, makeBar(input));
  bars.get(input)();
}

/** Returns the function that shows or hides the bar. */
function makeBar(input) {
  const node = el('div.composer-completion', { hidden: true }, el('div.completion', null, formatBar(input)));
  const update = () => {
    const isSelected = input.selectionStart !== input.selectionEnd && matchMedia('(min-width: 43.75rem)').matches;
    node.hidden = !(isSelected && (document.activeElement === input || node.contains(document.activeElement)));
  };
  // A press of the pointer leaves the focus and the selection in the field.
  node.addEventListener('pointerdown', (event) => event.preventDefault());
  node.addEventListener('mousedown', (event) => event.preventDefault());
  for (const name of ['input', 'keyup', 'pointerup', 'select']) input.addEventListener(name, update);
  // The focus is elsewhere only after the event.
  for (const it of [input, node]) it.addEventListener('focusout', () => setTimeout(update));
  input.closest('form').prepend(node);
  return update;
}
