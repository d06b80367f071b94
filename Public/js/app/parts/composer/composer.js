// The composer: grows with the text, completes words, previews, accepts pasted and dropped files, keeps drafts. It does no
// requests: `send` may take any time, the field is cleared at once.

import { el, isTyping, refill } from '../../core/dom.js';
import { rich } from '../message/rich.js';
import { number, say } from '../../core/text/text.js';
import { completionSlot } from './completionslot.js';
import { composerButtons, isTouch } from './buttons.js';
import { composerFiles } from './files.js';
import { listenForPastes } from './paste.js';
import { pollSlot } from './pollslot.js';
import { referenceBar } from './reference.js';
import { format, formatOf } from './format.js';

/** The number of characters left is shown from here on. */
const SHOWN_REST = 500;

/**
 * @param {object} options
 * @param {boolean} options.enterSends a room sends with Enter; a topic with Ctrl or ⌘ and Enter
 * @param {(draft: {text, replyTo, editing, files, poll, descriptions}) => void} options.send
 * @param {(text: string, replyTo?: object, poll?: object, files?: File[]) => void} [options.keep] called when the draft has changed;
 *   without `files` those of the draft stay
 * @param {() => Promise<File[]>} [options.draftFiles] the files of the draft
 * @param {(start: string) => Promise<object[]>} [options.users] users whose name starts with it
 * @param {boolean} [options.mentionsRoom] whether @room notifies all members
 * @param {() => void} [options.typing] @param {() => object|null} [options.lastOwn] what ↑ edits
 * @param {number} [options.filesUpTo] the maximum file size; without it files are refused
 * @param {() => void} [options.share] asks for a link to share
 * @param {boolean} [options.polls] whether a message may have a poll
 * @param {number} [options.rows] initial number of lines @param {(start: string) => Promise<string[]>} [options.tags] tags that start with it
 * @param {(start: string) => Promise<object[]>} [options.commands] completions of commands that start with it
 * @param {string} [options.label] accessible name of the text; the placeholder by default
 * @param {string} [options.verb] label of the send button
 * @param {(number: number, description: string) => Node | null} [options.place] returns a placed picture, for the preview
 * @param {boolean} [options.toolbar] whether a toolbar for Markdown stands below the text @param {boolean} [options.places] whether chosen pictures are put into the text
 */
export function composer(options) {
  return new Composer(options).node;
}

/** The form has the members of `describe`, for pages and keys. */
class Composer {
  constructor(options) {
    const { enterSends = true, maxScalars = 16_000, placeholder = say('composer.room'), label = placeholder } = options;
    // Without a copy of the options: some are getters.
    Object.assign(this, { options, enterSends, maxScalars });
    this.input = el('textarea.composer-input', {
      rows: options.rows ?? 1,
      placeholder,
      aria: { label, autocomplete: 'list', haspopup: 'listbox' },
      enterkeyhint: enterSends ? 'send' : 'enter',
      value: options.draft?.text ?? '',
    });
    /** The draft behind the message that is edited. */
    this.behind = null;
    /** The files of the draft are read: until then they stay as they are. */
    this.isReading = !!options.draftFiles;
    this.makeParts();
    this.buttons = composerButtons(options, this);
    const row = this.buttons.row(this.input, this.count);
    this.node = el(
      'form.composer',
      { aria: { label } },
      this.words.node,
      el('div.composer-field', null, this.reference.node, this.files.node, this.poll.node, options.toolbar ? [row, this.preview] : [this.preview, row]),
      this.files.picker,
    );
    this.listen();
    this.describe();
    queueMicrotask(() => this.begin());
    requestAnimationFrame(() => grow(this.input));
  }

  makeParts() {
    const { input, options } = this;
    const changed = (isStored) => this.changed(isStored);
    this.files = composerFiles(options.filesUpTo ?? 0, {
      change: () => this.changed(false),
      keep: () => this.changed(true, true),
      remove: () => input.focus(),
    }, options.places && input);
    this.words = completionSlot(input, options, changed);
    this.reference = referenceBar(() => {
      this.leaveReference();
      input.focus();
    });
    this.poll = pollSlot(changed, () => input.focus());
    this.preview = el('div.composer-preview', { hidden: true, aria: { label: say('composer.preview') } });
    this.count = el('span.composer-count.mark.count', { hidden: true, aria: { live: 'polite' } });
  }

  /** Opens the editor of a poll; null while the message cannot have one. */
  get openPoll() {
    return this.poll.value || this.reference.editing ? null : this.poll.open;
  }

  listen() {
    const { node, input, files, options } = this;
    node.addEventListener('submit', (event) => {
      event.preventDefault();
      this.submit();
    });
    node.addEventListener('dragover', (event) => {
      if (options.filesUpTo && event.dataTransfer?.types.includes('Files')) event.preventDefault();
    });
    node.addEventListener('drop', (event) => files.addFrom(event, event.dataTransfer));
    listenForPastes(input, files);
    input.addEventListener('keydown', (event) => this.pressed(event));
    input.addEventListener('input', () => {
      this.changed();
      this.words.update();
      options.typing?.();
    });
  }

  /** Getters stay getters: `Object.assign` would copy their first values. */
  describe() {
    const { input, preview, files, poll } = this;
    const described = {
      input,
      reply: (message) => this.reply(message),
      edit: (message) => this.edit(message),
      take: files.add,
      follow: (draft) => this.follow(draft),
      addPoll: poll.open,
      insert: (text) => this.insert(text),
      submit: () => this.submit(),
      togglePreview: () => this.togglePreview(),
      get isPreviewed() {
        return !preview.hidden;
      },
      get isWriting() {
        return !!input.value.trim() || files.all.length > 0 || !!poll.value;
      },
      focusUnlessTouch() {
        if (!isTouch() && !isTyping(document.activeElement)) input.focus({ preventScroll: true });
      },
    };
    Object.defineProperties(this.node, Object.getOwnPropertyDescriptors(described));
  }

