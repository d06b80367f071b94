// Moderation of a user: ban, silence, warn, remove messages, each with a reason and a duration; and the list of sanctions.

import { el, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { button } from '../parts/forms/button.js';
import { ask, dialog } from '../parts/overlays/dialog.js';
import { entryRow } from '../parts/lists/entry.js';
import { choice } from '../parts/forms/field.js';
import { toast } from '../parts/overlays/toast.js';
import { report } from '../account/security/stepup.js';
import { say, sayProblem } from '../core/text/text.js';
import { moment } from '../core/text/times.js';
import { banDialog } from './ban.js';
import { countMessages, durations, reasonField, startOf, starts, until } from './sanctionform.js';

/** Menu items for a user's page. Calls `changed` after an action. */
export function sanctionItems(shell, user, changed) {
  const { site } = shell;
  const impose = sanctionsFor(site, user, changed);
  return [
    { words: say('moderation.warn'), picture: 'flag', on: impose.warn },
    { words: say('moderation.silence'), picture: 'bell-off', on: impose.silence },
    { words: say('moderation.ban'), picture: 'lock', danger: true, on: impose.ban },
    { words: say('moderation.remove'), picture: 'delete', danger: true, on: impose.remove },
  ];
}

/**
 * The dialogs about a user.
 * @param {string} [forum] the forum of a silence and of removals; without it the whole site
 */
export function sanctionsFor(site, user, changed = () => {}, forum = null) {
  const path = `/users/${user.id}`;
  const decide = async (work, words, undo, n) => {
    try {
      const made = await work();
      changed();
      toast(say(words, { name: displayName(user), n }), undo && { undo: () => undo(made).then(changed, (error) => toast(sayProblem(error))) });
      return true;
    } catch (error) {
      report(error);
      return false;
    }
  };
  const silence = async () => {
    const reason = reasonField(user);
    const span = choice(say('moderation.howLong'), durations(), { value: 'day' });
    const chosen = await ask(
      say('moderation.silenceTitle', { name: displayName(user) }),
      Object.assign(
        el('div', null, el('p.second.dialog-lead', null, say(forum ? 'moderation.silenceHere' : 'moderation.silenceSentence')), span, reason),
        { input: span.input },
      ),
      say('moderation.silence'),
    );
    if (!chosen) return false;
    const because = reason.input.value.trim();
    const end = until(chosen);
    const body = { ...(forum ? { forum } : {}), ...(end ? { until: end } : {}), ...(because ? { reason: because } : {}) };
    return decide(
      () => site.call('PUT', `${path}/silence`, { body }),
      'moderation.silenceDone',
      () => site.call('DELETE', `${path}/silence`, { query: forum ? { forum } : {} }),
    );
  };
  const warn = async () => {
    const reason = await ask(say('moderation.warnTitle', { name: displayName(user) }), reasonField(user, true), say('moderation.warn'));
    if (!reason) return false;
    return decide(() => site.call('POST', `${path}/warn`, { body: { reason, client_id: crypto.randomUUID() } }), 'moderation.warnDone');
  };
  return {
    warn,
    silence,
    ban: () => banDialog(site, user, { changed }),
    remove: () => removeAll(site, user, decide, forum),
  };
}

/** Removes a user's messages since a time. The button shows their number. */
async function removeAll(site, user, decide, forum) {
  const reason = reasonField(user);
  const verb = button(say('moderation.removeNone'), { kind: 'danger', disabled: true, on: () => node.close('yes') });
  let since = null;
  let found = 0;
  const count = async () => {
    const asked = (since = startOf(span.input.value));
    verb.disabled = true;
    const { n, isMore } = await countMessages(site, user, asked, forum);
    if (since !== asked) return;
    found = n;
    verb.disabled = n === 0;
    verb.lastChild.textContent = say(isMore ? 'moderation.removeMore' : n ? 'moderation.removeVerb' : 'moderation.removeNone', { n });
  };
  const look = () => count().catch((error) => toast(sayProblem(error)));
  const span = choice(
    say('moderation.since'),
    starts(),
    { value: 'day', on: look },
  );
  const node = dialog(
    say('moderation.removeTitle', { name: displayName(user) }),
    [el('p.second.dialog-lead', null, say('moderation.removeSentence')), span, reason],
    {
      actions: [button(say('act.cancel'), { on: () => node.close() }), verb],
      onClose: (value) => {
        if (value !== 'yes') return;
        const because = reason.input.value.trim();
        const body = { author: user.id, ...(forum ? { forum } : {}), since, client_id: crypto.randomUUID(), ...(because ? { reason: because } : {}) };
        decide(() => site.call('POST', '/removals', { body }), 'moderation.removeDone', (made) => site.call('DELETE', `/removals/${made.id}`), found);
      },
    },
  );
  span.input.focus();
  look();
}

/** The sanctions of a user, newest first; active ones can be lifted. `loaded`: resolves when they are shown. */
export function decisions(site, user) {
  const node = el('section', { hidden: true, aria: { label: say('moderation.decided') } });
  const draw = async () => {
    const { data } = await site.call('GET', `/users/${user.id}/sanctions`, { query: { limit: 50 } });
    node.hidden = !data.length;
    refill(
      node,
      el('h2.section-title', null, say('moderation.decided')),
      el('ul.setting-list', null, data.map((it) => decision(site, user, it, draw))),
    );
  };
  const again = () => draw().catch(() => {});
  return Object.assign(node, { again, loaded: again() });
}

function decision(site, user, it, draw) {
  const isInForce = it.kind !== 'warning' && !it.lifted_at && !(it.until && Date.parse(it.until) <= Date.now());
  const end = () => {
    const where = it.forum_id ? `?forum=${it.forum_id}` : '';
    site.call('DELETE', `/users/${user.id}/${it.kind}${where}`).then(draw, (error) => toast(sayProblem(error)));
  };
  const until = it.lifted_at
    ? say('moderation.lifted', { at: moment(new Date(it.lifted_at)) })
    : it.until && say('moderation.until', { at: moment(new Date(it.until)) });
  return entryRow({
    who: site.displayName(it.created_by),
    words: say(`moderation.was.${it.kind}`),
    reason: it.reason,
    at: it.created_at,
    more: until,
    end: isInForce && button(say(`moderation.end.${it.kind}`), { on: end }),
  });
}
