// The slash commands of the site: list, create, change, new secret, delete. For staff. A secret is shown once.

import { report } from '../account/security/stepup.js';
import { el, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { everyPage } from '../core/everypage.js';
import { isolate, say } from '../core/text/text.js';
import { button } from '../parts/forms/button.js';
import { copyLine } from '../parts/forms/copyline.js';
import { confirm, dialog } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { choice, field } from '../parts/forms/field.js';
import { savingForm } from '../parts/forms/form.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { toggle } from '../parts/forms/switch.js';

const MAX_NAME = 32;
const MAX_LINE = 100;

/** Sends a request. The name of a command has other rules than that of a user, and problems of its own. */
const ask = (site, ...request) =>
  site.call(...request).catch((error) => {
    for (const it of error.errors ?? []) if (it.field === 'name') it.field = 'command_name';
    throw error;
  });

/** Fills the column. */
export async function commandsPage({ site }, column) {
  const { calls } = site.client;
  const [forums, bots] = await Promise.all([
    everyPage((next) => calls.listForums({ query: { limit: 200, next } })),
    everyPage((next) => calls.listBots({ query: { limit: 200, next } })),
  ]);
  const choices = { forums, bots: bots.filter((it) => it.state === 'active') };
  const list = el('div.setting-list');
  const foot = el('div');
  const load = async (next) => {
    const page = await site.call('GET', '/commands', { query: { include: 'users', next } });
    const users = new Map(page.included.users.map((it) => [it.id, it]));
    const rows = page.data.map((it) => commandRow(site, it, users, choices, load));
    if (next) list.append(...rows);
    else refill(list, rows.length ? rows : empty(say('slash.none'), { picture: 'slash' }));
    refill(foot, page.next && showMoreButton(() => load(page.next)));
  };
  const make = button(say('slash.make'), { kind: 'primary', picture: 'plus', on: () => newCommand(site, choices, load) });
  refill(
    column,
    el('p.second', null, say(choices.bots.length ? 'slash.lead' : 'slash.noBots'), ' ', el('a', { href: '/docs/commands/' }, say('webhooks.docs'))),
    choices.bots.length > 0 && el('div.form-foot', null, make),
    list,
    foot,
  );
  await load();
}

function commandRow(site, command, users, choices, changed) {
  const [bot, owner] = [users.get(command.bot_id), users.get(command.owner_id)];
  const edit = button(say('act.edit'), { on: () => editCommand(site, command, choices, changed) });
  edit.setAttribute('aria-label', say('webhooks.editOne', { name: isolate(`/${command.name}`) }));
  const facts = [
    command.description && isolate(command.description),
    bot && isolate(displayName(bot)),
    isolate(command.url),
    owner && say('bots.owner', { who: isolate(displayName(owner)) }),
    command.enabled ? null : say(`endpoints.off.${command.disabled_reason}`),
  ];
  return el(
    'div.setting-row',
    null,
    el('span', null, el('span', { dir: 'ltr' }, `/${command.name}`), el('span.second', null, facts.filter(Boolean).join(' · '))),
    edit,
  );
}

/** The fields of a new or an existing command. */
function fieldsOf({ forums, bots }, command = {}, isMine = true) {
  const fields = {
    name: field(say('slash.name'), { value: command.name, required: true, limit: MAX_NAME, hint: say('slash.nameHint'), autocomplete: 'off' }),
    description: field(say('slash.description'), { value: command.description, limit: MAX_LINE, autocomplete: 'off' }),
    usage: field(say('slash.usage'), { value: command.usage, limit: MAX_LINE, hint: say('slash.usageHint'), autocomplete: 'off' }),
    url: field(say('webhooks.url'), { value: command.url, type: 'url', required: true, limit: 2048, hint: say('endpoints.urlHint'), autocomplete: 'off' }),
  };
  for (const it of Object.values(fields)) it.input.readOnly = !isMine;
  const bot = choice(say('slash.bot'), bots.map((it) => [it.id, displayName(it)]), { value: command.bot_id, hint: say('slash.botHint') });
  const forum = choice(say('slash.forum'), [['', say('slash.everywhere')], ...forums.map((it) => [it.id, it.title])], { value: command.forums?.[0] ?? '' });
  // Several forums are set by the API: they stay.
  const hasSeveral = (command.forums?.length ?? 0) > 1;
  bot.input.disabled = !isMine;
  forum.input.disabled = !isMine || hasSeveral;
  const body = () => ({
    ...Object.fromEntries(Object.entries(fields).map(([key, it]) => [key, it.input.value.trim()])),
    bot_id: bot.input.value,
    ...(hasSeveral ? {} : { forums: forum.input.value ? [forum.input.value] : null }),
  });
  return { nodes: [...Object.values(fields), bot, forum], body, first: fields.name.input };
}

function newCommand(site, choices, changed) {
  // A repeated press creates no second command.
  const id = crypto.randomUUID();
  const fields = fieldsOf(choices);
  const create = button(say('slash.create'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const { forums, ...rest } = fields.body();
    const made = await ask(site, 'POST', '/commands', { body: { client_id: id, ...rest, ...(forums ? { forums } : {}) } });
    node.close();
    // The secret is shown only once, also if the list can't be loaded.
    showSecret(made, say('webhooks.made', { name: isolate(`/${made.name}`) }));
    changed().catch(report);
  };
  const node = dialog(say('slash.make'), savingForm(create, { work }, ...fields.nodes));
  fields.first.focus();
}

/** A repeated request has no secret: its first answer was lost. */
function showSecret({ secret }, title) {
  const line = secret && copyLine(say('endpoints.secret'), secret, { copied: say('act.copied') });
  dialog(title, [el('p', null, say(secret ? 'endpoints.once' : 'slash.lost')), line]);
  line?.input.select();
}

function editCommand(site, command, choices, changed) {
  const isMine = command.owner_id === site.me?.id;
  const fields = fieldsOf(choices, command, isMine);
  const enabled = toggle(say('slash.enabled'), { checked: command.enabled });
  enabled.input.disabled = !isMine && !command.enabled;
  const path = `/commands/${command.id}`;
  const done = () => {
    node.close();
    return changed().catch(report);
  };
  const save = button(say('act.save'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const body = { enabled: enabled.input.checked, if_revision: command.revision };
    // The URL is sent only if it changed: the server checks it, and would refuse to disable a command while requests are off.
    for (const [key, value] of isMine ? Object.entries(fields.body()) : []) {
      if (JSON.stringify(value) !== JSON.stringify(command[key])) body[key] = value;
    }
    await ask(site, 'PATCH', path, { body });
    await done();
  };
  const rotate = async () => {
    const title = say('endpoints.renew');
    if (!(await confirm(title, say('endpoints.renewSentence'), title))) return;
    const made = await site.call('POST', `${path}/secret`).catch(report);
    if (!made) return;
    await done();
    showSecret(made, title);
  };
  const remove = async () => {
    const title = say('webhooks.deleteTitle', { name: isolate(`/${command.name}`) });
    if (!(await confirm(title, say('slash.deleteSentence'), say('act.delete')))) return;
    await site.call('DELETE', path).then(done, report);
  };
  const node = dialog(isolate(`/${command.name}`), [
    savingForm(save, { work }, ...fields.nodes, enabled),
    el('div.form-foot', null, isMine && button(say('endpoints.renew'), { on: rotate }), button(say('act.delete'), { kind: 'danger', on: remove })),
  ]);
}
