import { el, rememberFocus } from '../../core/dom.js';
import { keepInside, placeBeside } from '../../core/beside.js';
import { dialog } from './dialog.js';

export function popoverElement(title, content) {
  return el('div.popover', { role: 'dialog', tabindex: '-1', aria: { label: title } }, content);
}

/**
 * Content beside its anchor, without dimming the page; a sheet on a phone. Escape and a press elsewhere close it, and the
 * focus returns. `place` keeps it inside the window after it has grown.
 * @returns {{ close: () => void, place?: () => void }}
 */
export function popover(anchor, title, content) {
  if (matchMedia('(max-width: 43.6875rem)').matches) return dialog(title, content, { isSheet: true });
  const back = rememberFocus(anchor);
  const node = popoverElement(title, content);
  const close = (returnsFocus = true) => {
    document.removeEventListener('pointerdown', outside, true);
    node.remove();
    if (returnsFocus) back();
  };
  const outside = (event) => {
    if (!node.contains(event.target)) close(false);
  };
  node.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.preventDefault();
    event.stopPropagation();
    close();
  });
  node.addEventListener('focusout', (event) => {
    if (event.relatedTarget && !node.contains(event.relatedTarget)) close(false);
  });
  (anchor.closest('dialog') ?? document.body).append(node);
  placeBeside(node, anchor);
  document.addEventListener('pointerdown', outside, true);
  node.focus({ preventScroll: true });
  return { close, place: () => keepInside(node) };
}
