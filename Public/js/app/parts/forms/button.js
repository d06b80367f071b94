import { el, icon } from '../../core/dom.js';

/** `folds`: a phone shows only the picture. @param {"primary"|"plain"|"danger"|"quiet"} kind */
export function button(words, { kind = 'plain', picture, type = 'button', on, disabled, wide, folds, data } = {}) {
  const node = el(
    `button.button.button-${kind}`,
    {
      disabled: !!disabled,
      class: [wide && 'button-wide', folds && 'folds'].filter(Boolean).join(' '),
      title: folds ? words : null,
      aria: { label: folds ? words : null },
      data: data ?? {},
    },
    picture && icon(picture),
    el('span', null, words),
  );
  node.type = type;
  if (on) node.addEventListener('click', on);
  return node;
}

/** A tooltip with the key of the action. Single letters can be turned off. */
export const tooltip = (label, key) =>
  !key || (key.length === 1 && document.documentElement.dataset.letters) ? label : `${label} (${key})`;

/** A drawing alone: its name is spoken, and shown by the pointer, with its key. */
export function iconButton(picture, label, { on, pressed, disabled, data, kind, key } = {}) {
  const node = el(
    'button.icon-button',
    {
      title: tooltip(label, key),
      aria: { label, pressed: pressed ?? null },
      disabled: !!disabled,
      data: data ?? {},
      class: kind ? `icon-button-${kind}` : '',
    },
    icon(picture),
  );
  if (on) node.addEventListener('click', on);
  return node;
}

/** Disables the button while its action runs, and shows a spinner after 300 ms. The focus comes back unless it went elsewhere. */
export async function whileBusy(node, work) {
  const isHeld = node === document.activeElement;
  node.disabled = true;
  const timer = setTimeout(() => node.classList.add('is-busy'), 300);
  try {
    return await work();
  } finally {
    clearTimeout(timer);
    node.classList.remove('is-busy');
    node.disabled = false;
    if (isHeld && document.activeElement === document.body) node.focus({ preventScroll: true });
  }
}
