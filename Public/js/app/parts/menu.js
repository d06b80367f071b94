import { el, icon, wayBack } from '../core/dom.js';

/** Verbs, one a line. `items`: {words, picture, on, danger, keys}, or null for a gap. */
export function menuElement(items, label) {
  return el(
    'div.menu',
    { role: 'menu', aria: { label } },
    items.map((item) => {
      if (!item) return el('hr.menu-gap');
      return el(
        'button.menu-item',
        {
          role: 'menuitem',
          class: item.danger ? 'is-danger' : '',
          tabindex: '-1',
          data: { act: item.act ?? null },
        },
        item.picture && icon(item.picture),
        el('span', null, item.words),
        item.keys && el('kbd', null, item.keys),
      );
    }),
  );
}

/** Opens a menu beside its button, inside the window. Arrows move, Escape closes and restores the focus. */
export function menu(anchor, items, label) {
  const node = menuElement(items, label);
  const verbs = items.filter(Boolean);
  const buttons = [...node.querySelectorAll('[role=menuitem]')];
  const back = wayBack(anchor);
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
  put(node, anchor);
  anchor.setAttribute('aria-expanded', 'true');
  document.addEventListener('pointerdown', outside, true);
  buttons[0]?.focus();
  return { close };
}

function put(node, anchor) {
  const box = anchor.getBoundingClientRect();
  const { width, height } = node.getBoundingClientRect();
  const gap = 4;
  const isRight = getComputedStyle(document.documentElement).direction === 'rtl';
  const wanted = isRight ? box.left : box.right - width;
  const x = Math.max(gap, Math.min(wanted, innerWidth - width - gap));
  const below = box.bottom + gap + height <= innerHeight;
  const y = below ? box.bottom + gap : Math.max(gap, box.top - gap - height);
  node.style.left = `${x}px`;
  node.style.top = `${y}px`;
}
