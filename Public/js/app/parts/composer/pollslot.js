// The poll of a message in the composer.

import { el, refill } from '../../core/dom.js';

/** The poll of the message; its editor is loaded when it is asked for. @param {(isStored?: boolean) => void} changed */
export function pollSlot(changed, leave) {
  const node = el('div', { hidden: true });
  let editor = null;
  let kept = null;
  const close = () => {
    editor = kept = null;
    node.hidden = true;
    refill(node);
  };
  const remove = () => {
    close();
    changed();
    leave();
  };
  return {
    node,
    close,
    /** @param {object} [draft] a poll that was begun before */
    async open(draft) {
      const mine = (kept = draft ?? {});
      const { loadPolls, pollEditor } = await import('./poll.js');
      await loadPolls();
      // The editor was closed while it loaded.
      if (kept !== mine) return;
      editor = pollEditor(kept, { change: changed, remove });
      node.hidden = false;
      refill(node, editor.node);
      if (!draft) editor.focus();
      changed();
    },
    get isLoading() {
      return !!kept && !editor;
    },
    /** In the form of drafts; null without a poll. */
    get value() {
      return editor?.value ?? kept;
    },
    /** To post; undefined without a poll, null if it isn't complete. */
    body: () => editor?.body(),
  };
}
