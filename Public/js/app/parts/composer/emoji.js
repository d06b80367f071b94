// The emoji that have a name here, and the site's own: for `:name:` in the composer. The picker has all others, too.

import { customEmoji, emojiMark } from '../../core/emoji/custom.js';
import { el } from '../../core/dom.js';
import { MAX_RECENT, recentEmoji, rememberEmoji } from '../../core/emoji/recent.js';
import { isInCode } from '../../core/text/incode.js';
import { loadMoreText, say } from '../../core/text/text.js';

/** Most emoji that a search shows. */
const MAX_FOUND = 60;

/** Names with an underscore have several words. */
const table = `
👍 thumbs_up yes|👎 thumbs_down no|👏 clap applause|🙏 thanks please|🙌 hooray|💪 strong|👋 hello wave
✌️ peace|🤝 deal handshake|👀 looking eyes|🫶 care|❤️ heart love|🧡 orange_heart|💛 yellow_heart
💚 green_heart|💙 blue_heart|💜 purple_heart|🖤 black_heart|💔 broken_heart|😀 grin|😄 smile happy
😂 joy laugh|🤣 rolling laugh|😊 blush|😍 in_love|😘 kiss|😎 cool|🤔 thinking hmm|😅 sweat phew|😉 wink
🙂 slight_smile|🙃 upside_down|😴 sleep tired|😮 wow surprised|😢 sad cry|😭 sob|😡 angry|😱 scream
🥳 party_face|🤯 mind_blown|🤗 hug|🤷 shrug|🤦 facepalm|😬 grimace|🥺 pleading|😇 angel|🤓 nerd|😷 mask sick
🤒 ill|🎉 party tada|🎂 cake birthday|🎁 gift present|🏆 trophy win|🥇 gold first|🔥 fire hot|✨ sparkles
⭐ star|💯 hundred|✅ check done|❌ cross wrong|❗ important|❓ question|💡 idea|🚀 rocket launch|🎯 target
📌 pin|🔔 bell|🔒 lock|🔑 key|⏰ alarm|📅 calendar date|📷 camera|📎 clip|📝 note|📖 book read|💻 computer
📱 phone|🛠️ tools fix|🐛 bug|🧪 test|☕ coffee|🍵 tea|🍺 beer|🍷 wine|🍕 pizza|🍎 apple|🥕 carrot|🍞 bread
🍰 dessert|🥗 salad|🍓 strawberry|🌱 seedling sprout|🌳 tree|🌻 sunflower|🌹 rose|🌈 rainbow|☀️ sun|🌧️ rain
❄️ snow cold|⚡ lightning|🌊 wave sea|🌙 moon|🐶 dog|🐱 cat|🐦 bird|🐝 bee|🦋 butterfly|🐟 fish|🐢 turtle
⚽ football|🏀 basketball|🚲 bicycle|🚗 car|🚆 train|✈️ plane|🏠 home house|🏔️ mountain|🏖️ beach|🎵 music
🎸 guitar|🎮 game|🎬 film|🎨 art paint
`;

export const emoji = table
  .trim()
  .split('\n')
  .map((row) =>
    row.split('|').map((it) => {
      const [character, ...names] = it.split(' ');
      return { character, name: names[0], names, words: names.join(' ').replaceAll('_', ' ') };
    }),
  );

/** Finds emoji with a word that starts with the query; at most `max`. `name` is the one that was found. */
export function findEmoji(start, max = 8) {
  const wanted = start.toLowerCase();
  const fits = (name) => name.startsWith(wanted) || name.split(/[_-]/).some((word) => word.startsWith(wanted));
  return all()
    .map((it) => ({ ...it, name: namesOf(it).find(fits) ?? (it.words.startsWith(wanted) && it.name) }))
    .filter((it) => it.name)
    .slice(0, max);
}

/** The emoji with exactly this name. */
export const emojiNamed = (name) => all().find((it) => namesOf(it).includes(name.toLowerCase()));

/** Replaces an emoji's name that was typed in full before `end`, `:tada:`. The user may have gone on meanwhile. */
export function replaceName(input, end, changed) {
  const [, typed, name] = /(?:^|[\s(])(:([\p{L}\p{N}_+-]{2,32}):)$/u.exec(input.value.slice(0, end)) ?? [];
  if (!typed || isInCode(input.value, end)) return;
  const character = emojiNamed(name)?.character ?? typed;
  // A custom emoji stays a name in the text.
  if (character === typed) return;
  const after = input.selectionStart - end;
  input.setRangeText(character, end - typed.length, end, 'end');
  const caret = input.selectionStart + Math.max(0, after);
  input.setSelectionRange(caret, caret);
  changed();
}

const all = () => [customEmoji(), ...emoji].flat();
const namesOf = (it) => it.names ?? [it.name];

/** A grid of the emoji with a name here, then all emoji by group, with a field that narrows them. */
export function emojiPicker(on) {
  const input = el('input.field-input', {
    type: 'search',
    placeholder: say('emoji.search'),
    aria: { label: say('emoji.search') },
  });
  const box = el('div.emoji-box', { role: 'group', aria: { label: say('emoji.all') } });
  let more = null;
  const make = (it) => {
    const character = more?.toned(it.character) ?? it.character;
    const click = () => {
      rememberEmoji(character);
      on(character);
    };
    return el('button.emoji', { title: it.words, aria: { label: it.words }, on: { click } }, emojiMark(character));
  };
  const found = (words) => {
    const first = findEmoji(words, MAX_FOUND);
    const known = new Set(first.map((it) => it.character));
    return [...first, ...(more?.searchEmoji(words) ?? []).filter((it) => !known.has(it.character))].slice(0, MAX_FOUND);
  };
  const usual = () => {
    const known = new Map([customEmoji(), ...emoji].flat().map((it) => [it.character, it]));
    const recent = recentEmoji(MAX_RECENT).map((it) => known.get(it) ?? { character: it, words: it });
    return [recent, customEmoji(), ...emoji].flat();
  };
  const show = () => {
    const rows = input.value ? found(input.value) : usual();
    box.replaceChildren(rows.length ? el('div.emoji-grid', null, rows.map(make)) : el('p.second', null, say('emoji.none')));
    if (more && !input.value) box.append(...more.emojiSections(make));
  };
  input.addEventListener('input', show);
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    box.querySelector('button')?.click();
  });
  show();
  Promise.all([import('../../core/emoji/groups.js'), loadMoreText()]).then(([groups]) => {
    more = groups;
    node.append(more.toneBar(show));
    // The picker keeps its height.
    box.style.maxHeight = '13rem';
    // The first ones stay, with the focus.
    if (input.value || more.toned('✋') !== '✋') show();
    else box.append(...more.emojiSections(make));
  }, () => {});
  const node = Object.assign(el('div.emoji-picker', null, input, box), { input });
  return node;
}
