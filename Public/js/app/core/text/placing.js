// Pictures in the text of a new topic: `![description](attachment:1)` places the first file.

/** A placed file: its description, as written, and its number. */
const PLACED = /!\[((?:\\.|[^\\\]])*)\]\(attachment:([1-9]\d?)\)/g;

/** A description as text between brackets. */
const written = (description) => description.replace(/\s+/g, ' ').replace(/[\\[\]*_~|`<&!:@#]/g, '\\$&');

/** Puts pictures at the caret, each on a line of its own. @param {HTMLTextAreaElement} input @param {number[]} numbers */
export function placePictures(input, numbers) {
  if (!numbers.length) return;
  const { selectionStart: from, selectionEnd: to, value } = input;
  const lines = numbers.map((it) => `![](attachment:${it})`).join('\n');
  const before = from && value[from - 1] !== '\n' ? '\n' : '';
  const after = value[to] === '\n' ? '' : '\n';
  input.setRangeText(before + lines + after, from, to, 'end');
  if (!after) input.selectionStart = input.selectionEnd += 1;
}

/** Keeps the caret where it was in the text. */
function rewrite(input, change) {
  const { selectionStart: caret, value } = input;
  const end = change(value.slice(0, caret)).length;
  input.value = change(value);
  input.selectionStart = input.selectionEnd = Math.min(end, input.value.length);
}

/** Takes a removed file out of the text. Those after it have lower numbers. */
export function removePlaced(input, removed) {
  rewrite(input, (text) =>
    text.replace(PLACED, (whole, words, digits) => {
      const number = Number(digits);
      if (number === removed) return '';
      return number < removed ? whole : `![${words}](attachment:${number - 1})`;
    }));
}

/** The text with another description of a file; the same text where it is not placed. */
export const withDescription = (text, number, description) =>
  text.replace(PLACED, (whole, words, digits) => (Number(digits) === number ? `![${written(description)}](attachment:${number})` : whole));

/** The descriptions of placed files by their numbers, as far as the text has them. */
export function placedDescriptions(text) {
  const found = new Map();
  for (const [, words, digits] of text.matchAll(PLACED)) if (words.trim()) found.set(Number(digits), words.replace(/\\(.)/g, '$1').trim());
  return found;
}
