// The moves of the edge beside the sidebar. Loaded with its first event.

import { keepWidth, widths } from '../../core/theme.js';

const STEP = 10;

/** Moves the edge as a pointer or a key says. */
export function move(node, event) {
  const set = (width) => node.setAttribute('aria-valuenow', keepWidth(width));
  const now = Number(node.getAttribute('aria-valuenow'));
  const isTurned = getComputedStyle(node).direction === 'rtl';
  if (event.type === 'pointermove') return set(isTurned ? innerWidth - event.clientX : event.clientX);
  if (event.type === 'dblclick') return set(widths.usual);
  const by = { ArrowLeft: -STEP, ArrowRight: STEP }[event.key];
  const to = { Home: widths.min, End: widths.max }[event.key] ?? (by && now + (isTurned ? -by : by));
  return to !== undefined && set(to);
}
