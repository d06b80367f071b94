// The notification level of a topic, at its head: Follow, Normal or Mute. Reading a topic changes none of them.

import { el, icon } from '../../core/dom.js';
import { say, sayProblem } from '../../core/text/text.js';
import { toast } from '../../parts/overlays/toast.js';

const PICTURES = { everything: 'bell', mentions: 'reply', nothing: 'bell-off' };

/** @param {() => object} now returns the current state of the topic @param {() => void} changed */
export function followButton(site, conversation, now, changed) {
  const level = now().level ?? 'mentions';
  const node = el(
    'button.chip.follow',
    { aria: { haspopup: 'menu' }, data: { act: 'follow' }, on: { click: () => choose(node) } },
    icon(PICTURES[level]),
    say(`follow.${level}`),
    icon('open'),
  );

  async function choose(anchor) {
    const { menu } = await import('../../parts/overlays/menu.js');
    const items = Object.entries(PICTURES).map(([it, picture]) => ({
      picture,
      words: say(`follow.set.${it}`),
      second: say(`follow.hint.${it}`),
      isChosen: it === level,
      on: () => set(it),
    }));
    menu(anchor, items, say('level.title'));
  }

  async function set(chosen) {
    try {
      await site.call('PUT', `/conversations/${conversation.id}/level`, { body: { level: chosen } });
      conversation.level = chosen;
      if (chosen === 'nothing') site.overview.take(conversation.id);
      changed();
    } catch (error) {
      toast(sayProblem(error));
    }
  }
  return node;
}
