// Puts off a conversation of the inbox: the menu of times, and the way back.

import { say, sayProblem } from '../core/text/text.js';
import { clock, moment, morning } from '../core/text/times.js';
import { menu } from '../parts/overlays/menu.js';
import { toast } from '../parts/overlays/toast.js';

const HOUR = 3_600_000;
const MONDAY = 1;
const WEEK = 7;

/** The choices of the menu, in the zone of the device: `[name, time]`. Each time has one name: on a Sunday, Monday is tomorrow. */
export function choices(now) {
  const all = [
    ['hours', new Date(now.getTime() + 3 * HOUR)],
    ['tomorrow', morning(now, 1)],
    ['monday', morning(now, (MONDAY - now.getDay() + WEEK) % WEEK || WEEK)],
  ];
  return all.filter(([, at], index) => all.findIndex(([, it]) => it.getTime() === at.getTime()) === index);
}

/** Opens the menu beside the button of a row. `focusAfter` is the inbox's: the focused button is gone with its row. */
export function chooseLater(site, button, id, focusAfter) {
  const items = choices(new Date()).map(([name, at]) => ({
    words: say(`later.${name}`, { time: clock(at) }),
    on: () => putOff(site, id, at, focusAfter(button.closest('.inbox-item'))),
  }));
  menu(button, items, say('inbox.later'));
}

async function putOff(site, id, until, focusNext) {
  const { overview } = site;
  try {
    await site.client.calls.setLater({ id, body: { until: until.toISOString() } });
    overview.later.set(id, until.getTime());
    site.say('overview');
    focusNext();
    await toast(say('later.done', { at: moment(until) }), { undo: () => putBack(site, id) });
  } catch (error) {
    toast(sayProblem(error));
    overview.soon();
  }
}

async function putBack(site, id) {
  const { overview } = site;
  try {
    await site.client.calls.endLater({ id });
    await overview.load();
  } catch (error) {
    toast(sayProblem(error));
    overview.soon();
  }
}
