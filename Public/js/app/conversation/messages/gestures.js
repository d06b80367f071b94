// Touch gestures on messages: long press and swipe. Only devices with a touch screen load them.

import { onTouch } from '../../parts/lists/touch.js';

/** Durations in milliseconds and distances in CSS pixels: the tolerance of a long press, and the minimum of a swipe. */
const HELD = 500;
const STILL = 10;
const DRAWN = 64;
const ASIDE = 32;

/** Long press and swipe on a message of a conversation's page. */
export function addGestures({ stream, acts, view }) {
  const messageOf = (id) => {
    const found = stream.shown.find((it) => it.id === id);
    return found?.kind === 'system' ? null : found;
  };
  onMessages(view.node, {
    held: (id, anchor) => {
      const message = messageOf(id);
      if (message) acts?.run(message, 'more', anchor);
    },
    drawn: (id) => {
      const message = messageOf(id);
      if (message && !message.deleted && !message.state) acts?.run(message, 'reply');
    },
  });
}

/**
 * Handles a long press on a message, and a swipe in reading direction.
 * @param {HTMLElement} node @param {{ held: (id: string, message: Element) => void, drawn: (id: string) => void }} on
 */
function onMessages(node, { held, drawn }) {
  let begun = null;
  let wasHeld = false;
  const end = () => {
    clearTimeout(begun?.timer);
    begun = null;
  };
  onTouch(node, {
    start: (event) => {
      end();
      wasHeld = false;
      const message = event.target.closest?.('[data-id]');
      if (!message || event.touches.length > 1) return;
      const { id } = message.dataset;
      const { clientX: x, clientY: y } = event.touches[0];
      const timer = setTimeout(() => {
        begun = null;
        wasHeld = true;
        navigator.vibrate?.(10);
        held(id, message.isConnected ? message : node.querySelector(`[data-id="${id}"]`));
      }, HELD);
      begun = { id, x, y, timer, goesAlong: goesAlong(event.target, message) };
    },
    move: (event) => {
      const { clientX: x, clientY: y } = event.touches[0];
      if (begun && Math.hypot(x - begun.x, y - begun.y) > STILL) clearTimeout(begun.timer);
    },
    // Releasing a long press is no click, and opens no context menu.
    end: (event) => {
      if (wasHeld && event.cancelable) event.preventDefault();
      const from = begun;
      end();
      if (!from || from.goesAlong) return;
      const { clientX: x, clientY: y } = event.changedTouches[0];
      const onward = getComputedStyle(node).direction === 'rtl' ? from.x - x : x - from.x;
      if (onward > DRAWN && Math.abs(y - from.y) < ASIDE) drawn(from.id);
    },
    cancel: end,
  });
  for (const name of ['contextmenu', 'dragstart'])
    node.addEventListener(name, (event) => (begun || wasHeld) && event.preventDefault());
}

/** Whether the element under the finger scrolls sideways itself. */
function goesAlong(target, message) {
  for (let it = target; it && it !== message; it = it.parentElement)
    if (it.scrollWidth > it.clientWidth && ['auto', 'scroll'].includes(getComputedStyle(it).overflowX)) return true;
  return false;
}
