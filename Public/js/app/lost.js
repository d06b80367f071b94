// What one has said and a restore has taken from the server: it is kept here, and sent again if one wants that.

import { el } from './dom.js';
import { button } from './parts/button.js';
import { dialog } from './parts/dialog.js';
import { plain } from './rich.js';
import { talkTitle } from './titles.js';
import { say } from './text.js';
import { moment, time } from './times.js';

export function showLost(place) {
  const { parley } = place;
  const end = async (work) => {
    node.close();
    await work();
    place.say('state');
  };
  const node = dialog(
    say('lost.title'),
    parley.lost.map((it) => {
      const talk = place.conversations.get(it.conversation_id);
      return el(
        'section.panel-block',
        null,
        el('p.mark', null, talk ? `${talkTitle(place, talk)} · ` : '', time(it.created_at, moment)),
        el('p', null, plain(it.text ?? '', 240)),
      );
    }),
    {
      actions: [
        button(say('lost.discard'), { on: () => end(() => parley.forgetLost()) }),
        button(say('lost.send'), { kind: 'primary', on: () => end(() => parley.sendLost()) }),
      ],
    },
  );
}
