// Own messages that a restore removed from the server, with the choice to send them again.

import { el } from '../core/dom.js';
import { button } from '../parts/forms/button.js';
import { dialog } from '../parts/overlays/dialog.js';
import { plain } from '../core/text/plain.js';
import { conversationTitle } from '../core/titles.js';
import { isolate, say } from '../core/text/text.js';
import { moment, time } from '../core/text/times.js';

export function showLostMessages(site) {
  const { parley } = site;
  const end = async (work) => {
    node.close();
    await work();
    site.say('state');
  };
  const node = dialog(
    say('lostMessages.title'),
    parley.lost.map((it) => {
      const conversation = site.conversations.get(it.conversation_id);
      return el(
        'section.panel-block',
        null,
        el('p.mark', null, conversation ? `${isolate(conversationTitle(site, conversation))} · ` : '', time(it.created_at, moment)),
        el('p', null, plain(it.text ?? '', 240)),
      );
    }),
    {
      actions: [
        button(say('lostMessages.discard'), { on: () => end(() => parley.discardLost()) }),
        button(say('lostMessages.send'), { kind: 'primary', on: () => end(() => parley.sendLost()) }),
      ],
    },
  );
}
