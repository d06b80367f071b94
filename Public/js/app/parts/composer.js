// The composer: grows with the text, completes words, previews, accepts pasted and dropped files, keeps drafts. It does no
// requests: `send` may take any time, the field is cleared at once.

import { el, isTyping, refill } from '../core/dom.js';
import { rich } from './rich.js';
import { number, say } from '../core/text.js';
import { button, iconButton } from './button.js';
import { completion } from './completion.js';
import { composerFiles } from './composerfiles.js';
import { pollPlace } from './composerpollplace.js';
import { referenceBar } from './composerreference.js';
import { format, formatBar, formatOf } from './format.js';
import { menu } from './menu.js';
import { popover } from './popover.js';

/** The number of characters left is shown from here on. */
const SHOWN_REST = 500;

/**
 * @param {object} options
 * @param {boolean} options.enterSends a room sends with Enter; a topic with Ctrl or ⌘ and Enter
 * @param {(draft: {text, replyTo, editing, files, poll}) => void} options.send
 * @param {(text: string, replyTo?: object, poll?: object, files?: File[]) => void} [options.keep] called when the draft has changed;
 *   without `files` those of the draft stay
 * @param {() => Promise<File[]>} [options.draftFiles] the files of the draft
 * @param {(start: string) => Promise<object[]>} [options.users] users whose name starts with it
 * @param {boolean} [options.rings] whether @room notifies all members
 * @param {() => void} [options.typing] @param {() => object|null} [options.lastOwn] what ↑ edits
 * @param {number} [options.filesUpTo] the maximum file size; without it files are refused
 * @param {() => void} [options.share] asks for a link to share
 * @param {boolean} [options.polls] whether a message may have a poll
 * @param {number} [options.rows] initial number of lines
 * @param {(start: string) => Promise<string[]>} [options.tags] tags that start with it
 * @param {string} [options.label] accessible name of the text; the placeholder by default
 * @param {string} [options.verb] label of the send button
 * @param {boolean} [options.toolbar] whether a toolbar for Markdown stands below the text
 */
