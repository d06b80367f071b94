// The outgoing webhooks of the site: list, create, change, new secret, deliveries, delete. For staff. A secret is shown once.

import { el, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { isolate, say, sayProblem } from '../core/text/text.js';
import { moment } from '../core/text/times.js';
import { button } from '../parts/forms/button.js';
import { copyLine } from '../parts/forms/copyline.js';
import { confirm, dialog } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { choice, field } from '../parts/forms/field.js';
import { savingForm } from '../parts/forms/form.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { toggle } from '../parts/forms/switch.js';
import { toast } from '../parts/overlays/toast.js';

const MAX_NAME = 64;
const MESSAGES = ['message.created', 'message.edited', 'message.deleted', 'message.restored'];
const report = (error) => toast(sayProblem(error));

/** Fills the column. */
export async function endpointsPage({ site }, column) {
  const { calls } = site.client;
  const forums = (await calls.listForums({ query: { limit: 200 } })).data;
  const list = el('div.setting-list');
  const foot = el('div');
  const load = async (next) => {
    const page = await calls.listWebhookEndpoints({ query: { include: 'users', next } });
    const users = new Map(page.included.users.map((it) => [it.id, it]));
    const rows = page.data.map((it) => endpointRow(site, it, users, load));
    if (next) list.append(...rows);
    else refill(list, rows.length ? rows : empty(say('endpoints.none'), { picture: 'send' }));
    refill(foot, page.next && showMoreButton(() => load(page.next)));
  };
  const make = button(say('endpoints.make'), { kind: 'primary', picture: 'plus', on: () => createEndpoint(site, forums, load) });
  refill(
    column,
    el('p.second', null, say('endpoints.lead'), ' ', el('a', { href: '/docs/webhooks/' }, say('webhooks.docs'))),
    el('div.form-foot', null, make),
    list,
    foot,
  );
  await load();
}

function stateOf(endpoint) {
  if (!endpoint.enabled) return say(`endpoints.off.${endpoint.disabled_reason}`);
  if (endpoint.failing_since) return say('endpoints.failing', { at: moment(new Date(endpoint.failing_since)) });
  return endpoint.last_delivered_at ? moment(new Date(endpoint.last_delivered_at)) : say('tokens.unused');
}

function endpointRow(site, endpoint, users, changed) {
  const owner = users.get(endpoint.owner_id);
  const edit = button(say('act.edit'), { on: () => editEndpoint(site, endpoint, changed) });
  edit.setAttribute('aria-label', say('webhooks.editOne', { name: isolate(endpoint.name) }));
  const facts = [isolate(endpoint.url), owner && say('bots.owner', { who: isolate(displayName(owner)) }), stateOf(endpoint)];
  return el(
    'div.setting-row',
    null,
    el('span', null, el('span', { dir: 'auto' }, endpoint.name), el('span.second', null, facts.filter(Boolean).join(' · '))),
    edit,
  );
}

async function createEndpoint(site, forums, changed) {
  // A repeated press creates no second endpoint.
  const id = crypto.randomUUID();
  const name = field(say('webhooks.name'), { required: true, limit: MAX_NAME, autocomplete: 'off' });
  const url = field(say('webhooks.url'), { type: 'url', required: true, limit: 2048, hint: say('endpoints.urlHint'), autocomplete: 'off' });
  const topic = choice(say('endpoints.topic'), [...forums.map((it) => [`forum:${it.id}/messages`, it.title]), ['me', say('endpoints.me')]]);
  const events = choice(say('endpoints.events'), [['messages', say('endpoints.messages')], ['all', say('endpoints.all')]]);
  const create = button(say('endpoints.create'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const body = {
      client_id: id,
      name: name.input.value.trim(),
      url: url.input.value.trim(),
      topics: [topic.input.value],
      events: events.input.value === 'messages' ? MESSAGES : [],
    };
    const made = await site.call('POST', '/webhook-endpoints', { body });
    node.close();
    // The secret is shown only once, also if the list can't be loaded.
    showSecret(made, say('webhooks.made', { name: isolate(made.name) }));
    changed().catch(report);
  };
  const node = dialog(say('endpoints.make'), savingForm(create, { work }, name, url, topic, events));
  name.input.focus();
}

/** A repeated request has no secret: its first answer was lost. */
function showSecret({ secret }, title) {
  const line = secret && copyLine(say('endpoints.secret'), secret, { copied: say('act.copied') });
  dialog(title, [el('p', null, say(secret ? 'endpoints.once' : 'endpoints.lost')), line]);
  line?.input.select();
}

function editEndpoint(site, endpoint, changed) {
  const { calls } = site.client;
  const isMine = endpoint.owner_id === site.me?.id;
  const name = field(say('webhooks.name'), { value: endpoint.name, required: true, limit: MAX_NAME, autocomplete: 'off' });
  const url = field(say('webhooks.url'), { value: endpoint.url, type: 'url', required: true, limit: 2048, autocomplete: 'off' });
  for (const it of [name, url]) it.input.readOnly = !isMine;
  const enabled = toggle(say('endpoints.enabled'), { checked: endpoint.enabled });
  enabled.input.disabled = !isMine && !endpoint.enabled;
  const done = () => {
    node.close();
    return changed().catch(report);
  };
  const save = button(say('act.save'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const body = { enabled: enabled.input.checked, if_revision: endpoint.revision };
    // The URL is sent only if it changed: the server checks it, and would refuse to disable an endpoint while requests are off.
    for (const [key, it] of Object.entries({ name, url })) {
      const value = it.input.value.trim();
      if (isMine && value !== endpoint[key]) body[key] = value;
    }
    await site.call('PATCH', `/webhook-endpoints/${endpoint.id}`, { body });
    await done();
  };
  const rotate = async () => {
    const title = say('endpoints.renew');
    if (!(await confirm(title, say('endpoints.renewSentence'), title))) return;
    const made = await site.call('POST', `/webhook-endpoints/${endpoint.id}/secret`).catch(report);
    if (!made) return;
    await done();
    showSecret(made, title);
  };
  const remove = async () => {
    const title = say('webhooks.deleteTitle', { name: isolate(endpoint.name) });
    if (!(await confirm(title, say('endpoints.deleteSentence'), say('act.delete')))) return;
    await calls.deleteWebhookEndpoint({ id: endpoint.id }).then(done, report);
  };
  const buttons = [
    isMine && button(say('endpoints.deliveries'), { on: () => showDeliveries(site, endpoint).catch(report) }),
    isMine && button(say('endpoints.renew'), { on: rotate }),
    button(say('act.delete'), { kind: 'danger', on: remove }),
  ];
  const node = dialog(isolate(endpoint.name), [
    el('p.second', null, stateOf(endpoint)),
    savingForm(save, { work }, name, url, enabled),
    el('div.form-foot', null, buttons.filter(Boolean)),
  ]);
}

/** The log of an endpoint, newest first. */
async function showDeliveries(site, endpoint) {
  const list = el('div.setting-list');
  const foot = el('div');
  const load = async (next) => {
    const page = await site.client.calls.listWebhookDeliveries({ id: endpoint.id, query: { next } });
    const rows = page.data.map((it) => deliveryRow(site, endpoint, it, () => load()));
    if (next) list.append(...rows);
    else refill(list, rows.length ? rows : empty(say('endpoints.noDeliveries'), { picture: 'clock' }));
    refill(foot, page.next && showMoreButton(() => load(page.next)));
  };
  await load();
  dialog(say('endpoints.deliveries'), [list, foot]);
}

function deliveryRow(site, endpoint, delivery, changed) {
  const facts = [say(`endpoints.state.${delivery.state}`), delivery.status ?? (delivery.error && say(`endpoints.error.${delivery.error}`)), moment(new Date(delivery.at))];
  const again = () =>
    site.client.calls.redeliverWebhook({ id: endpoint.id, delivery: delivery.id }).then(() => changed(), report);
  return el(
    'div.setting-row',
    null,
    el('span', null, el('span', { dir: 'ltr' }, delivery.type), el('span.second', null, facts.filter(Boolean).join(' · '))),
    endpoint.enabled && delivery.event_id && delivery.state !== 'pending' && button(say('endpoints.redeliver'), { on: again }),
  );
}
