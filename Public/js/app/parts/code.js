import { el, icon } from '../core/dom.js';
import { say } from '../core/text.js';
import { toast } from './toast.js';

/** A block of code in a message, with the one thing that people do with it. */
export function codeBlock(text, language) {
  const copy = el(
    'button.code-copy',
    {
      title: say('code.copy'),
      aria: { label: say('code.copy') },
      on: {
        click: async () => {
          await navigator.clipboard.writeText(text);
          toast(say('code.copied'));
        },
      },
    },
    icon('copy'),
  );
  return el(
    'div.code',
    null,
    language && el('span.code-language.mark', null, language),
    el('pre', { tabindex: '0', 'aria-label': say('code.label') }, el('code', null, text)),
    copy,
  );
}