export function composer(options) {
  const { enterSends = true, placeholder = say('composer.room'), label = placeholder, maxScalars = 16_000 } = options;
  const input = el('textarea.composer-input', {
    rows: options.rows ?? 1,
    placeholder,
    aria: { label, autocomplete: 'list', haspopup: 'listbox' },
    enterkeyhint: enterSends ? 'send' : 'enter',
    value: options.draft?.text ?? '',
  });
  /** The draft behind the message that is edited. */
  let behind = null;
  /** The files of the draft are read: until then they stay as they are. */
  let isReading = !!options.draftFiles;
  const files = composerFiles(options.filesUpTo ?? 0, {
    change: () => changed(false),
    keep: () => changed(true, true),
    remove: () => input.focus(),
  });
  const words = completion(input, options, changed);
  const reference = referenceBar(() => {
    leaveReference();
    input.focus();
  });
  const poll = pollPlace(changed, () => input.focus());
  const preview = el('div.composer-preview', { hidden: true, aria: { label: say('composer.preview') } });
  const count = el('span.composer-count.mark.count', { hidden: true, aria: { live: 'polite' } });
  const sendButton = options.verb
    ? button(options.verb, { kind: 'primary', on: submit, disabled: true })
    : iconButton('send', say(enterSends ? 'composer.send' : 'composer.sendKeys'), { on: submit, disabled: true, kind: 'send' });
  const previewButton = iconButton('eye', say('composer.preview'), { on: togglePreview, pressed: 'false' });
  const addButton =
    (!!options.filesUpTo || options.share || options.polls) &&
    iconButton('plus', say('composer.add'), { on: (event) => addMenu(event.currentTarget, files.picker, options, !poll.value && !reference.editing && poll.open) });
  const emojiButton = iconButton('react', say('emoji.all'), { on: () => pickEmoji(emojiButton, insert), data: { act: 'emoji' } });
  const bar = options.toolbar ? formatBar(input) : null;
  const row = bar
    ? el('div.composer-row.has-bar', null, input, el('div.composer-tools', null, bar, emojiButton, addButton, count, previewButton, sendButton))
    : el('div.composer-row', null, addButton, input, count, emojiButton, previewButton, sendButton);
  const node = el(
    'form.composer',
    { aria: { label } },
    words.node,
    el('div.composer-field', null, reference.node, files.node, poll.node, options.toolbar ? [row, preview] : [preview, row]),
    files.picker,
  );

  node.addEventListener('submit', (event) => {
    event.preventDefault();
    submit();
  });
  node.addEventListener('dragover', (event) => {
    if (options.filesUpTo && event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  node.addEventListener('drop', (event) => files.addFrom(event, event.dataTransfer));
  input.addEventListener('paste', (event) => files.addFrom(event, event.clipboardData));
  input.addEventListener('keydown', pressed);
  input.addEventListener('input', () => {
    changed();
    words.update();
    options.typing?.();
  });

  function changed(isStored = true, hasFiles = false) {
    grow(input);
    const text = input.value;
    const rest = maxScalars - [...text].length;
    count.hidden = rest > SHOWN_REST;
    count.textContent = number(rest);
    count.classList.toggle('is-over', rest < 0);
    sendButton.disabled = (!text.trim() && !files.all.length) || rest < 0 || files.hasFault || poll.isLoading;
    node.classList.toggle('has-text', !sendButton.disabled);
    if (!preview.hidden) refill(preview, rich(text || say('composer.nothing')));
    if (isStored && !reference.editing) options.keep?.(text, reference.replyTo, poll.value, !isReading && (hasFiles || files.all.length) ? files.all.map(({ file }) => file) : undefined);
  }

  function submit() {
    if (sendButton.disabled) return;
    const asked = poll.body();
    if (asked === null) return;
    const draft = { text: input.value.trim(), replyTo: reference.replyTo, editing: reference.editing, files: files.all, poll: asked };
    clear();
    options.send(draft);
    input.focus();
  }

  function clear() {
    words.close();
    if (!preview.hidden) togglePreview();
    if (reference.editing) return showDraft();
    input.value = '';
    reference.set({});
    files.clear();
    poll.close();
    isReading = false;
    options.keep?.('', null, null, []);
  }

  /** Shows the draft again after an edit. Its files have stayed. */
  function showDraft() {
    const { text, replyTo, poll: begun } = behind;
    behind = null;
    input.value = text;
    reference.set({ replyTo });
    if (begun) poll.open(begun);
    changed(false);
  }

  /** Leaves an edit, or a reply. */
  function leaveReference() {
    if (reference.editing) return clear();
    reference.set({});
    changed();
  }

  /** Adds the files of the draft to those that the user has added meanwhile. */
  async function takeDraftFiles() {
    const found = (await options.draftFiles?.().catch(() => null)) ?? [];
    // It was sent meanwhile.
    if (!isReading) return;
    isReading = false;
    const hasMore = files.all.length > 0;
    files.add(found);
    if (hasMore) changed(true, true);
  }

  function togglePreview() {
    preview.hidden = !preview.hidden;
    previewButton.setAttribute('aria-pressed', String(!preview.hidden));
    changed(false);
  }

  function pressed(event) {
    if (event.isComposing || words.press(event)) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === 'Enter' && (isCommand || (enterSends && !event.shiftKey))) {
      event.preventDefault();
      submit();
    } else if (event.key === 'ArrowUp' && !input.value && !files.all.length && !event.shiftKey && !event.altKey) {
      const last = options.lastOwn?.();
      if (!last) return;
      event.preventDefault();
      edit(last);
    } else if (event.key === 'Escape' && (reference.editing || reference.replyTo)) {
      event.preventDefault();
      event.stopPropagation();
      leaveReference();
    } else {
      const name = formatOf(event, input);
      if (!name) return;
      event.preventDefault();
      event.stopPropagation();
      format(input, name);
    }
  }

  function insert(text) {
    input.setRangeText(text, input.selectionStart, input.selectionEnd, 'end');
    changed();
    input.focus();
  }

  function reply(message) {
    if (reference.editing) clear();
    reference.set({ replyTo: message });
    changed();
    input.focus();
  }

  function edit(message) {
    behind ??= { text: input.value, replyTo: reference.replyTo, poll: poll.value };
    poll.close();
    reference.set({ editing: message });
    input.value = message.text ?? '';
    changed(false);
    input.focus();
    input.selectionStart = input.selectionEnd = input.value.length;
  }

  queueMicrotask(() => {
    if (options.draft?.replyTo) reference.set({ replyTo: options.draft.replyTo });
    if (options.draft?.poll) poll.open(options.draft.poll);
    changed(false);
    takeDraftFiles();
  });
  requestAnimationFrame(() => grow(input));
  return Object.assign(node, {
    input,
    reply,
    edit,
    take: files.add,
    addPoll: poll.open,
    insert,
    submit,
    get isPreviewed() {
      return !preview.hidden;
    },
    togglePreview,
    get isWriting() {
      return !!input.value.trim() || files.all.length > 0 || !!poll.value;
    },
    focusUnlessTouch() {
      if (!isTouch() && !isTyping(document.activeElement)) input.focus({ preventScroll: true });
    },
  });
}

/** The menu of what can be added; a single entry is done at once. @param {(() => void) | false} openPoll */
function addMenu(anchor, picker, options, openPoll) {
  const items = [
    options.filesUpTo && { picture: 'file', words: say('composer.attach'), on: () => picker.click() },
    options.share && { picture: 'link', words: say('share.title'), on: options.share },
    options.polls && openPoll && { picture: 'poll', words: say('composer.poll'), on: () => openPoll() },
  ].filter(Boolean);
  if (items.length === 1) return items[0].on();
  return menu(anchor, items, say('composer.add'));
}

async function pickEmoji(anchor, insert) {
  const { emojiPicker } = await import('./emoji.js');
  const picker = emojiPicker((character) => {
    node.close();
    insert(character);
  });
  const node = popover(anchor, say('emoji.all'), picker);
  if (!isTouch()) picker.input.focus();
}

function grow(input) {
  input.style.height = 'auto';
  input.style.height = `${Math.min(input.scrollHeight, Math.round(innerHeight * 0.4))}px`;
}

function isTouch() {
  return matchMedia('(pointer: coarse)').matches;
}
