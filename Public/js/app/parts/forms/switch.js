import { el, freshID } from '../../core/dom.js';

/** On or off, at once. `on` may refuse by throwing: then it goes back. */
export function toggle(label, { checked = false, hint, disabled = false, on } = {}) {
  const id = freshID('switch');
  const input = el('input.switch-input', {
    id,
    type: 'checkbox',
    role: 'switch',
    checked,
    disabled,
    aria: { describedby: hint ? `${id}-hint` : null },
  });
  input.addEventListener('change', async () => {
    try {
      await on?.(input.checked);
    } catch {
      input.checked = !input.checked;
    }
  });
  const words = el(
    'span.switch-words',
    null,
    el('span', null, label),
    hint && el('span.second', { id: `${id}-hint` }, hint),
  );
  return Object.assign(el('label.switch', { for: id }, words, input), { input, hint: words.children[1] });
}
