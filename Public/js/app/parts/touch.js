// The touch gesture of lists: pull to refresh.

import { sayProblem } from '../core/text.js';
import { skeleton } from './empty.js';
import { toast } from './toast.js';

/** The minimum distance of a pull in CSS pixels, and the time without an answer until it is shown, in milliseconds. */
const PULLED = 96;
const WAIT = 300;

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
