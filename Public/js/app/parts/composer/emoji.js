// The emoji that have a name here, and the site's own: for `:name:` in the composer and for the picker. Few enough to be looked through.

import { customEmoji, emojiMark } from '../../core/emoji/custom.js';
import { el } from '../../core/dom.js';
import { MAX_RECENT, recentEmoji, rememberEmoji } from '../../core/emoji/recent.js';
import { say } from '../../core/text/text.js';

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

const all = () => [customEmoji(), ...emoji].flat();
const namesOf = (it) => it.names ?? [it.name];

/** All of them in a grid, with a field that narrows it. */
export function emojiPicker(on) {
  const input = el('input.field-input', {
    type: 'search',
    placeholder: say('emoji.search'),
    aria: { label: say('emoji.search') },
  });
  const grid = el('div.emoji-grid', { role: 'group', aria: { label: say('emoji.all') } });
  const show = () => {
    const known = new Map([customEmoji(), ...emoji].flat().map((it) => [it.character, it]));
    const recent = recentEmoji(MAX_RECENT).map((it) => known.get(it) ?? { character: it, words: it });
    const rows = input.value ? [findEmoji(input.value, 60)] : [recent, customEmoji(), ...emoji];
    grid.replaceChildren(
      ...rows.flat().map((it) =>
        el(
          'button.emoji',
          {
            title: it.words,
            aria: { label: it.words },
            on: {
              click: () => {
                rememberEmoji(it.character);
                on(it.character);
              },
            },
          },
          emojiMark(it.character),
        ),
      ),
    );
    if (!grid.childElementCount) grid.append(el('p.second', null, say('emoji.none')));
  };
  input.addEventListener('input', show);
  input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter') return;
    event.preventDefault();
    grid.querySelector('button')?.click();
  });
  show();
  return Object.assign(el('div.emoji-picker', null, input, grid), { input });
}
