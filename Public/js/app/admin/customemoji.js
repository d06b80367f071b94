// The custom emoji of the site: list, add, delete. For staff.

import { el, refill } from '../core/dom.js';
import { say, sayProblem } from '../core/text/text.js';
import { button, whileBusy } from '../parts/forms/button.js';
import { confirm } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { field } from '../parts/forms/field.js';
import { pictureField } from '../parts/forms/picture.js';
import { toast } from '../parts/overlays/toast.js';

/** Fills the column. */
export async function customEmojiPage({ site }, column) {
  const report = (error) => toast(sayProblem(error));
  const list = el('div.setting-list');
  const draw = async () => {
    const { emoji } = await site.call('GET', '/settings');
    refill(list, emoji.length ? emoji.map((it) => emojiRow(site, it, draw, report)) : empty(say('customEmoji.none'), { picture: 'react' }));
  };
  refill(column, el('p.second', null, say('customEmoji.lead')), form(site, draw, report), list);
  await draw();
}

function form(site, changed, report) {
  const shown = el('span.emoji-preview');
  const name = field(say('customEmoji.name'), { required: true, limit: 32, hint: say('customEmoji.nameHint') });
  const picture = pictureField(say('customEmoji.picture'), {
    maxBytes: site.server.limits.emoji_bytes,
    on: (address) => refill(shown, address && el('img.custom-emoji', { src: address, alt: '' })),
  });
  picture.choices.append(shown);
  const add = button(say('customEmoji.add'), { kind: 'primary', picture: 'plus', type: 'submit' });
  const create = async () => {
    if (!picture.file) return void toast(say('customEmoji.needsPicture'));
    const file = await picture.send(site.client);
    await site.client.calls.createEmoji({ body: { name: name.input.value.trim().replace(/^:|:$/g, '').toLowerCase(), file } });
    name.input.value = '';
    picture.forget();
    await changed();
  };
  return el(
    'form.panel-block',
    {
      on: {
        submit: (event) => {
          event.preventDefault();
          whileBusy(add, create).catch(report);
        },
      },
    },
    name,
    picture,
    add,
  );
}

function emojiRow(site, { id, name }, changed, report) {
  const remove = async () => {
    if (!(await confirm(say('customEmoji.deleteTitle', { name }), say('customEmoji.deleteSentence', { name }), say('act.delete')))) return;
    await site.client.calls.deleteEmoji({ id }).then(changed, report);
  };
  return el(
    'div.setting-row',
    null,
    el('span.emoji-line', null, el('img.custom-emoji', { src: `/api/v1/emoji/${id}/picture`, alt: '' }), el('code', null, `:${name}:`)),
    button(say('act.delete'), { on: remove }),
  );
}
