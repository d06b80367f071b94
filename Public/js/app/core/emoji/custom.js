// The custom emoji of the site: pictures that stand for `:name:`.

import { el } from '../dom.js';

const NAME = /:([a-z0-9_-]{2,32}):/g;

/** The pictures by name. */
let pictures = new Map();
let version = 0;

/** Changes with the list, for what was drawn with it. */
export const emojiVersion = () => version;

/** Sets the emoji of the site. Returns whether they have changed. @param {{ id: string, name: string }[]} list */
export function useEmoji(list) {
  const before = [...pictures].join();
  pictures = new Map(list.map((it) => [it.name, `/api/v1/emoji/${it.id}/picture`]));
  const hasChanged = before !== [...pictures].join();
  if (hasChanged) version++;
  return hasChanged;
}

/** The custom emoji, as the list of emoji has them. */
export const customEmoji = () => [...pictures.keys()].map((name) => ({ character: `:${name}:`, name, words: name.replace(/[_-]/g, ' ') }));

/** Whether the text is the `:name:` of an emoji that does not exist. */
export const isUnknownEmoji = (text) => text.length > 2 && text.startsWith(':') && !pictures.has(text.slice(1, -1));

/** An emoji as it is shown: a custom one as its picture, any other as its text. */
export function emojiMark(text) {
  const picture = pictures.get(text.slice(1, -1));
  if (!picture || !text.startsWith(':')) return text;
  return el('img.custom-emoji', { src: picture, alt: text, title: text, loading: 'lazy', decoding: 'async' });
}

/** The text with pictures for the names that exist; null without one. */
export function withEmoji(text) {
  if (!pictures.size || !text.includes(':')) return null;
  const parts = [];
  let end = 0;
  for (const { 0: found, 1: name, index } of text.matchAll(NAME)) {
    if (!pictures.has(name)) continue;
    parts.push(text.slice(end, index), emojiMark(found));
    end = index + found.length;
  }
  if (!end) return null;
  const node = document.createDocumentFragment();
  node.append(...parts, text.slice(end));
  return node;
}
