import { el, freshID } from '../core/dom.js';

/** The list of completions. `items`: {key, words, second, picture: Node}. */
export function completionList(items, { chosen = 0, label, on } = {}) {
  const id = freshID('completion');
  return el(
    'ul.completion',
    { role: 'listbox', id, aria: { label } },
    items.map((item, index) =>
      el(
        'li.completion-item',
        {
          role: 'option',
          id: `${id}-${index}`,
          aria: { selected: index === chosen ? 'true' : 'false' },
          on: {
            pointerdown: (event) => {
              event.preventDefault();
              on?.(index);
            },
          },
        },
        item.picture,
        el('span.one-line', null, item.words),
        item.second && el('span.mark.one-line', null, item.second),
      ),
    ),
  );
}
