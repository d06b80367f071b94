// The keys of a conversation.

import { isTyping } from '../core/dom.js';

/** @returns {boolean} whether the key did something here */
export function keys(event, { shell, conversation, view, acts, field }) {
  const isMember = isTyping(event.target);
  // Pressed again, where one searches, it is the browser's own.
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'f') {
    shell.go(`/search?in=${conversation.id}`);
    return true;
  }
  if (event.key === 'Escape' && !event.shiftKey) {
    if (isMember) view.node.focus({ preventScroll: true });
    view.newest();
    return true;
  }
  if (isMember || event.ctrlKey || event.metaKey || event.altKey) return false;
  const message = view.focused;
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (by && (event.key.length === 1 || message)) {
    view.step(by);
    return true;
  }
  if (event.key === 'c' && field && !field.hidden) {
    field.input.focus();
    return true;
  }
  const verb = { r: 'reply', e: 'edit', '+': 'pick', s: 'star', t: 'toTopic', l: 'link' }[event.key];
  if (!verb || !message || !acts) return false;
  acts.press(message, verb);
  return true;
}
