import { el, spoken } from '../core/dom.js';
import { number, say } from '../core/text.js';

/** One emoji and how many chose it; pressed if the reader did. */
export function reaction(emoji, { count, mine = false, on, names } = {}) {
  return el(
    'button.reaction',
    {
      aria: { pressed: mine ? 'true' : 'false' },
      title: names ?? null,
      on: on ? { click: on } : {},
    },
    el('span.reaction-emoji', { aria: { hidden: 'true' } }, emoji),
    el('span.count', null, number(count)),
    spoken(say('reaction.label', { emoji, n: count })),
  );
}

/** The row of them under a message. `actions` as the API gives them. */
export function reactions(actions, on) {
  const chosen = Object.entries(actions ?? {}).filter(([type, it]) => type.startsWith('reaction:') && it.count > 0);
  if (!chosen.length) return null;
  return el(
    'div.reactions',
    { role: 'group', aria: { label: say('reaction.all') } },
    chosen.map(([type, it]) => {
      const emoji = type.slice('reaction:'.length);
      return reaction(emoji, { count: it.count, mine: it.mine, on: () => on?.(emoji, !it.mine) });
    }),
  );
}
