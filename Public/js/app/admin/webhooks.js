// The incoming webhooks of the site: list, create, change, new URL, delete. For staff. A URL is shown once.

import { report } from '../account/security/stepup.js';
import { el, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { everyPage } from '../core/everypage.js';
import { isolate, say } from '../core/text/text.js';
import { moment } from '../core/text/times.js';
import { button } from '../parts/forms/button.js';
import { copyLine } from '../parts/forms/copyline.js';
import { confirm, dialog } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { choice, field } from '../parts/forms/field.js';
import { savingForm } from '../parts/forms/form.js';
import { userRow } from '../parts/user/user.js';
import { pictureField } from '../parts/forms/picture.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { toggle } from '../parts/forms/switch.js';

const MAX_NAME = 64;

/** Fills the column. */
export async function webhooksPage({ site }, column) {
  const { calls } = site.client;
  const forums = await everyPage((next) => calls.listForums({ query: { limit: 200, next } }));
  const list = el('div.setting-list');
  const foot = el('div');
  const load = async (next) => {
    const page = await calls.listWebhooks({ query: { include: 'users', next } });
    const users = new Map(page.included.users.map((it) => [it.id, it]));
    const titles = await titlesOf(site, page.data, forums);
    const rows = page.data.map((it) => webhookRow(site, it, users, titles, load));
    if (next) list.append(...rows);
    else refill(list, rows.length ? rows : empty(say('webhooks.none'), { picture: 'link' }));
    refill(foot, page.next && showMoreButton(() => load(page.next)));
  };
  const make = button(say('webhooks.make'), { kind: 'primary', picture: 'plus', on: () => createWebhook(site, forums, load) });
  refill(
    column,
    el('p.second', null, say('webhooks.lead'), ' ', el('a', { href: '/docs/webhooks/' }, say('webhooks.docs'))),
    el('div.form-foot', null, make),
    list,
    foot,
  );
  await load();
}

/** The titles of conversations, as far as they can be read. Rooms have those of their forums. */
async function titlesOf(site, webhooks, forums) {
  const titles = new Map(forums.map((it) => [it.room_id, it.title]));
  const others = new Set(webhooks.map((it) => it.conversation_id).filter((id) => !titles.has(id)));
  const find = async (id) => titles.set(id, (await site.client.calls.getConversation({ id })).title);
  await Promise.all([...others].map((id) => find(id).catch((error) => isHidden(error) || report(error))));
  return titles;
}

const isHidden = (error) => error.status === 403 || error.status === 404;

function webhookRow(site, webhook, users, titles, changed) {
  const owner = users.get(webhook.owner_id);
  const title = titles.get(webhook.conversation_id);
  const edit = button(say('act.edit'), { on: () => editWebhook(site, webhook, changed) });
  edit.setAttribute('aria-label', say('webhooks.editOne', { name: isolate(webhook.name) }));
  const facts = [
    title ? isolate(title) : null,
    owner && say('bots.owner', { who: isolate(displayName(owner)) }),
    webhook.revoked ? say('webhooks.revoked') : webhook.enabled ? null : say('bots.inactive'),
    webhook.last_used_at ? moment(new Date(webhook.last_used_at)) : say('tokens.unused'),
  ];
  return userRow(users.get(webhook.bot_id) ?? { id: webhook.bot_id, name: null, display_name: webhook.name }, {
    href: `/c/${webhook.conversation_id}`,
    second: facts.filter(Boolean).join(' · '),
    end: edit,
  });
}

async function createWebhook(site, forums, changed) {
  // A repeated press creates no second webhook.
  const id = crypto.randomUUID();
  const name = field(say('webhooks.name'), { required: true, limit: MAX_NAME, hint: say('webhooks.nameHint'), autocomplete: 'off' });
  const forum = choice(say('webhooks.forum'), forums.map((it) => [it.id, it.title]), {
    on: () => showTopics().catch(reportTopics),
  });
  const conversation = choice(say('webhooks.conversation'), []);
  const picture = pictureField(say('webhooks.picture'), { maxBytes: site.server.limits.picture_bytes });
  const showTopics = async () => {
    const chosen = forums.find((it) => it.id === forum.input.value);
    const option = (value, words) => el('option', { value }, words);
    refill(conversation.input, chosen && option(chosen.room_id, say('forum.room')));
    const { data } = await site.client.calls.listTopics({ id: chosen?.id, query: { limit: 100 } });
    if (forum.input.value === chosen?.id) conversation.input.append(...data.map((it) => option(it.id, it.title)));
  };
  // Topics of a private forum of others are not listed.
  const reportTopics = (error) => isHidden(error) || report(error);
  // A repeated press sends the same picture, or the request would be another one.
  let sent = null;
  const create = button(say('webhooks.create'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const { file } = picture;
    if (file && file !== sent?.file) sent = { file, id: await picture.send(site.client) };
    const avatar = file ? sent.id : undefined;
    const made = await site.call('POST', '/webhooks', {
      body: { client_id: id, conversation_id: conversation.input.value, name: name.input.value.trim(), avatar },
    });
    node.close();
    // The URL is shown only once, also if the list can't be loaded.
    showURL(made, say('webhooks.made', { name: isolate(made.name) }));
    changed().catch(report);
  };
  const node = dialog(say('webhooks.make'), savingForm(create, { work }, name, forum, conversation, picture));
  name.input.focus();
  await showTopics().catch(reportTopics);
}

/** A repeated request has no URL: its first answer was lost. */
function showURL({ url }, title) {
  const line = url && copyLine(say('webhooks.url'), url, { copied: say('act.copied') });
  dialog(title, [el('p', null, say(url ? 'webhooks.once' : 'webhooks.lost')), line]);
  line?.input.select();
}

function editWebhook(site, webhook, changed) {
  const name = field(say('webhooks.name'), { value: webhook.name, required: true, limit: MAX_NAME, autocomplete: 'off' });
  const enabled = toggle(say('webhooks.enabled'), { checked: webhook.enabled });
  enabled.input.disabled = webhook.revoked;
  const done = () => {
    node.close();
    return changed().catch(report);
  };
  const save = button(say('act.save'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const body = { name: name.input.value.trim(), if_revision: webhook.revision };
    if (!webhook.revoked) body.enabled = enabled.input.checked;
    await site.client.calls.updateWebhook({ id: webhook.id, body });
    await done();
  };
  const rotate = async () => {
    const title = say('webhooks.renew');
    if (!webhook.revoked && !(await confirm(title, say('webhooks.renewSentence'), title))) return;
    const made = await site.call('POST', `/webhooks/${webhook.id}/secret`).catch(report);
    if (!made) return;
    await done();
    showURL(made, title);
  };
  const remove = async () => {
    const title = say('webhooks.deleteTitle', { name: isolate(webhook.name) });
    if (!(await confirm(title, say('webhooks.deleteSentence'), say('act.delete')))) return;
    await site.client.calls.deleteWebhook({ id: webhook.id }).then(done, report);
  };
  const node = dialog(
    isolate(webhook.name),
    [
      webhook.revoked && el('p', null, say('problem.secret_revoked')),
      savingForm(save, { work }, name, enabled),
      el('div.form-foot', null, button(say('webhooks.renew'), { on: rotate }), button(say('act.delete'), { kind: 'danger', on: remove })),
    ],
  );
}
