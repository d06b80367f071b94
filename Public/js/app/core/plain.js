import { parseMarkup, plainText } from '../../parley/markup.js';

/** One line of a Markdown text, for lists. */
export function plain(text, limit = 200) {
  return plainText(parseMarkup(String(text ?? '').slice(0, 4 * limit)), limit).replaceAll('\n', ' ');
}
