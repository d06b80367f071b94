// The skin tone of emoji that have one: a choice of this device.

import { el } from '../dom.js';
import { say } from '../text/text.js';

const KEPT = 'emoji:tone';
/** Without a modifier, then Unicode's from light to dark (UTS #51 §2.4). */
const TONES = ['', '\u{1F3FB}', '\u{1F3FC}', '\u{1F3FD}', '\u{1F3FE}', '\u{1F3FF}'];
const BASE = /^\p{Emoji_Modifier_Base}\uFE0F?$/u;

const kept = () => {
  const tone = localStorage.getItem(KEPT);
  return TONES.includes(tone) ? tone : '';
};

const withTone = (character, tone) => (tone && BASE.test(character) ? character.replace('\uFE0F', '') + tone : character);

/** An emoji in the chosen tone. */
export const toned = (character) => withTone(character, kept());

/** The choice of the tone. @param {() => void} changed */
export function toneBar(changed) {
  const buttons = TONES.map((tone, at) => {
    const words = say(`emoji.tone.${at}`);
    const choose = () => {
      localStorage.setItem(KEPT, tone);
      mark();
      changed();
    };
    return el('button.emoji', { title: words, aria: { label: words }, on: { click: choose } }, withTone('✋', tone));
  });
  const mark = () => {
    for (const [at, it] of buttons.entries()) {
      const isChosen = TONES[at] === kept();
      it.setAttribute('aria-pressed', String(isChosen));
      it.style.background = isChosen ? 'var(--accent-soft)' : '';
    }
  };
  mark();
  return el('div.emoji-grid', { role: 'group', aria: { label: say('emoji.tone') } }, buttons);
}
