// The rules of the staff about new posts: their list and form, with a trial on earlier messages.

import { el, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { say, sayProblem } from '../core/text/text.js';
import { button } from '../parts/forms/button.js';
import { empty } from '../parts/lists/empty.js';
import { dialog } from '../parts/overlays/dialog.js';
import { choice, field } from '../parts/forms/field.js';
import { toggle } from '../parts/forms/switch.js';
import { toast } from '../parts/overlays/toast.js';

const ACTIONS = ['hold', 'refuse', 'report'];
const LIMITS = { name: 100, mentions: 50, posts: 100 };

/** Fills `column` with the rules. */
export async function moderationRules(shell, column) {
  const { site } = shell;
  const { calls } = site.client;
  const draw = async () => {
    const { data } = await calls.listModerationRules({ query: { limit: 200 } });
    refill(
      column,
      el('p.second', null, say('rule.lead')),
      el('div.form-foot', null, button(say('rule.add'), { kind: 'primary', picture: 'plus', on: () => ruleDialog(site, null, draw) })),
      data.length
        ? el('div.setting-list', null, data.map((it) => ruleRow(site, it, draw)))
        : empty(say('rule.none'), { picture: 'check' }),
    );
  };
  await draw();
}

function ruleRow(site, rule, changed) {
  const facts = [say(`rule.action.${rule.action}`), !rule.enabled && say('rule.off')].filter(Boolean);
  return el(
    'div.setting-row',
    null,
    el('span', null, el('bdi', null, rule.name), el('span.second', null, facts.join(' · '))),
    button(say('rule.edit'), { on: () => ruleDialog(site, rule, changed) }),
  );
}

const lines = (input) => input.value.split('\n').map((it) => it.trim()).filter(Boolean);
const amount = (input) => Number(input.value) || 0;

function formOf(rule) {
  const number = (label, hint, value, max) => {
    const node = field(label, { hint, type: 'number', value: String(value ?? 0) });
    Object.assign(node.input, { min: 0, max });
    return node;
  };
  return {
    name: field(say('rule.name'), { value: rule?.name ?? '', required: true, limit: LIMITS.name }),
    words: field(say('rule.words'), { value: rule?.words.join('\n') ?? '', lines: 3, hint: say('rule.wordsHint') }),
    domains: field(say('rule.domains'), { value: rule?.domains.join('\n') ?? '', lines: 3, hint: say('rule.domainsHint') }),
    mentions: number(say('rule.minMentions'), say('rule.minMentionsHint'), rule?.min_mentions, LIMITS.mentions),
    posts: number(say('rule.firstPosts'), say('rule.firstPostsHint'), rule?.first_posts, LIMITS.posts),
    picture: toggle(say('rule.hasPicture'), { checked: rule?.has_picture ?? false }),
    action: choice(say('rule.action'), ACTIONS.map((it) => [it, say(`rule.action.${it}`)]), { value: rule?.action ?? 'hold' }),
    enabled: toggle(say('rule.enabled'), { checked: rule?.enabled ?? false }),
  };
}

const bodyOf = (form) => ({
  name: form.name.input.value.trim(),
  words: lines(form.words.input),
  domains: lines(form.domains.input),
  min_mentions: amount(form.mentions.input),
  first_posts: amount(form.posts.input),
  has_picture: form.picture.input.checked,
  action: form.action.input.value,
  enabled: form.enabled.input.checked,
});

/** @param {object | null} rule null for a new one */
function ruleDialog(site, rule, changed) {
  const { calls } = site.client;
  const form = formOf(rule);
  const fault = el('p.field-fault', { role: 'alert', hidden: true });
  const trial = el('div.rule-trial', { aria: { live: 'polite' } });
  const clientID = crypto.randomUUID();
  const attempt = async (work) => {
    fault.hidden = true;
    try {
      await work();
    } catch (error) {
      fault.hidden = false;
      fault.textContent = sayProblem(error);
    }
  };
  const done = async (words) => {
    node.close();
    toast(say(words));
    await changed();
  };
  const save = () => attempt(async () => {
    const body = bodyOf(form);
    if (rule) await calls.updateModerationRule({ id: rule.id, body: { ...body, if_revision: rule.revision } });
    else await calls.createModerationRule({ body: { ...body, client_id: clientID } });
    await done('rule.saved');
  });
  const remove = () => attempt(async () => {
    await calls.deleteModerationRule({ id: rule.id });
    await done('rule.deleted');
  });
  const look = () => attempt(async () => {
    const { name: _, ...conditions } = bodyOf(form);
    showTrial(site, trial, await calls.tryModerationRule({ body: conditions }));
  });
  const node = dialog(
    say(rule ? 'rule.edit' : 'rule.add'),
    [
      form.name, form.words, form.domains, form.mentions, form.posts, form.picture, form.action, form.enabled,
      el('div.form-foot', null, button(say('rule.try'), { on: look })),
      trial,
      fault,
    ],
    {
      actions: [
        rule && button(say('rule.delete'), { kind: 'danger', on: remove }),
        button(say('act.cancel'), { on: () => node.close() }),
        button(say('act.save'), { kind: 'primary', on: save }),
      ].filter(Boolean),
    },
  );
  form.name.input.focus();
}

/** Shows the messages that the rule would have matched. */
function showTrial(site, node, { examined, matched, matches }) {
  refill(
    node,
    el('p', null, say('rule.tried', { matched, n: examined })),
    el(
      'ul.setting-list',
      null,
      matches.map((it) => {
        const author = site.user(it.author_id);
        return el(
          'li.setting-row',
          null,
          el('a', { href: `/m/${it.message_id}` }, el('bdi', null, displayName(author)), ' ', el('span.second', { dir: 'auto' }, it.excerpt)),
        );
      }),
    ),
  );
}
