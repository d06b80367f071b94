// Completion of @users, #tags, :emoji: and /commands while the user types in a field.

import { emojiMark } from '../../core/emoji/custom.js';
import { el, freshID, icon, refill } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { isInCode } from '../../core/text/incode.js';
import { say } from '../../core/text/text.js';
import { avatar } from '../user/avatar.js';

/** No completion is selected. */
const NONE = -1;
/** A click on a completion follows the blur of the field within this time, in milliseconds. */
const BLUR_PAUSE = 100;
const MAX_ITEMS = 8;

/** The list of completions. `items`: {key, words, second, picture: Node}. */
export function completionList(items, { chosen = 0, label, on } = {}) {
  const id = freshID('completion');
  return el(
    'ul.completion',
    { role: 'listbox', id, aria: { label } },
    items.map((item, index) =>
      el(
        'li.completion-item',
        {
          role: 'option',
          id: `${id}-${index}`,
          aria: { selected: index === chosen ? 'true' : 'false' },
          on: {
            pointerdown: (event) => {
              event.preventDefault();
              on?.(index);
            },
          },
        },
        item.picture,
        el('span.one-line', { dir: 'auto' }, item.words),
        item.second && el('span.mark.one-line', { dir: 'auto' }, item.second),
      ),
    ),
  );
}

/** The completions of a word after its sign. `sources`: {users, groups, mentionsRoom, tags, commands}. */
async function suggestions(sign, start, sources) {
  if (sign === '@') {
    const users = (await sources.users?.(start).catch(() => [])) ?? [];
    const everybody = { words: say('composer.everybody'), second: '@room', insert: '@room ', picture: icon('bell') };
    const groups = (sources.groups?.() ?? []).filter((it) => it.name.toLowerCase().startsWith(start.toLowerCase()));
    return [
      ...groups.slice(0, MAX_ITEMS).map((it) => ({ words: it.name, second: `@${it.name}`, insert: `@${it.name} `, picture: icon('users') })),
      ...users.slice(0, MAX_ITEMS).map((it) => ({
        words: displayName(it),
        second: `@${it.name}`,
        insert: `@${it.name} `,
        picture: avatar(it, { size: 1 }),
      })),
      ...(sources.mentionsRoom && 'room'.startsWith(start.toLowerCase()) ? [everybody] : []),
    ];
  }
  if (sign === '#') {
    const tags = (await sources.tags?.(start)) ?? [];
    return tags.slice(0, MAX_ITEMS).map((it) => ({ words: `#${it}`, insert: `#${it} ` }));
  }
  if (sign === '/') return sources.commands?.(start) ?? [];
  const { findEmoji } = await import('./emoji.js');
  return findEmoji(start).map((it) => ({
    words: `:${it.name}:`,
    insert: `${it.character} `,
    picture: el('span.emoji-mark', null, emojiMark(it.character)),
  }));
}

/** The sign and the letters before the caret; null if there is nothing to complete. A command begins the text. */
function wordBefore(input) {
  if (isInCode(input.value, input.selectionStart)) return null;
  const [, sign, start] = /(?:^|[\s(])([@#:]|(?<![^])\/)([\p{L}\p{N}_.+-]{0,32})$/u.exec(input.value.slice(0, input.selectionStart)) ?? [];
  return sign && (sign !== ':' || start.length > 1) ? [sign, start] : null;
}

const fits = (item, start) => [item.insert, item.words, `@${item.words}`].some((words) => words.toLowerCase().startsWith(start));

/** Replaces an emoji's name that ends at the caret. */
function replaceName(input, changed) {
  const end = input.selectionStart;
  if (input.value[end - 1] === ':') import('./emoji.js').then((it) => it.replaceName(input, end, changed), () => {});
}

/**
 * Completes the word before the caret of a field.
 *
 * @param {HTMLElement} node of the list
 * @param {HTMLTextAreaElement} input
 * @param {object} sources
 * @param {(start: string) => Promise<object[]>} [sources.users] users whose name starts with it
 * @param {() => {name: string}[]} [sources.groups] groups that the user may mention
 * @param {boolean} [sources.mentionsRoom] whether @room notifies all members
 * @param {(start: string) => Promise<string[]>} [sources.tags] tags that start with it
 * @param {(start: string) => Promise<object[]>} [sources.commands] completions of commands that start with it
 * @param {() => void} changed called after a completion was inserted
 */
export function completion(node, input, sources, changed) {
  /** The shown completions: {items, chosen, from, to}. */
  let shown = null;
  /** The last lookup. An answer to an earlier one is dropped. */
  let lookup = null;

  async function update() {
    const found = wordBefore(input);
    if (!found) return close(replaceName(input, changed));
    const [sign, start] = found;
    narrow(`${sign}${start}`.toLowerCase());
    const own = (lookup = {});
    const items = await suggestions(sign, start, sources);
    if (lookup !== own) return;
    if (!items.length) return close();
    // A new tag is valid as typed, so no completion is selected by default.
    shown = { items, chosen: sign === '#' ? NONE : 0, from: input.selectionStart - start.length - 1, to: input.selectionStart };
    draw();
  }

  /** Filters the shown completions until the answer arrives, so that Enter never takes an outdated one. */
  function narrow(start) {
    if (!shown) return;
    const chosen = shown.items[shown.chosen];
    shown.items = shown.items.filter((it) => fits(it, start));
    if (!shown.items.length) return close();
    // A completion selected with the arrows stays selected if it still matches; otherwise the default.
    shown.chosen = Math.max(shown.items.indexOf(chosen), start.startsWith('#') ? NONE : 0);
    return draw();
  }

  function draw() {
    const list = completionList(shown.items, { chosen: shown.chosen, label: say('composer.completion'), on: choose });
    refill(node, list);
    if (shown.chosen === NONE) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', `${list.id}-${shown.chosen}`);
    input.setAttribute('aria-controls', list.id);
  }

  function close() {
    shown = null;
    lookup = null;
    refill(node);
    for (const name of ['aria-activedescendant', 'aria-controls']) input.removeAttribute(name);
  }

  function choose(index) {
    const { items, from, to } = shown;
    // Letters typed while the list was loading belong to the name too.
    const rest = /^[\p{L}\p{N}_.+-]*/u.exec(input.value.slice(to, Math.max(to, input.selectionStart)));
    input.setRangeText(items[index].insert, from, to + rest[0].length, 'end');
    close();
    changed();
    input.focus();
  }

  /** Handles a key while completions are shown. Returns whether it did. */
  function press(event) {
    if (!shown) return false;
    const { items, chosen } = shown;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const by = event.key === 'ArrowDown' ? 1 : -1;
      shown.chosen = chosen === NONE && by < 0 ? items.length - 1 : (chosen + by + items.length) % items.length;
      draw();
    } else if ((event.key === 'Enter' && !event.ctrlKey && !event.metaKey && chosen !== NONE) || event.key === 'Tab') {
      choose(Math.max(0, chosen));
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      close();
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  input.addEventListener('blur', () => setTimeout(close, BLUR_PAUSE));
  return { update, press, close };
}
