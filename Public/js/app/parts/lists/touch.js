// Touches, and the touch gesture of lists: pull to refresh.

import { sayProblem } from '../../core/text/text.js';
import { skeleton } from './empty.js';
import { toast } from '../overlays/toast.js';

/** The minimum distance of a pull in CSS pixels, and the time without an answer until it is shown, in milliseconds. */
const PULLED = 96;
const WAIT = 300;

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
