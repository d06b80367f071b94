// Pastes into the composer: files, formatted text as Markdown, or plain text with Shift.

/** @param {HTMLTextAreaElement} input @param {object} files those of the composer */
export function listenForPastes(input, files) {
  let isPlain = false;
  input.addEventListener('keydown', (event) => (isPlain = event.shiftKey && event.code === 'KeyV'));
  input.addEventListener('paste', async (event) => {
    const { clipboardData: data } = event;
    const html = !isPlain && data.getData('text/html');
    isPlain = false;
    if (!html) return files.addFrom(event, data);
    event.preventDefault();
    // Read before the event ends.
    const [text, pasted] = [data.getData('text/plain'), [...data.files]];
    const found = await import('../../core/text/fromhtml.js').then((it) => it.markdownOf(html)).catch(() => null);
    if (!found && pasted[0] && files.maxBytes) return files.add(pasted, null, true);
    input.focus();
    // Unlike setRangeText, it can be undone.
    document.execCommand('insertText', false, found ?? text);
  });
}
