// The descriptions of pictures, for readers who do not see them.

import { el } from '../../core/dom.js';
import { loadMoreText, say } from '../../core/text/text.js';
import { field } from '../forms/field.js';
import { ask } from '../overlays/dialog.js';

/** The maximum length of a description. */
const MAX = 1_000;

/**
 * Asks for the descriptions of pictures. Resolves to them, or to null.
 * @param {{ name: string, description?: string, picture?: string }[]} pictures `picture`: an address
 */
export async function askDescriptions(pictures) {
  await loadMoreText();
  const form = descriptionFields(pictures);
  const answer = await ask(say('picture.describe'), form, say('act.save'));
  return answer === null ? null : form.values();
}

/** A field for each picture. @param {{ name: string, description?: string, picture?: string }[]} pictures */
export function descriptionFields(pictures) {
  const fields = pictures.map(({ name, description }, at) =>
    field(name, { value: description ?? '', lines: 3, limit: MAX, hint: at ? null : say('picture.descriptionHint') }));
  const rows = fields.map((it, at) => {
    const { picture } = pictures[at];
    it.querySelector('label').dir = 'auto';
    it.input.dir = 'auto';
    return el('div', null, picture && el('img.attachment-picture', { src: picture, alt: '', width: 40, height: 40 }), it);
  });
  return Object.assign(el('div', null, rows), { input: fields[0].input, values: () => fields.map((it) => it.input.value.trim()) });
}
