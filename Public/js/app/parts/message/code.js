import { el, icon, refill } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { toast } from '../overlays/toast.js';

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
  const code = el('code', null, text);
  if (language) colour(code, text, language);
  return el(
    'div.code',
    null,
    language && el('span.code-language.mark', null, language),
    el('pre', { tabindex: '0', 'aria-label': say('code.label') }, code),
    copy,
  );
}

/** Colours the code once the highlighter is there. Offline without it, the code stays plain. */
async function colour(node, text, language) {
  const { highlight } = await import('../../core/text/highlight.js').catch(() => ({}));
  const pieces = highlight?.(text, language);
  if (pieces) refill(node, pieces.map((it) => (it.kind ? el(`span.code-${it.kind}`, null, it.text) : it.text)));
}
