// The parts of a few messages alone: a poll and buttons. Loaded with the first of them.

import { el } from '../../core/dom.js';
import { buttonsElement } from './buttons.js';
import { loadPolls, pollElement } from './poll.js';

/** Loads the style sheet and the texts of all parts. */
export const loadParts = loadPolls;

/** @param {object} message @param {object} view as `messageElement` passes it on */
export function partsElement(message, view) {
  const poll = message.poll && pollElement(message, view);
  const buttons = message.buttons && buttonsElement(message, view);
  return poll && buttons ? el('div', null, poll, buttons) : (poll ?? buttons);
}
