import { el, icon, rememberFocus } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { button } from '../forms/button.js';

/** A page over the page; Escape and the cross close it, and the focus goes back to where it was. */
export function dialog(title, content, { actions = [], onClose, isSheet = false } = {}) {
  const back = rememberFocus();
  const node = dialogElement(title, content, { actions, isSheet, on: () => node.close() });
  node.addEventListener('close', () => {
    node.remove();
    back();
    onClose?.(node.returnValue);
  });
  node.addEventListener('click', (event) => {
    if (event.target === node) node.close();
  });
  document.body.append(node);
  node.showModal();
  return node;
}

export function dialogElement(title, content, { actions = [], isSheet = false, on } = {}) {
  return el(
    'dialog.dialog',
    { class: isSheet ? 'dialog-sheet' : '', aria: { label: title } },
    el(
      'header.dialog-head',
      null,
      el('h2', null, title),
      el(
        'button.icon-button',
        { aria: { label: say('act.close') }, title: say('act.close'), on: { click: on } },
        icon('close'),
      ),
    ),
    el('div.dialog-body', null, content),
    actions.length ? el('footer.dialog-foot', null, actions) : null,
  );
}

/** Asks for confirmation. Resolves to true or false. */
export function confirm(title, sentence, verb, { kind = 'danger' } = {}) {
  return new Promise((resolve) => {
    const yes = button(verb, { kind, on: () => node.close('yes') });
    const node = dialog(title, el('p', null, sentence), {
      actions: [button(say('act.cancel'), { on: () => node.close() }), yes],
      onClose: (value) => resolve(value === 'yes'),
    });
    yes.focus();
  });
}

/** One line of text, asked for. Resolves to it, or null. @param {string} [kind] of the button: `danger` for what can't be undone */
export function ask(title, control, verb, kind = 'primary') {
  return new Promise((resolve) => {
    const form = el(
      'form',
      {
        id: 'ask-form',
        on: {
          submit: (event) => {
            event.preventDefault();
            node.close('yes');
          },
        },
      },
      control,
    );
    const submit = button(verb, { kind, type: 'submit' });
    submit.setAttribute('form', 'ask-form');
    const node = dialog(title, form, {
      actions: [button(say('act.cancel'), { on: () => node.close() }), submit],
      onClose: (value) => resolve(value === 'yes' ? control.input.value.trim() : null),
    });
    control.input.focus();
  });
}
