// The choice of the author whose messages are searched.

import { el, redraw } from '../core/dom.js';
import { say } from '../core/text/text.js';
import { field } from '../parts/forms/field.js';
import { popover } from '../parts/overlays/popover.js';
import { userRow } from '../parts/user/user.js';
import { findUsers } from '../state/users.js';

/** Most people in the list. */
const MAX = 8;

/** Offers people beside the chip. @param {(user: any) => void} choose */
export function chooseAuthor(site, chip, choose) {
  const list = el('div');
  const input = field(say('search.person'), { type: 'search', autocomplete: 'off', on: { input: () => look() } });
  const row = (user) =>
    el(
      'button.user-choice',
      {
        data: { user: user.id },
        on: {
          click: () => {
            box.close();
            choose(user);
          },
        },
      },
      userRow(user),
    );
  const look = async () => {
    const words = input.input.value.trim();
    const users = await findUsers(site, words).catch(() => []);
    if (words !== input.input.value.trim()) return;
    redraw(list, users.length ? users.slice(0, MAX).map(row) : el('p.second', null, say('conversation.nobody', { words })));
    box.place?.();
  };
  const box = popover(chip, say('search.person'), el('div', null, input, list));
  input.input.focus({ preventScroll: true });
  look();
}
