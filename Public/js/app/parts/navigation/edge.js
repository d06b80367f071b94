import { el } from '../../core/dom.js';
import { keepWidth, widths } from '../../core/theme.js';
import { say } from '../../core/text/text.js';

const STEP = 10;

/** The edge between the sidebar and the page: dragged, or moved with the arrows; pressed twice it is as it was. */
export function sidebarEdge() {
  const node = el('div.sidebar-edge', {
    role: 'separator',
    tabindex: '0',
    aria: { label: say('navigation.edge'), orientation: 'vertical', valuemin: widths.min, valuemax: widths.max },
  });
  const set = (width) => node.setAttribute('aria-valuenow', keepWidth(width));
  const now = () => Number(node.getAttribute('aria-valuenow'));
  const isTurned = () => getComputedStyle(node).direction === 'rtl';
  node.setAttribute('aria-valuenow', keepWidth());
  node.addEventListener('pointerdown', (event) => {
    event.preventDefault();
    node.setPointerCapture(event.pointerId);
  });
  node.addEventListener('pointermove', (event) => {
    if (node.hasPointerCapture(event.pointerId)) set(isTurned() ? innerWidth - event.clientX : event.clientX);
  });
  node.addEventListener('dblclick', () => set(widths.usual));
  node.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
    const to = { Home: widths.min, End: widths.max }[event.key] ?? (by && now() + (isTurned() ? -by : by));
    if (to === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    set(to);
  });
  return node;
}
