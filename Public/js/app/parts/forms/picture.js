import { el } from '../../core/dom.js';
import { bytes, say } from '../../core/text/text.js';
import { button } from './button.js';

/**
 * An image field: selected on the device, drawn by `on`, and uploaded with the form. `prepare` converts the selected file.
 */
export function pictureField(words, { maxBytes, prepare = (file) => file, on } = {}) {
  const input = el('input', { type: 'file', accept: 'image/*', hidden: true, aria: { label: words } });
  const fault = el('p.field-fault', { role: 'alert', hidden: true });
  const choose = button(words, { picture: 'image', on: () => input.click() });
  const choices = el('div.form-foot', null, choose, input);
  const node = el('div.field', null, choices, fault);
  input.addEventListener('change', async () => {
    const [chosen] = input.files;
    input.value = '';
    if (!chosen) return;
    const file = await prepare(chosen);
    fault.hidden = !maxBytes || file.size <= maxBytes;
    fault.textContent = fault.hidden ? '' : say('file.tooLarge', { max: bytes(maxBytes) });
    if (fault.hidden) take(file);
  });
  function take(file) {
    if (node.address) URL.revokeObjectURL(node.address);
    node.file = file;
    node.address = file ? URL.createObjectURL(file) : null;
    on?.(node.address);
  }
  return Object.assign(node, {
    file: null,
    choices,
    /** The address of the picture on this page. */
    address: null,
    /** Another way was taken. */
    forget: () => node.file && take(null),
    /** Its id at the server, once it is there; null without one. */
    async send(client) {
      if (!node.file) return null;
      const { name, type } = node.file;
      const { body: kept } = await client.request('POST', '/files', { query: { name }, raw: node.file, headers: { 'Content-Type': type } });
      return kept.id;
    },
  });
}
