import { parseMarkup, plainText } from '../../../parley/markup.js';
import { say } from './text.js';

/** One line of a Markdown text, for lists. */
export function plain(text, limit = 200) {
  return plainText(parseMarkup(String(text ?? '').slice(0, 4 * limit)), limit).replaceAll('\n', ' ');
}

/** The beginning of a live message, for lists. */
export function excerpt({ text, poll }, limit) {
  const line = plain(text || say('message.noText'), limit);
  return poll ? say('poll.excerpt', { text: line }) : line;
}
