import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';

let shelf;
function site() {
  if (!shelf?.isConnected)
    document.body.append((shelf = el('div.toasts', { role: 'status', aria: { live: 'polite' } })));
  return shelf;
}

/**
 * A sentence at the foot of the page; with `undo`, ten seconds to take it back, and longer while the pointer or the focus
 * is there. Resolves to whether that was done. `time`: how long it stays, in milliseconds; `signal` ends it.
 */
export function toast(sentence, { undo, action, act, stays = false, time, signal } = {}) {
  return new Promise((resolve) => {
    const end = (chosen) => {
      clearTimeout(timer);
      node.remove();
      resolve(chosen);
    };
    const press = undo ?? act;
    const node = toastElement(sentence, press && (action ?? say('act.undo')), () => {
      press();
      end(true);
    });
    if (undo) node.querySelector('button').dataset.act = 'undo';
    // Several requests may fail for one cause: a sentence without a button is shown once.
    if (!press) for (const it of [...site().children]) if (it.textContent === node.textContent) it.remove();
    site().append(node);
    let timer = 0;
    const stay = () => clearTimeout(timer);
    const wait = () => {
      stay();
      if (!stays) timer = setTimeout(() => end(false), time ?? (press ? 10_000 : 4_000));
    };
    for (const name of ['pointerenter', 'focusin']) node.addEventListener(name, stay);
    for (const name of ['pointerleave', 'focusout']) node.addEventListener(name, wait);
    wait();
    signal?.addEventListener('abort', () => end(false));
  });
}

/** Undoes what the newest sentence offers. Returns whether there is one. */
export function undoLast() {
  const button = [...(shelf?.querySelectorAll('[data-act="undo"]') ?? [])].at(-1);
  button?.click();
  return !!button;
}

export function toastElement(sentence, action, on) {
  return el(
    'div.toast',
    null,
    el('span', null, sentence),
    action && el('button.toast-action', { on: { click: on } }, action),
  );
}
