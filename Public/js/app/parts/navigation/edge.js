import { el } from '../../core/dom.js';
import { keepWidth, widths } from '../../core/theme.js';
import { say } from '../../core/text/text.js';

/** The edge between the sidebar and the page: dragged, or moved with keys; pressed twice it is as it was. */
export function sidebarEdge() {
  const node = el('div.sidebar-edge', {
    role: 'separator',
    tabindex: '0',
    aria: { label: say('navigation.edge'), orientation: 'vertical', valuemin: widths.min, valuemax: widths.max, valuenow: keepWidth() },
  });
  for (const name of ['pointerdown', 'pointermove', 'dblclick', 'keydown'])
    node.addEventListener(name, (event) => {
      const isKey = /^(Arrow[LR]|Home|End)/.test(event.key);
      const isPress = name === 'pointerdown';
      // The pointer is captured at once: it may be released before the module is loaded.
      if (isPress) node.setPointerCapture(event.pointerId);
      else if (name === 'pointermove' && !node.hasPointerCapture(event.pointerId)) return;
      // Keeps the key from the page, and the pointer from selecting text.
      if (isKey) event.stopPropagation();
      if (isKey || isPress) event.preventDefault();
      import('./edgemoves.js').then(({ move }) => move(node, event), () => {});
    });
  return node;
}
