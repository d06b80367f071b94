// Touches, and the touch gestures of lists: pull to refresh, and swipes of rows.

import { sayProblem } from '../../core/text/text.js';
import { skeleton } from './empty.js';
import { toast } from '../overlays/toast.js';

/** The minimum distance of a pull in CSS pixels, and the time without an answer until it is shown, in milliseconds. */
const PULLED = 96;
const WAIT = 300;
/** The minimum distance of a swipe, and the distance from which the row follows the finger. */
const SWIPED = 72;
const STILL = 10;

/**
 * Follows a touch from its start to its end. The browser sends its events to the touched element even after a redraw has
 * removed it, so that element has the listeners: the node would miss the end.
 */
export function onTouch(node, { start, move, end, cancel }) {
  let touch = new AbortController();
  const begin = (event) => {
    touch.abort();
    touch = new AbortController();
    const listen = (name, work, passive = true) =>
      work && event.target.addEventListener(name, work, { passive, signal: touch.signal });
    listen('touchmove', move);
    listen('touchend', end, false);
    listen('touchcancel', cancel);
    start(event);
  };
  node.addEventListener('touchstart', begin, { passive: true });
}

/** A pull from the top asks anew. */
export function onPullToRefresh(body, work) {
  let from = null;
  const start = ({ touches }) => (from = body.scrollTop <= 0 && touches.length === 1 ? touches[0].clientY : null);
  const cancel = () => (from = null);
  const end = async ({ changedTouches }) => {
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
  };
  onTouch(body, { start, end, cancel });
}

/** A swipe of a row presses one of its buttons: against the direction of reading "seen", along with it "later". */
export function onRowSwipe(list) {
  let begun = null;
  const reset = () => {
    if (begun) begun.row.style.translate = '';
    begun = null;
  };
  const way = ({ clientX, clientY }) => [clientX - begun.x, clientY - begun.y];
  // The browser scrolls upwards and downwards only.
  list.style.touchAction = 'pan-y pinch-zoom';
  onTouch(list, {
    start: ({ target, touches }) => {
      reset();
      const row = target.closest?.('[data-key]');
      if (row && touches.length === 1) begun = { row, x: touches[0].clientX, y: touches[0].clientY };
    },
    move: ({ touches }) => {
      if (!begun) return;
      const [x, y] = way(touches[0]);
      // The list is scrolled.
      if (!begun.isAside && Math.abs(y) > STILL) reset();
      else if (begun.isAside || Math.abs(x) > STILL) {
        begun.isAside = true;
        begun.row.style.translate = `${x}px`;
      }
    },
    end: (event) => {
      if (!begun?.isAside) return reset();
      // The end of a swipe is no click.
      if (event.cancelable) event.preventDefault();
      const { row } = begun;
      const [x] = way(event.changedTouches[0]);
      reset();
      const isOnward = x > 0 !== (getComputedStyle(list).direction === 'rtl');
      if (Math.abs(x) > SWIPED) row.querySelector(`[data-act="${isOnward ? 'later' : 'seen'}"]`)?.click();
      return undefined;
    },
    cancel: reset,
  });
}
