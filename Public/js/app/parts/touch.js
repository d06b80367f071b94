// Touch gestures: long press and swipe on a message, pull to refresh on a list.

import { sayProblem } from '../core/text.js';
import { skeleton } from './empty.js';
import { toast } from './toast.js';

/** Durations in milliseconds and distances in CSS pixels: the tolerance of a long press, and the minimum of a swipe. */
const HELD = 500;
const STILL = 10;
const DRAWN = 64;
const ASIDE = 32;
const PULLED = 96;
const WAIT = 300;

/**
 * Handles a long press on a message, and a swipe in reading direction.
 * @param {HTMLElement} node @param {{ held: (id: string, message: Element) => void, drawn: (id: string) => void }} on
 */
export function onMessages(node, { held, drawn }) {
  let begun = null;
  let wasHeld = false;
  const end = () => {
    clearTimeout(begun?.timer);
    begun = null;
  };
  const listen = (name, work, passive = true) => node.addEventListener(name, work, { passive });
  listen('touchstart', (event) => {
    end();
    wasHeld = false;
    const message = event.target.closest?.('[data-id]');
    if (!message || event.touches.length > 1) return;
    const { clientX: x, clientY: y } = event.touches[0];
    const timer = setTimeout(() => {
      begun = null;
      wasHeld = true;
      navigator.vibrate?.(10);
      held(message.dataset.id, message);
    }, HELD);
    begun = { id: message.dataset.id, x, y, timer, goesAlong: goesAlong(event.target, message) };
  });
  listen('touchmove', (event) => {
    const { clientX: x, clientY: y } = event.touches[0];
    if (begun && Math.hypot(x - begun.x, y - begun.y) > STILL) clearTimeout(begun.timer);
  });
  // Releasing a long press is no click, and opens no context menu.
  listen('touchend', (event) => {
    if (wasHeld && event.cancelable) event.preventDefault();
    const from = begun;
    end();
    if (!from || from.goesAlong) return;
    const { clientX: x, clientY: y } = event.changedTouches[0];
    const onward = getComputedStyle(node).direction === 'rtl' ? from.x - x : x - from.x;
    if (onward > DRAWN && Math.abs(y - from.y) < ASIDE) drawn(from.id);
  }, false);
  for (const name of ['contextmenu', 'dragstart'])
    listen(name, (event) => (begun || wasHeld) && event.preventDefault(), false);
  listen('touchcancel', end);
}

/** Whether the element under the finger scrolls sideways itself. */
function goesAlong(target, message) {
  for (let it = target; it && it !== message; it = it.parentElement)
    if (it.scrollWidth > it.clientWidth && ['auto', 'scroll'].includes(getComputedStyle(it).overflowX)) return true;
  return false;
}

/** A pull from the top asks anew. */
export function onPullToRefresh(body, work) {
  let from = null;
  const listen = (name, does) => body.addEventListener(name, does, { passive: true });
  listen('touchstart', ({ touches }) => {
    from = body.scrollTop <= 0 && touches.length === 1 ? touches[0].clientY : null;
  });
  listen('touchcancel', () => (from = null));
  listen('touchend', async ({ changedTouches }) => {
    const isPulled = from !== null && body.scrollTop <= 0 && changedTouches[0].clientY - from > PULLED;
    from = null;
    if (!isPulled || body.ariaBusy === 'true') return;
    body.ariaBusy = 'true';
    const sign = skeleton(1);
    const timer = setTimeout(() => body.prepend(sign), WAIT);
    try {
      await work();
    } catch (error) {
      toast(sayProblem(error));
    }
    clearTimeout(timer);
    sign.remove();
    body.ariaBusy = 'false';
  });
}
