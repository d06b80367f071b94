// The parts that the dialogs of tokens and bots share: the rate limit, and the new token, which is shown once.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { dialog } from '../overlays/dialog.js';
import { copyLine } from './copyline.js';
import { field } from './field.js';

const maxRate = 100_000;

/**
 * The field of a token's rate limit.
 * @returns {any} The field; `rate()` is undefined if it is empty.
 */
export function rateField() {
  const node = field(say('tokens.rate'), { type: 'number', hint: say('tokens.rateHint') });
  Object.assign(node.input, { min: 1, max: maxRate, step: 1 });
  return Object.assign(node, { rate: () => (node.input.value === '' ? undefined : Number(node.input.value)) });
}

/**
 * Shows a new token. A repeated request has none, since its first answer was lost: then `lost` is shown.
 * @param {string} title @param {string | null} token @param {{ lost?: string, onClose?: () => void }} [options]
 */
export function showToken(title, token, { lost, onClose } = {}) {
  const line = token && copyLine(say('tokens.token'), token, { copied: say('act.copied') });
  dialog(title, [el('p', null, token ? say('tokens.once') : lost), line], { onClose });
  line?.input.select();
}
