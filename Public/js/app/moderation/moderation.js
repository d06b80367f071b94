// Moderation of a user: ban, silence, warn, remove messages, each with a reason and a duration; and the list of sanctions.

import { el, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { button } from '../parts/button.js';
import { ask, dialog } from '../parts/dialog.js';
import { entryRow } from '../parts/entry.js';
import { choice, field } from '../parts/field.js';
import { toast } from '../parts/toast.js';
import { say, sayProblem } from '../core/text.js';
import { moment } from '../core/times.js';

const HOUR = 3_600_000;
const SPANS = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR, month: 30 * 24 * HOUR };
/** As many are counted; beyond it says that there are more. */
const COUNTED = 200;
const REASON = 500;

const reasonField = (person, required = false) =>
  field(say('remove.reason'), { limit: REASON, required, hint: say('order.reasonHint', { name: displayName(person) }) });

/** Menu items for a user's page. Calls `changed` after an action. */
export function orderItems(shell, person, changed) {
  const { site } = shell;
  const path = `/users/${person.id}`;
  const decide = async (work, words, undo, n) => {
    try {
      const made = await work();
      changed();
      toast(say(words, { name: displayName(person), n }), undo && { undo: () => undo(made).then(changed, (error) => toast(sayProblem(error))) });
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  const forAWhile = async (name) => {
    const reason = reasonField(person);
    const span = choice(
      say('order.howLong'),
      [...Object.keys(SPANS), 'ever'].map((it) => [it, say(`order.for.${it}`)]),
      { value: 'day' },
    );
    const chosen = await ask(
      say(`order.${name}Title`, { name: displayName(person) }),
      Object.assign(el('div', null, el('p.second.dialog-lead', null, say(`order.${name}Sentence`)), span, reason), { input: span.input }),
      say(`order.${name}`),
    );
    if (!chosen) return;
    const because = reason.input.value.trim();
    const body = {
      ...(SPANS[chosen] ? { until: new Date(Date.now() + SPANS[chosen]).toISOString() } : {}),
      ...(because ? { reason: because } : {}),
    };
    await decide(
      () => site.call('PUT', `${path}/${name}`, { body }),
      `order.${name}Done`,
      () => site.call('DELETE', `${path}/${name}`),
    );
  };
  return [
    {
      words: say('order.warn'),
      picture: 'flag',
      on: async () => {
        const reason = await ask(say('order.warnTitle', { name: displayName(person) }), reasonField(person, true), say('order.warn'));
        if (reason) await decide(() => site.call('POST', `${path}/warn`, { body: { reason, client_id: crypto.randomUUID() } }), 'order.warnDone');
      },
    },
    { words: say('order.silence'), picture: 'bell-off', on: () => forAWhile('silence') },
    { words: say('order.ban'), picture: 'lock', danger: true, on: () => forAWhile('ban') },
    { words: say('order.remove'), picture: 'delete', danger: true, on: () => removeAll(site, person, decide) },
  ];
}

/** Removes a user's messages since a time. The button shows their number. */
async function removeAll(site, person, decide) {
  const reason = reasonField(person);
  const verb = button(say('order.removeNone'), { kind: 'danger', disabled: true, on: () => node.close('yes') });
  let since = null;
  let found = 0;
  const count = async () => {
    const asked = (since = new Date(Date.now() - (SPANS[span.input.value] ?? Date.now())).toISOString());
    verb.disabled = true;
    const page = await site.call('GET', '/messages/search', { query: { author: person.id, after_time: asked, limit: COUNTED } });
    if (since !== asked) return;
    const n = (found = page.data.length);
    verb.disabled = n === 0;
    verb.lastChild.textContent = say(page.next ? 'order.removeMore' : n ? 'order.removeVerb' : 'order.removeNone', { n });
  };
  const look = () => count().catch((error) => toast(sayProblem(error)));
  const span = choice(
    say('order.since'),
    [...Object.keys(SPANS), 'ever'].map((it) => [it, say(`order.since.${it}`)]),
    { value: 'day', on: look },
  );
  const node = dialog(
    say('order.removeTitle', { name: displayName(person) }),
    [el('p.second.dialog-lead', null, say('order.removeSentence')), span, reason],
    {
      actions: [button(say('act.cancel'), { on: () => node.close() }), verb],
      onClose: (value) => {
        if (value !== 'yes') return;
        const because = reason.input.value.trim();
        const body = { author: person.id, since, client_id: crypto.randomUUID(), ...(because ? { reason: because } : {}) };
        decide(() => site.call('POST', '/removals', { body }), 'order.removeDone', (made) => site.call('DELETE', `/removals/${made.id}`), found);
      },
    },
  );
  span.input.focus();
  look();
}

/** The sanctions of a user, newest first; active ones can be lifted. */
export function decisions(site, person) {
  const node = el('section', { hidden: true, aria: { label: say('order.decided') } });
  const draw = async () => {
    const { data } = await site.call('GET', `/users/${person.id}/sanctions`, { query: { limit: 50 } });
    node.hidden = !data.length;
    refill(
      node,
      el('h2.section-title', null, say('order.decided')),
      el('ul.setting-list', null, data.map((it) => decision(site, person, it, draw))),
    );
  };
  const again = () => draw().catch(() => {});
  again();
  return Object.assign(node, { again });
}

function decision(site, person, it, draw) {
  const isInForce = it.kind !== 'warning' && !it.lifted_at && !(it.until && Date.parse(it.until) <= Date.now());
  const end = () => {
    const where = it.forum_id ? `?forum=${it.forum_id}` : '';
    site.call('DELETE', `/users/${person.id}/${it.kind}${where}`).then(draw, (error) => toast(sayProblem(error)));
  };
  const until = it.lifted_at
    ? say('order.lifted', { at: moment(new Date(it.lifted_at)) })
    : it.until && say('order.until', { at: moment(new Date(it.until)) });
  return entryRow({
    who: site.displayName(it.created_by),
    words: say(`order.was.${it.kind}`),
    reason: it.reason,
    at: it.created_at,
    more: until,
    end: isInForce && button(say(`order.end.${it.kind}`), { on: end }),
  });
}