  /** Shows the draft, once the page has the composer. */
  begin() {
    const { draft } = this.options;
    this.draftText = this.input.value;
    if (draft?.replyTo) this.reference.set({ replyTo: draft.replyTo });
    if (draft?.poll) this.poll.open(draft.poll);
    this.changed(false);
    this.takeDraftFiles();
  }

  /** Shows the draft as another tab has changed it, unless this one has changes of its own. */
  follow(draft) {
    const { input, reference } = this;
    const isSame = input.value === this.draftText && !reference.editing;
    this.draftText = draft?.text ?? '';
    if (!isSame || input.value === this.draftText) return;
    input.value = this.draftText;
    reference.set({ replyTo: draft?.replyTo });
    this.changed(false);
  }

  changed(isStored = true, hasFiles = false) {
    const { input, count, preview, files, options } = this;
    grow(input);
    const text = input.value;
    const rest = this.maxScalars - [...text].length;
    count.hidden = rest > SHOWN_REST;
    count.textContent = number(rest);
    count.classList.toggle('is-over', rest < 0);
    const cannotSend = (!text.trim() && !files.all.length) || rest < 0 || files.hasFault || this.poll.isLoading;
    this.buttons.send.disabled = cannotSend;
    this.node.classList.toggle('has-text', !cannotSend);
    if (!preview.hidden) refill(preview, rich(text || say('composer.nothing'), options.place));
    if (isStored && !this.reference.editing) options.keep?.(text, this.reference.replyTo, this.poll.value, this.filesToKeep(hasFiles));
  }

  /** Undefined while those of the draft stay as they are. */
  filesToKeep(hasFiles) {
    const { all } = this.files;
    return !this.isReading && (hasFiles || all.length) ? all.map(({ file }) => file) : undefined;
  }

  submit() {
    const { input, reference, files } = this;
    if (this.buttons.send.disabled) return;
    const asked = this.poll.body();
    if (asked === null) return;
    const draft = { text: input.value.trim(), replyTo: reference.replyTo, editing: reference.editing, files: files.all, poll: asked, descriptions: files.descriptions };
    this.clear();
    this.options.send(draft);
    input.focus();
  }

  clear() {
    this.words.close();
    if (!this.preview.hidden) this.togglePreview();
    if (this.reference.editing) return this.showDraft();
    this.input.value = '';
    this.reference.set({});
    this.files.clear();
    this.poll.close();
    this.isReading = false;
    this.options.keep?.('', null, null, []);
  }

  /** Shows the draft again after an edit. Its files have stayed. */
  showDraft() {
    const { text, replyTo, poll: begun } = this.behind;
    this.behind = null;
    this.input.value = text;
    this.reference.set({ replyTo });
    if (begun) this.poll.open(begun);
    this.changed(false);
  }

  /** Leaves an edit, or a reply. */
  leaveReference() {
    if (this.reference.editing) return this.clear();
    this.reference.set({});
    this.changed();
  }

  /** Adds the files of the draft to those that the user has added meanwhile. */
  async takeDraftFiles() {
    const found = (await this.options.draftFiles?.().catch(() => null)) ?? [];
    // The draft was sent while its files were read.
    if (!this.isReading) return;
    this.isReading = false;
    const hasMore = this.files.all.length > 0;
    this.files.add(found);
    if (hasMore) this.changed(true, true);
  }

  togglePreview() {
    const { preview } = this;
    preview.hidden = !preview.hidden;
    this.buttons.preview.setAttribute('aria-pressed', String(!preview.hidden));
    this.changed(false);
  }

  pressed(event) {
    if (event.isComposing || this.words.press(event) || !this.perform(event)) return;
    event.preventDefault();
    if (event.key !== 'Enter' && event.key !== 'ArrowUp') event.stopPropagation();
  }

  /** Whether the pressed keys have a meaning here. */
  perform(event) {
    const { input, reference } = this;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === 'Enter' && (isCommand || (this.enterSends && !event.shiftKey))) {
      this.submit();
      return true;
    }
    if (event.key === 'ArrowUp' && !input.value && !this.files.all.length && !event.shiftKey && !event.altKey) {
      const last = this.options.lastOwn?.();
      if (last) this.edit(last);
      return !!last;
    }
    if (event.key === 'Escape' && (reference.editing || reference.replyTo)) {
      this.leaveReference();
      return true;
    }
    const name = formatOf(event, input);
    if (name) format(input, name);
    return !!name;
  }

  insert(text) {
    const { input } = this;
    input.setRangeText(text, input.selectionStart, input.selectionEnd, 'end');
    this.changed();
    input.focus();
  }

  reply(message) {
    if (this.reference.editing) this.clear();
    this.reference.set({ replyTo: message });
    this.changed();
    this.input.focus();
  }

  edit(message) {
    const { input, reference, poll } = this;
    this.behind ??= { text: input.value, replyTo: reference.replyTo, poll: poll.value };
    poll.close();
    reference.set({ editing: message });
    input.value = message.text ?? '';
    this.changed(false);
    input.focus();
    input.selectionStart = input.selectionEnd = input.value.length;
  }
}

function grow(input) {
  input.style.height = 'auto';
  input.style.height = `${Math.min(input.scrollHeight, Math.round(innerHeight * 0.4))}px`;
}
