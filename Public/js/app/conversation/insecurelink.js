// A warning before links without TLS open: the connection can be read and modified in transit.

import { el } from '../core/dom.js';
import { button } from '../parts/forms/button.js';
import { dialog } from '../parts/overlays/dialog.js';
import { say } from '../core/text/text.js';

export function confirmInsecureLink(link) {
  const open = button(say('link.open'), {
    kind: 'primary',
    on: () => {
      node.close();
      window.open(link.href, '_blank', 'noopener,noreferrer');
    },
  });
  const node = dialog(
    say('link.plainTitle'),
    [el('p', null, say('link.plainSentence', { host: link.host })), el('p.second.breaks', null, link.href)],
    { actions: [button(say('act.cancel'), { on: () => node.close() }), open] },
  );
  open.focus();
}
