import { el, icon, rememberFocus } from '../../core/dom.js';
import { placeBeside } from '../../core/beside.js';

/** Verbs, one a line. `items`: {words, second, picture, on, danger, keys, isChosen}, or null for a gap. */
export function menuElement(items, label) {
  return el(
    'div.menu',
    { role: 'menu', aria: { label } },
    items.map((item) => {
      if (!item) return el('hr.menu-gap');
      return el(
        'button.menu-item',
        {
          role: item.isChosen === undefined ? 'menuitem' : 'menuitemradio',
          aria: { checked: item.isChosen === undefined ? null : String(item.isChosen) },
          class: item.danger ? 'is-danger' : '',
          tabindex: '-1',
          data: { act: item.act ?? null },
        },
        item.picture && icon(item.picture),
        el('span', null, item.words, item.second && el('span.second', null, item.second)),
        item.keys && el('kbd', null, item.keys),
      );
    }),
  );
}

/** Opens a menu beside its button, inside the window. Arrows move, Escape closes and restores the focus. */
export function menu(anchor, items, label) {
  const node = menuElement(items, label);
  const verbs = items.filter(Boolean);
  const buttons = [...node.querySelectorAll('[role^=menuitem]')];
  const back = rememberFocus(anchor);
  const close = (returnFocus = true) => {
    document.removeEventListener('pointerdown', outside, true);
    node.remove();
    // Restores the attribute, so that a redraw keeps the node.
    anchor.removeAttribute('aria-expanded');
    if (returnFocus) back();
  };
  const outside = (event) => {
    if (!node.contains(event.target)) close(false);
  };
  buttons.forEach((button, index) =>
    button.addEventListener('click', () => {
      close();
      verbs[index].on();
    }),
  );
  node.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (to !== undefined) {
      event.preventDefault();
      buttons[(to + buttons.length) % buttons.length].focus();
    } else if (event.key === 'Escape' || event.key === 'Tab') {
      event.preventDefault();
      event.stopPropagation();
      close();
    }
  });
  (anchor.closest('dialog') ?? document.body).append(node);
  placeBeside(node, anchor);
  anchor.setAttribute('aria-expanded', 'true');
  document.addEventListener('pointerdown', outside, true);
  buttons[0]?.focus();
  return { close };
}
