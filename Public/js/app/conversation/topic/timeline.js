// The position in a long topic, and the way to any of its posts: beside the text where there is room, else behind a number.

import { el, refill } from '../../core/dom.js';
import { dialog } from '../../parts/overlays/dialog.js';
import { timeline, timelinePill } from '../../parts/lists/timeline.js';
import { toast } from '../../parts/overlays/toast.js';
import { say, sayProblem } from '../../core/text/text.js';

/** Shorter ones are scrolled through sooner than one could choose. */
const LEAST = 10;

/** The timeline beside a topic, once that is long. Calls `moved` when the visible post changes. */
export function timelineOf(view, stream, conversation) {
  let rail = null;
  const pillBox = el('div.timeline-pill');
  /** The selected post while it loads, then the scroll position: posts near the end cannot be scrolled to the top. */
  let wanted = null;
  let chosen = null;
  let planned = 0;
  let shown = '';

  const dateOf = (n) => {
    const it = stream.messages.find(({ seq }) => seq === n);
    return it && new Date(it.created_at);
  };
  const on = async (n) => {
    const turn = (wanted = { n });
    try {
      await view.goTo(n);
      if (wanted === turn) chosen = { n, top: view.node.scrollTop };
    } catch (error) {
      toast(sayProblem(error));
    }
    if (wanted !== turn) return;
    wanted = null;
    draw();
  };
  const ends = () => {
    const newest = conversation.last_message?.created_at ?? stream.messages.at(-1)?.created_at;
    return { began: new Date(conversation.created_at), ended: newest ? new Date(newest) : null };
  };
  /** Puts it into the page of a long topic. Returns whether it is there. */
  const show = () => {
    if (rail || stream.latest < LEAST) return !!rail;
    rail = timeline({ ...ends(), on });
    view.node.after(rail);
    view.pillBox.after(pillBox);
    view.node.parentNode.classList.add('has-timeline');
    return true;
  };
  let flat = null;
  const open = () => {
    flat = timeline({ ...ends(), isFlat: true, on });
    dialog(say('timeline.title'), flat, { isSheet: true, onClose: () => (flat = null) });
    draw();
    flat.querySelector('input').focus();
  };

  function draw() {
    if (!show()) return;
    if (chosen && Math.abs(chosen.top - view.node.scrollTop) > 1) chosen = null;
    const n = wanted?.n ?? chosen?.n ?? view.sight?.seq;
    if (!n) return;
    const last = Math.max(stream.latest, n);
    for (const it of [rail, flat]) it?.show(n, last, dateOf);
    if (shown === `${n} ${last}`) return;
    shown = `${n} ${last}`;
    // The pill stays in place, so that it keeps the focus.
    const pill = timelinePill(n, last, open);
    const before = pillBox.firstChild;
    if (!before) refill(pillBox, pill);
    else {
      before.textContent = pill.textContent;
      before.setAttribute('aria-label', pill.getAttribute('aria-label'));
    }
  }
  return {
    show,
    moved() {
      planned ||= requestAnimationFrame(() => {
        planned = 0;
        draw();
      });
    },
    close: () => cancelAnimationFrame(planned),
  };
}
