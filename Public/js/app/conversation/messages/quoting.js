// A button beside selected text of a message: it quotes the text in the composer.

import { el, icon } from '../../core/dom.js';
import { say } from '../../core/text/text.js';

/** Maximum length of a quote. */
const MAX = 2_000;

/** @param {HTMLElement} node the messages @param {() => any} composer where the quote goes; null while the user can't write */
export function quoteSelection(node, composer) {
  let button = null;
  const hide = () => {
    button?.remove();
    button = null;
  };
  const quote = (text) => {
    hide();
    getSelection().removeAllRanges();
    const { input } = composer();
    const before = input.value.slice(0, input.selectionStart);
    const gap = before && !before.endsWith('\n') ? '\n\n' : '';
    composer().insert(`${gap}${text.split('\n').map((it) => `> ${it}`).join('\n')}\n\n`);
  };
  const look = () => {
    const selection = getSelection();
    const text = selection.toString().trim().slice(0, MAX);
    const range = text && selection.rangeCount ? selection.getRangeAt(0) : null;
    const part = range && (range.commonAncestorContainer.parentElement ?? range.commonAncestorContainer);
    if (!part || !composer() || !node.contains(part) || !part.closest('.rich')) return hide();
    hide();
    button = el('button.quote-button', { on: { pointerdown: (event) => event.preventDefault(), click: () => quote(text) } }, icon('reply'), say('act.quote'));
    document.body.append(button);
    const box = range.getBoundingClientRect();
    const { width, height } = button.getBoundingClientRect();
    button.style.left = `${Math.max(4, Math.min(box.left + (box.width - width) / 2, innerWidth - width - 4))}px`;
    button.style.top = `${box.top > height + 8 ? box.top - height - 4 : box.bottom + 4}px`;
    return undefined;
  };
  document.addEventListener('selectionchange', look);
  node.addEventListener('scroll', hide, { passive: true });
  return () => {
    document.removeEventListener('selectionchange', look);
    hide();
  };
}
