// The composer: grows with the text, completes @users, #tags and :emoji:, previews, accepts pasted and dropped files, keeps
// drafts. It does no requests: `send` may take any time, the field is cleared at once.

import { el, icon, isTyping, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { rich } from '../core/rich.js';
import { bytes, number, say } from '../core/text.js';
import { attachment } from './attachment.js';
import { avatar } from './avatar.js';
import { button, iconButton } from './button.js';
import { completionList } from './completion.js';
import { findEmoji } from './emoji.js';

/** No completion is selected. */
const NONE = -1;

/**
 * @param {object} options
 * @param {boolean} options.enterSends a room sends with Enter; a topic with Ctrl or ⌘ and Enter
 * @param {(draft: {text, replyTo, editing, files}) => void} options.send
 * @param {(text: string, replyTo?: object) => void} [options.keep] called when the draft has changed
 * @param {(start: string) => Promise<object[]>} [options.people] users whose name starts with it
 * @param {boolean} [options.rings] whether @room notifies all members
 * @param {() => void} [options.typing] @param {() => object|null} [options.lastOwn] what ↑ edits
 * @param {number} [options.filesUpTo] the maximum file size; without it files are refused
 * @param {() => void} [options.share] asks for a link to share
 * @param {number} [options.rows] initial number of lines
 * @param {(start: string) => Promise<string[]>} [options.tags] tags that start with it
 * @param {string} [options.verb] label of the send button
 */
export function composer(options) {
  const { enterSends = true, placeholder = say('composer.room'), most = 16_000 } = options;
  let replyTo = null;
  let editing = null;
  let files = [];
  let completing = null;

  const input = el('textarea.composer-input', {
    rows: options.rows ?? 1,
    placeholder,
    aria: { label: placeholder, autocomplete: 'list', haspopup: 'listbox' },
    enterkeyhint: enterSends ? 'send' : 'enter',
    value: options.draft?.text ?? '',
  });
  const above = el('div.composer-above', { hidden: true });
  const cards = el('div.composer-files', { hidden: true });
  const preview = el('div.composer-preview', { hidden: true, aria: { label: say('composer.preview') } });
  const picker = el('input', { type: 'file', multiple: true, hidden: true, aria: { label: say('composer.attach') } });
  const list = el('div.composer-completion');
  const count = el('span.composer-count.mark.count', { hidden: true, aria: { live: 'polite' } });
  const sendButton = options.verb
    ? button(options.verb, { kind: 'primary', on: submit, disabled: true })
    : iconButton('send', say(enterSends ? 'composer.send' : 'composer.sendKeys'), { on: submit, disabled: true, kind: 'send' });
  const previewButton = iconButton('eye', say('composer.preview'), { on: togglePreview, pressed: 'false' });
  const node = el(
    'form.composer',
    {
      aria: { label: placeholder },
      on: {
        submit: (event) => {
          event.preventDefault();
          submit();
        },
      },
    },
    list,
    el(
      'div.composer-field',
      null,
      above,
      cards,
      preview,
      el(
        'div.composer-row',
        null,
        (!!options.filesUpTo || options.share) &&
          iconButton('plus', say('composer.add'), { on: (event) => add(event.currentTarget) }),
        input,
        count,
        previewButton,
        sendButton,
      ),
    ),
    picker,
  );

  input.addEventListener('input', () => {
    changed();
    complete();
    options.typing?.();
  });
  input.addEventListener('keydown', pressed);
  input.addEventListener('blur', () => setTimeout(closeList, 100));
  input.addEventListener('paste', (event) => take([...(event.clipboardData?.files ?? [])], event));
  node.addEventListener('dragover', (event) => {
    if (options.filesUpTo && event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  node.addEventListener('drop', (event) => take([...(event.dataTransfer?.files ?? [])], event));
  picker.addEventListener('change', () => {
    take([...picker.files]);
    picker.value = '';
  });

  function changed(isStored = true) {
    grow();
    const text = input.value;
    const length = [...text].length;
    const rest = most - length;
    count.hidden = rest > 500;
    count.textContent = number(rest);
    count.classList.toggle('is-over', rest < 0);
    const isTooLarge = files.some((it) => it.failed);
    sendButton.disabled = (!text.trim() && !files.length) || rest < 0 || isTooLarge;
    node.classList.toggle('has-text', !sendButton.disabled);
    if (!preview.hidden) refill(preview, rich(text || say('composer.nothing')));
    if (isStored && !editing) options.keep?.(text, replyTo);
  }

  function grow() {
    input.style.height = 'auto';
    input.style.height = `${Math.min(input.scrollHeight, Math.round(innerHeight * 0.4))}px`;
  }

  function submit() {
    if (sendButton.disabled) return;
    const draft = { text: input.value.trim(), replyTo, editing, files };
    clear();
    options.send(draft);
    input.focus();
  }

  function clear() {
    input.value = '';
    closeList();
    for (const it of files) if (it.picture) URL.revokeObjectURL(it.picture);
    files = [];
    replyTo = null;
    editing = null;
    if (!preview.hidden) togglePreview();
    showAbove();
    showFiles();
    changed(false);
    options.keep?.('', null);
  }

  function togglePreview() {
    preview.hidden = !preview.hidden;
    previewButton.setAttribute('aria-pressed', String(!preview.hidden));
    changed(false);
  }

  function pressed(event) {
    if (event.isComposing) return;
    if (completing && completionKey(event)) return;
    const isCommand = event.ctrlKey || event.metaKey;
    if (event.key === 'Enter' && (isCommand || (enterSends && !event.shiftKey))) {
      event.preventDefault();
      submit();
    } else if (event.key === 'ArrowUp' && !input.value && !event.shiftKey && !event.altKey) {
      const last = options.lastOwn?.();
      if (!last) return;
      event.preventDefault();
      edit(last);
    } else if (event.key === 'Escape' && (editing || replyTo)) {
      event.preventDefault();
      event.stopPropagation();
      if (editing) clear();
      replyTo = null;
      showAbove();
      changed();
    } else if (isCommand && (event.key === 'b' || event.key === 'i')) {
      event.preventDefault();
      wrap(event.key === 'b' ? '**' : '*');
    }
  }

  function wrap(sign) {
    const { selectionStart: from, selectionEnd: to, value } = input;
    input.setRangeText(sign + value.slice(from, to) + sign, from, to, 'end');
    if (from === to) input.selectionStart = input.selectionEnd = from + sign.length;
    changed();
  }

  // MARK: Replies and edits

  function showAbove() {
    const about = editing ?? replyTo;
    above.hidden = !about;
    if (!about) return refill(above);
    refill(
      above,
      icon(editing ? 'edit' : 'reply'),
      el(
        'span.one-line',
        null,
        el('strong', null, editing ? say('composer.editing') : say('composer.replying', { name: replyTo.author })),
        ' ',
        about.text ?? '',
      ),
      iconButton('close', say(editing ? 'composer.leaveEdit' : 'composer.leaveReply'), {
        on: () => {
          if (editing) clear();
          replyTo = null;
          showAbove();
          changed();
          input.focus();
        },
      }),
    );
    return above;
  }

  function reply(message) {
    if (editing) clear();
    replyTo = message;
    showAbove();
    changed();
    input.focus();
  }

  function edit(message) {
    editing = message;
    replyTo = null;
    input.value = message.text ?? '';
    showAbove();
    changed(false);
    input.focus();
    input.selectionStart = input.selectionEnd = input.value.length;
  }

  /** The attachment menu. */
  async function add(anchor) {
    const items = [
      options.filesUpTo && { picture: 'file', words: say('composer.attach'), on: () => picker.click() },
      options.share && { picture: 'link', words: say('share.title'), on: options.share },
    ].filter(Boolean);
    if (items.length === 1) return items[0].on();
    const { menu } = await import('./menu.js');
    return menu(anchor, items, say('composer.add'));
  }

  // MARK: Files

  function take(chosen, event) {
    if (!options.filesUpTo || !chosen.length) return;
    event?.preventDefault();
    for (const file of chosen) {
      files.push({
        file,
        name: file.name,
        size: file.size,
        picture: file.type.startsWith('image/') ? URL.createObjectURL(file) : null,
        failed: file.size > options.filesUpTo ? say('file.tooLarge', { most: bytes(options.filesUpTo) }) : null,
      });
    }
    showFiles();
  }

  function showFiles() {
    cards.hidden = !files.length;
    refill(
      cards,
      files.map((it) =>
        attachment(it, {
          failed: it.failed,
          onRemove: () => {
            files = files.filter((other) => other !== it);
            showFiles();
            input.focus();
          },
        }),
      ),
    );
    changed(false);
  }

  // MARK: Completion

  async function complete() {
    const before = input.value.slice(0, input.selectionStart);
    const found = /(?:^|[\s(])([@#:])([\p{L}\p{N}_.+-]{0,32})$/u.exec(before);
    if (!found || (found[1] === ':' && found[2].length < 2)) return closeList();
    const [, sign, start] = found;
    narrow(`${sign}${start}`.toLowerCase());
    const asked = (complete.asked = {});
    const items = await suggestions(sign, start);
    if (complete.asked !== asked) return;
    if (!items.length) return closeList();
    // A new tag is valid as typed, so no completion is selected by default.
    completing = { items, chosen: sign === '#' ? NONE : 0, from: input.selectionStart - start.length - 1, to: input.selectionStart };
    showList();
  }

  /** Filters the shown completions until the answer arrives, so that Enter never takes an outdated one. */
  function narrow(start) {
    if (!completing) return;
    const fits = (it) => [it.insert, it.words, `@${it.words}`].some((words) => words.toLowerCase().startsWith(start));
    const chosen = completing.items[completing.chosen];
    completing.items = completing.items.filter(fits);
    if (!completing.items.length) return closeList();
    // A completion selected with the arrows stays selected if it still matches; otherwise the default.
    completing.chosen = Math.max(completing.items.indexOf(chosen), start.startsWith('#') ? NONE : 0);
    return showList();
  }

  async function suggestions(sign, start) {
    if (sign === '@') {
      const users = (await options.users?.(start).catch(() => [])) ?? [];
      const everybody = { words: say('composer.everybody'), second: '@room', insert: '@room ', picture: icon('bell') };
      return [
        ...users.slice(0, 8).map((it) => ({
          words: displayName(it),
          second: `@${it.name}`,
          insert: `@${it.name} `,
          picture: avatar(it, { size: 1 }),
        })),
        ...(options.rings && 'room'.startsWith(start.toLowerCase()) ? [everybody] : []),
      ];
    }
    if (sign === '#')
      return ((await options.tags?.(start)) ?? []).slice(0, 8).map((it) => ({ words: `#${it}`, insert: `#${it} ` }));
    return findEmoji(start).map((it) => ({
      words: `:${it.name}:`,
      insert: `${it.character} `,
      picture: el('span.emoji-mark', null, it.character),
    }));
  }

  function showList() {
    const shown = completionList(completing.items, {
      chosen: completing.chosen,
      label: say('composer.completion'),
      on: choose,
    });
    refill(list, shown);
    if (completing.chosen === NONE) input.removeAttribute('aria-activedescendant');
    else input.setAttribute('aria-activedescendant', `${shown.id}-${completing.chosen}`);
    input.setAttribute('aria-controls', shown.id);
  }

  function closeList() {
    completing = null;
    complete.asked = null;
    refill(list);
    input.removeAttribute('aria-activedescendant');
    input.removeAttribute('aria-controls');
  }

  function completionKey(event) {
    const { items, chosen } = completing;
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      const by = event.key === 'ArrowDown' ? 1 : -1;
      completing.chosen = chosen === NONE && by < 0 ? items.length - 1 : (chosen + by + items.length) % items.length;
      showList();
    } else if ((event.key === 'Enter' && !event.ctrlKey && !event.metaKey && chosen !== NONE) || event.key === 'Tab') {
      choose(Math.max(0, chosen));
    } else if (event.key === 'Escape') {
      event.stopPropagation();
      closeList();
    } else {
      return false;
    }
    event.preventDefault();
    return true;
  }

  function choose(index) {
    const { items, from, to } = completing;
    // Letters typed while the list was loading belong to the name too.
    const rest = /^[\p{L}\p{N}_.+-]*/u.exec(input.value.slice(to, Math.max(to, input.selectionStart)));
    input.setRangeText(items[index].insert, from, to + rest[0].length, 'end');
    closeList();
    changed();
    input.focus();
  }

  queueMicrotask(() => {
    if (options.draft?.replyTo) {
      replyTo = options.draft.replyTo;
      showAbove();
    }
    changed(false);
  });
  requestAnimationFrame(grow);
  return Object.assign(node, {
    input,
    reply,
    edit,
    take,
    insert(text) {
      input.setRangeText(text, input.selectionStart, input.selectionEnd, 'end');
      changed();
      input.focus();
    },
    get isWriting() {
      return !!input.value.trim() || files.length > 0;
    },
    focusUnlessTouch() {
      if (!isTouch() && !isTyping(document.activeElement)) input.focus({ preventScroll: true });
    },
  });
}

function isTouch() {
  return matchMedia('(pointer: coarse)').matches;
}
