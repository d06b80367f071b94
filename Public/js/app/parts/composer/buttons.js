// The buttons of the composer: files and links, emoji, preview, send.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { button, iconButton } from '../forms/button.js';
import { formatBar } from './format.js';
import { menu } from '../overlays/menu.js';
import { popover } from '../overlays/popover.js';

export const isTouch = () => matchMedia('(pointer: coarse)').matches;

/**
 * @param {object} options those of the composer
 * @param {object} composer files, openPoll, enterSends, submit(), togglePreview(), insert(text)
 */
export function composerButtons(options, composer) {
  const { verb, filesUpTo, share, polls } = options;
  const on = () => composer.submit();
  const send = verb
    ? button(verb, { kind: 'primary', on, disabled: true })
    : iconButton('send', say(composer.enterSends ? 'composer.send' : 'composer.sendKeys'), { on, disabled: true, kind: 'send' });
  const preview = iconButton('eye', say('composer.preview'), { on: () => composer.togglePreview(), pressed: 'false' });
  const add =
    (!!filesUpTo || share || polls) &&
    iconButton('plus', say('composer.add'), { on: (event) => addMenu(event.currentTarget, composer, options) });
  const emoji = iconButton('react', say('emoji.all'), { on: () => pickEmoji(emoji, (text) => composer.insert(text)), data: { act: 'emoji' } });
  /** The toolbar has the formats at any time. */
  const offerFormats = (input) =>
    input.addEventListener('select', () => import('./selectionbar.js').then((it) => it.showSelectionBar(input), () => {}));
  return {
    send,
    preview,
    /** The text with the buttons: beside it, or in a toolbar below. */
    row: (input, count) => {
      if (!options.toolbar && !isTouch()) offerFormats(input);
      return options.toolbar
        ? el('div.composer-row.has-bar', null, input, el('div.composer-tools', null, formatBar(input), emoji, add, count, preview, send))
        : el('div.composer-row', null, add, input, count, emoji, preview, send);
    },
  };
}

/** The menu of what can be added; a single entry is done at once. */
function addMenu(anchor, { files, openPoll }, { filesUpTo, share, polls }) {
  const items = [
    filesUpTo && { picture: 'file', words: say('composer.attach'), on: () => files.picker.click() },
    share && { picture: 'link', words: say('share.title'), on: share },
    polls && openPoll && { picture: 'poll', words: say('composer.poll'), on: () => openPoll() },
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
