// The form of the own status: a text, an emoji, an end.

import { el, icon, refill } from '../../core/dom.js';
import { statusLine } from '../../core/status.js';
import { say } from '../../core/text/text.js';
import { startOfDay } from '../../core/text/times.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { emojiPicker } from '../../parts/composer/emoji.js';
import { choice, field } from '../../parts/forms/field.js';
import { popover } from '../../parts/overlays/popover.js';

const MINUTE = 60_000;
const DAYS_OF_WEEK = 7;

/** The ends that the form offers, from a time on. */
const ends = {
  never: () => null,
  halfHour: (now) => new Date(now.getTime() + 30 * MINUTE),
  hour: (now) => new Date(now.getTime() + 60 * MINUTE),
  fourHours: (now) => new Date(now.getTime() + 240 * MINUTE),
  today: (now) => dayAfter(now, 1),
  week: (now) => dayAfter(now, DAYS_OF_WEEK),
};

function dayAfter(now, days) {
  const date = startOfDay(now);
  date.setDate(date.getDate() + days);
  return date;
}

/** @param {(body: object) => Promise<void>} save changes the own user; throws on failure */
export function statusForm(me, { limit, save }) {
  let emoji = me.status_emoji;
  const text = field(say('status.text'), { value: me.status_text ?? '', limit, placeholder: say('status.placeholder') });
  const end = choice(
    say('status.end'),
    Object.keys(ends).map((it) => [it, say(`status.end.${it}`)]),
  );
  // The heading is the visible label.
  text.querySelector('label').classList.add('spoken');
  const picked = el('button.button.button-plain.status-emoji', { title: say('status.emoji'), aria: { haspopup: 'dialog' }, on: { click: () => pick() } });
  const show = () => {
    refill(picked, emoji ?? icon('react'));
    picked.setAttribute('aria-label', emoji ? `${say('status.emoji')}: ${emoji}` : say('status.emoji'));
  };
  const pick = () => {
    const node = popover(
      picked,
      say('status.emoji'),
      emojiPicker((it) => {
        emoji = it;
        show();
        node.close();
      }),
    );
  };
  const set = button(say('status.set'), { type: 'submit' });
  const clear = button(say('status.clear'), {
    kind: 'quiet',
    on: () =>
      whileBusy(clear, async () => {
        await save({ status_text: null, status_emoji: null, status_expires_at: null });
        emoji = null;
        text.input.value = '';
        show();
        clear.hidden = true;
      }).catch(() => {}),
  });
  clear.hidden = !statusLine(me);
  show();
  const submit = async () => {
    const words = text.input.value.trim();
    const until = words || emoji ? ends[end.input.value](new Date()) : null;
    await save({ status_text: words || null, status_emoji: emoji ?? null, status_expires_at: until?.toISOString() ?? null });
    clear.hidden = !words && !emoji;
  };
  return el(
    'form.panel-block',
    {
      aria: { label: say('status.title') },
      on: {
        submit: (event) => {
          event.preventDefault();
          whileBusy(set, submit).catch(() => {});
        },
      },
    },
    el('h2.section-title', null, say('status.title')),
    el('div.status-line', null, picked, text),
    end,
    el('div.user-actions', null, set, clear),
  );
}
