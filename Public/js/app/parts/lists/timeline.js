import { el, set } from '../../core/dom.js';
import { number, say } from '../../core/text/text.js';
import { brief } from '../../core/text/times.js';

const STEPS = { ArrowUp: -1, ArrowDown: 1, ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 };

/**
 * The timeline of a long topic, from the first post to the newest, with the current position. Calls `on` with the selected
 * post. Vertical beside the text; with `isFlat` horizontal.
 */
export function timeline({ began, ended, isFlat = false, on } = {}) {
  // In either direction of reading the first is at the top; lying, it is where reading begins.
  const input = el('input.timeline-slider', { type: 'range', min: 1, step: 1, aria: { label: say('timeline.post') } });
  const at = el('strong');
  const of = el('span');
  const day = el('span');
  const words = el('span.timeline-at.count', { aria: { hidden: 'true' } }, at, of, day);
  let look = null;
  const draw = () => {
    const [n, last] = [Number(input.value), Number(input.max)];
    const date = look?.(n);
    const label = date ? brief(date) : '';
    // The ends have their dates already.
    const isRepeated = [began, ended].some((it) => it && brief(it) === label);
    [at.textContent, of.textContent, day.textContent] = [number(n), say('timeline.of', { of: last }), isRepeated ? '' : label];
    set(input, { aria: { valuetext: say(date ? 'timeline.atDay' : 'timeline.at', { n, of: last, day: date && brief(date) }) } });
    node.style.setProperty('--along', String(last > 1 ? (n - 1) / (last - 1) : 1));
  };
  const go = (n) => {
    input.value = String(n);
    draw();
    on?.(Number(input.value));
  };
  const end = (key, date, n) =>
    el(
      'button.timeline-end',
      { aria: { label: say(key, { day: brief(date) }) }, on: { click: () => go(n()) } },
      brief(date),
    );
  const node = el(
    'div.timeline',
    { class: isFlat ? 'is-flat' : '', role: 'group', aria: { label: say('timeline.title') } },
    began && end('timeline.first', began, () => 1),
    el('div.timeline-rail', null, input, words),
    ended && end('timeline.newest', ended, () => Number(input.max)),
  );
  input.addEventListener('input', () => {
    node.isHeld = true;
    draw();
  });
  input.addEventListener('change', () => {
    node.isHeld = false;
    go(Number(input.value));
  });
  input.addEventListener('keydown', (event) => {
    const isTurned = isFlat && getComputedStyle(node).direction === 'rtl' && /Left|Right/.test(event.key);
    const by = STEPS[event.key] * (isTurned ? -1 : 1);
    const to = { Home: 1, End: Number(input.max) }[event.key] ?? (by && Number(input.value) + by);
    if (!to && to !== 0) return;
    event.preventDefault();
    event.stopPropagation();
    go(to);
  });
  return Object.assign(node, {
    /** Sets the position and the number of posts; `dateOf` returns a post's date if known. Ignored while dragging. */
    show(n, last, dateOf) {
      look = dateOf;
      input.max = String(last);
      if (!node.isHeld) input.value = String(n);
      draw();
    },
  });
}

/** The same where there is no room beside the text: a number that opens it. */
export function timelinePill(n, of, on) {
  return el(
    'button.pill.count',
    { on: { click: on }, aria: { label: say('timeline.open', { n, of }) } },
    say('timeline.short', { n, of }),
  );
}
