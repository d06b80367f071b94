import { el, freshID } from '../../core/dom.js';

/** A labelled field with a hint and an error message. */
export function field(
  label,
  { value = '', type = 'text', hint, name, lines, autocomplete, required, limit, placeholder, on } = {},
) {
  const id = freshID('field');
  const input = el(lines ? 'textarea.field-input' : 'input.field-input', {
    id,
    name,
    autocomplete,
    required,
    placeholder,
    maxlength: limit,
    rows: lines ?? null,
    type: lines ? null : type,
    value,
    aria: { describedby: `${id}-hint ${id}-fault` },
  });
  if (on) for (const [event, listener] of Object.entries(on)) input.addEventListener(event, listener);
  const fault = el('p.field-fault', { id: `${id}-fault`, hidden: true });
  const node = el(
    'div.field',
    null,
    el('label.field-label', { for: id }, label),
    input,
    el('p.field-hint', { id: `${id}-hint`, hidden: !hint }, hint ?? ''),
    fault,
  );
  return Object.assign(node, {
    input,
    /** Sets or clears the error message. */
    setFault(words) {
      fault.hidden = !words;
      fault.textContent = words ?? '';
      input.setAttribute('aria-invalid', words ? 'true' : 'false');
    },
  });
}

/** One of a few. */
export function choice(label, options, { value, hint, on, name } = {}) {
  const id = freshID('choice');
  const select = el(
    'select.field-input',
    { id, name, aria: { describedby: `${id}-hint` } },
    options.map(([key, words]) => el('option', { value: key, selected: key === value }, words)),
  );
  select.value = value ?? options[0]?.[0];
  if (on) select.addEventListener('change', () => on(select.value));
  const node = el(
    'div.field',
    null,
    el('label.field-label', { for: id }, label),
    select,
    el('p.field-hint', { id: `${id}-hint`, hidden: !hint }, hint ?? ''),
  );
  return Object.assign(node, { input: select });
}
