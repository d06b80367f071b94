import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { button } from './button.js';
import { toast } from '../overlays/toast.js';

/** A button that copies a text. @param {() => string} text */
export function copyButton(text, copied = say('act.copied')) {
  const copy = async () => {
    await navigator.clipboard.writeText(text());
    toast(copied);
  };
  return button(say('act.copy'), { picture: 'copy', on: copy });
}

/** A read-only value, such as a link, with a button that copies it. */
export function copyLine(label, value, { hint, copied = say('act.linkCopied') } = {}) {
  const input = el('input.field-input', { readonly: true, aria: { label }, value });
  const node = el(
    'div.field',
    null,
    el('span.field-label', null, label),
    el('div.copy-line', null, input, copyButton(() => input.value, copied)),
    hint && el('p.field-hint', null, hint),
  );
  return Object.assign(node, { input });
}
