// The buttons under a bot's message. A press is sent to the bot, which changes the message to show the outcome.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';

const KINDS = { primary: 'button-primary', danger: 'button-danger' };

/**
 * @param {object} message as in the API
 * @param {object} view
 * @param {(verb: string, detail?: any) => any} [view.act] `poll` with `pressButton` and the id of a button
 */
export function buttonsElement(message, { act }) {
  const isOff = !act || !!message.state;
  return el(
    'div.message-buttons',
    { role: 'group', aria: { label: say('buttons.name') } },
    message.buttons.map((it) => buttonElement(it, isOff, act)),
  );
}

function buttonElement({ id, label, style, pressed, disabled }, isOff, act) {
  const press = async ({ currentTarget: node }) => {
    // Not `disabled`, which would take the focus away.
    if (node.ariaBusy === 'true') return;
    node.ariaBusy = 'true';
    await act('poll', ['pressButton', id]);
    node.ariaBusy = null;
  };
  return el(
    `button.button.${KINDS[style] ?? 'button-plain'}`,
    { aria: { pressed: pressed ? 'true' : null }, disabled: disabled || isOff, on: { click: press }, data: { act: `press-${id}` } },
    el('bdi', null, label),
  );
}
