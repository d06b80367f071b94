import { emojiMark } from '../../core/emoji/custom.js';
import { el, spoken } from '../../core/dom.js';
import { number, say } from '../../core/text/text.js';

/** A press on a touch screen that lasts so long shows the names, in milliseconds. */
const HELD = 500;

/**
 * One emoji and how many chose it; pressed if the reader did. `onNames(show)` is called when the names are wanted: by the
 * pointer, the focus or a long press.
 */
export function reaction(emoji, { count, mine = false, on, names, onNames } = {}) {
  const words = el('span.reaction-names', { role: 'tooltip', hidden: !names }, names ?? '');
  const node = el(
    'button.reaction',
    {
      aria: { pressed: mine ? 'true' : 'false' },
      on: on ? { click: on } : {},
    },
    el('span.reaction-emoji', { aria: { hidden: 'true' } }, emojiMark(emoji)),
    el('span.count', null, number(count)),
    spoken(say('reaction.label', { emoji, n: count })),
    words,
  );
  if (onNames) bringNames(node, words, onNames);
  return node;
}

function bringNames(node, words, onNames) {
  let isAsked = false;
  let timer = 0;
  const ask = () => {
    if (isAsked) return;
    isAsked = true;
    onNames((sentence) => {
      words.textContent = sentence;
      words.hidden = false;
    });
  };
  node.addEventListener('pointerenter', (event) => event.pointerType === 'mouse' && ask());
  node.addEventListener('focus', ask);
  node.addEventListener(
    'touchstart',
    (event) => {
      event.stopPropagation();
      timer = setTimeout(() => {
        ask();
        node.focus();
        node.dataset.held = '';
      }, HELD);
    },
    { passive: true },
  );
  for (const name of ['touchend', 'touchcancel', 'touchmove'])
    node.addEventListener(
      name,
      (event) => {
        clearTimeout(timer);
        if (name === 'touchend' && node.dataset.held !== undefined && event.cancelable) event.preventDefault();
        delete node.dataset.held;
      },
      { passive: false },
    );
}

/** The row of them under a message. `actions` as the API gives them. */
export function reactions(actions, on, onNames) {
  const chosen = Object.entries(actions ?? {}).filter(([type, it]) => type.startsWith('reaction:') && it.count > 0);
  if (!chosen.length) return null;
  return el(
    'div.reactions',
    { role: 'group', aria: { label: say('reaction.all') } },
    chosen.map(([type, it]) => {
      const emoji = type.slice('reaction:'.length);
      return reaction(emoji, {
        count: it.count,
        mine: it.mine,
        on: () => on?.(emoji, !it.mine),
        onNames: onNames && ((show) => onNames({ emoji, count: it.count, show })),
      });
    }),
  );
}
