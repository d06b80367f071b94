import { el, icon } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { dialog } from '../overlays/dialog.js';
import { quick } from '../../core/emoji/recent.js';

/** The action sheet of a message: six reactions, then actions. Opened by a long press or the button. */
export function sheetElement(items, onReact) {
  return el(
    'div.sheet',
    null,
    onReact &&
      el(
        'div.sheet-reactions',
        { role: 'group', aria: { label: say('act.react') } },
        quick.map((it) => el('button.sheet-reaction', { on: { click: () => onReact(it) } }, it)),
        el(
          'button.sheet-reaction',
          { aria: { label: say('emoji.more') }, on: { click: () => onReact(null) } },
          icon('plus'),
        ),
      ),
    el(
      'div.sheet-items',
      null,
      items
        .filter(Boolean)
        .map((it) =>
          el(
            'button.menu-item',
            { class: it.danger ? 'is-danger' : '', on: { click: it.on }, data: { act: it.act ?? null } },
            icon(it.picture),
            el('span', null, it.words),
            it.keys && el('kbd', null, it.keys),
          ),
        ),
    ),
  );
}

export function messageSheet(items, onReact) {
  let node = null;
  const then =
    (work) =>
    (...all) => {
      node.close();
      work(...all);
    };
  const content = sheetElement(
    items.map((it) => it && { ...it, on: then(it.on) }),
    onReact && then(onReact),
  );
  node = dialog(say('sheet.title'), content, { isSheet: true });
  return node;
}
