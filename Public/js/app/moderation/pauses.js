// The pauses that moderators make during a raid, for an hour: no sign-ups, and new members only read.

import { el } from '../core/dom.js';
import { say } from '../core/text/text.js';
import { moment } from '../core/text/times.js';
import { toggle } from '../parts/forms/switch.js';
import { report } from '../account/security/stepup.js';

const HOUR = 3_600_000;
const FIELDS = { 'pause.signUps': 'sign_ups_paused_until', 'pause.newcomers': 'newcomers_paused_until' };

/** A switch for each pause. `close` ends its timer and its listener. */
export function pauses(site) {
  const rows = Object.entries(FIELDS).map(([key, field]) => {
    const row = toggle(say(key), {
      hint: say('pause.hour'),
      on: async (isOn) => {
        const until = isOn ? new Date(Date.now() + HOUR).toISOString() : null;
        try {
          await site.call('PATCH', '/settings', { body: { [field]: until } });
        } catch (error) {
          report(error);
          throw error;
        }
      },
    });
    return { row, field };
  });
  let timer;
  const draw = () => {
    clearTimeout(timer);
    const now = Date.now();
    const ends = [];
    for (const { row, field } of rows) {
      const until = Date.parse(site.parley?.settings?.[field]);
      row.input.checked = until > now;
      row.querySelector('.second').textContent = until > now ? say('pause.until', { time: moment(new Date(until)) }) : say('pause.hour');
      if (until > now) ends.push(until);
    }
    if (ends.length) timer = setTimeout(draw, Math.min(...ends) - now + 1);
  };
  draw();
  const end = site.listen(['me'], draw);
  return {
    node: el('div.pauses', null, rows.map(({ row }) => row)),
    close() {
      clearTimeout(timer);
      end();
    },
  };
}
