// The files of a message that is being written: cards with names, sizes and faults.

import { el, refill } from '../../core/dom.js';
import { bytes, say } from '../../core/text/text.js';
import { attachment } from '../media/attachment.js';

/**
 * @param {number} maxBytes the maximum size of a file; 0: files are refused
 * @param {object} on
 * @param {() => void} on.change called when the files have changed
 * @param {() => void} on.remove called after the user removed a file
 * @param {() => void} [on.keep] called after the user added or removed files
 * @param {HTMLTextAreaElement} [input] the text that shows chosen pictures in place
 */
export function composerFiles(maxBytes, on, input) {
  const node = el('div.composer-files', { hidden: true });
  const picker = el('input', { type: 'file', multiple: true, hidden: true, aria: { label: say('composer.attach') } });
  let files = [];

  function add(chosen, event, isChosen = false) {
    if (!maxBytes || !chosen.length) return;
    event?.preventDefault();
    const numbers = [];
    for (const file of chosen) {
      files.push(cardOf(file, maxBytes));
      if (files.at(-1).picture) numbers.push(files.length);
    }
    draw();
    if (isChosen) place(input, (it) => it.placePictures(input, numbers));
    on.keep?.();
  }

  function draw() {
    node.hidden = !files.length;
    refill(node, files.map((it) => attachment({ ...it, description: it.file.description }, { failed: it.failed, onDescribe: it.picture && (() => describe(it)), onRemove: () => remove(it) })));
    on.change();
  }

  // The file has its description: drafts keep it.
  async function describe(it) {
    const { askDescriptions } = await import('./describe.js');
    const found = await askDescriptions([{ ...it, description: it.file.description }]);
    if (!found) return;
    [it.file.description] = found;
    draw();
    place(input, (placing) => (input.value = placing.withDescription(input.value, files.indexOf(it) + 1, found[0])));
    on.keep?.();
  }

  function remove(file) {
    const number = files.indexOf(file) + 1;
    files = files.filter((it) => it !== file);
    if (file.picture) URL.revokeObjectURL(file.picture);
    draw();
    on.keep?.();
    on.remove();
    place(input, (it) => it.removePlaced(input, number));
  }

  picker.addEventListener('change', () => {
    add([...picker.files], null, true);
    picker.value = '';
  });

  return {
    node,
    picker,
    add,
    maxBytes,
    /** Pasted or dropped files of an event. */
    addFrom: (event, transfer) => add([...(transfer?.files ?? [])], event, true),
    clear() {
      for (const it of files) if (it.picture) URL.revokeObjectURL(it.picture);
      files = [];
      draw();
    },
    get all() {
      return files;
    },
    /** In the order of the files; undefined without any. */
    get descriptions() {
      const found = files.map(({ file }) => file.description ?? '');
      return found.some(Boolean) ? found : undefined;
    },
    get hasFault() {
      return files.some((it) => it.failed);
    },
  };
}

const cardOf = (file, maxBytes) => ({
  file,
  name: file.name,
  size: file.size,
  picture: file.type.startsWith('image/') ? URL.createObjectURL(file) : null,
  failed: file.size > maxBytes ? say('file.tooLarge', { max: bytes(maxBytes) }) : null,
});

/** Changes the pictures in the text, if it shows them. */
async function place(input, change) {
  if (!input) return;
  change(await import('../../core/text/placing.js'));
  input.dispatchEvent(new Event('input'));
}
