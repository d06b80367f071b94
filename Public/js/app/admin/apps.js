// The apps that people may connect: list, create, change, new secret, delete. Owners change them. A secret is shown once.

import { report } from '../account/security/stepup.js';
import { el, refill } from '../core/dom.js';
import { isolate, say } from '../core/text/text.js';
import { button } from '../parts/forms/button.js';
import { copyLine } from '../parts/forms/copyline.js';
import { confirm, dialog } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { choice, field } from '../parts/forms/field.js';
import { savingForm } from '../parts/forms/form.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { toggle } from '../parts/forms/switch.js';

const MAX_NAME = 64;
const SCOPES = ['profile', 'read', 'write', 'admin'];

/** Fills the column. */
export async function appsPage({ site }, column) {
  const isOwner = site.me?.role === 'owner';
  let settings = await site.call('GET', '/settings');
  const list = el('div.setting-list');
  const foot = el('div');
  const load = async (next) => {
    const page = await site.call('GET', '/apps', { query: { next } });
    const rows = page.data.map((it) => appRow(site, it, isOwner, load));
    if (next) list.append(...rows);
    else refill(list, rows.length ? rows : empty(say('apps.none'), { picture: 'forums' }));
    refill(foot, page.next && showMoreButton(() => load(page.next)));
  };
  const registration = toggle(say('change.app_registration'), { checked: settings.app_registration, hint: say('apps.registrationHint') });
  registration.input.disabled = !isOwner;
  registration.input.addEventListener('change', async () => {
    const { checked } = registration.input;
    const changed = await site.call('PATCH', '/settings', { body: { app_registration: checked } }).catch(report);
    settings = changed ?? settings;
    registration.input.checked = settings.app_registration;
  });
  const make = button(say('apps.make'), { kind: 'primary', picture: 'plus', on: () => newApp(site, load) });
  refill(
    column,
    el('p.second', null, say('apps.lead', { site: isolate(site.server.name) }), ' ', el('a', { href: '/docs/apps/' }, say('webhooks.docs'))),
    isOwner ? el('div.form-foot', null, make) : el('p.second', null, say('apps.ownersOnly')),
    list,
    foot,
    registration,
  );
  await load();
}

function appRow(site, app, isOwner, changed) {
  const name = isolate(app.name);
  const edit = button(say('act.edit'), { on: () => editApp(site, app, isOwner, changed) });
  edit.setAttribute('aria-label', say('webhooks.editOne', { name }));
  const facts = [
    !app.verified && say('apps.unverified'),
    say(`scope.${app.scope}`),
    isolate(app.redirect_uris[0] ?? ''),
    say('apps.users', { n: app.user_count }),
    !app.enabled && say('apps.off'),
  ];
  return el(
    'div.setting-row',
    null,
    el('span', null, el('span', null, name), el('span.second', null, facts.filter(Boolean).join(' · '))),
    edit,
  );
}

/** The fields of a new or an existing app. */
function fieldsOf(app = {}, isOwner = true) {
  const name = field(say('apps.name'), { value: app.name, required: true, limit: MAX_NAME, autocomplete: 'off' });
  const website = field(say('apps.website'), { value: app.website ?? '', type: 'url', autocomplete: 'off' });
  const uris = field(say('apps.uris'), { value: (app.redirect_uris ?? []).join('\n'), lines: 3, required: true, hint: say('apps.urisHint') });
  const scope = choice(say('apps.scope'), SCOPES.map((it) => [it, say(`scope.${it}`)]), { value: app.scope ?? 'write' });
  for (const it of [name, website, uris]) it.input.readOnly = !isOwner;
  scope.input.disabled = !isOwner;
  const body = () => ({
    name: name.input.value.trim(),
    website: website.input.value.trim() || null,
    redirect_uris: uris.input.value.split(/\s+/).filter(Boolean),
    scope: scope.input.value,
  });
  return { nodes: [name, website, uris, scope], body, first: name.input };
}

function newApp(site, changed) {
  // A repeated press creates no second app.
  const id = crypto.randomUUID();
  const fields = fieldsOf();
  const confidential = toggle(say('apps.confidential'), { hint: say('apps.confidentialHint') });
  const create = button(say('apps.create'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const { website, ...rest } = fields.body();
    const made = await site.call('POST', '/apps', {
      body: { client_id: id, ...rest, ...(website ? { website } : {}), confidential: confidential.input.checked },
    });
    node.close();
    // The secret is shown only once, also if the list can't be loaded.
    showCredentials(made, say('webhooks.made', { name: isolate(made.name) }));
    changed().catch(report);
  };
  const node = dialog(say('apps.make'), savingForm(create, { work }, ...fields.nodes, confidential));
  fields.first.focus();
}

/** A repeated request has no secret: its first answer was lost. */
function showCredentials({ id, secret, confidential }, title) {
  const lines = [
    copyLine(say('apps.id'), id, { copied: say('act.copied') }),
    secret && copyLine(say('endpoints.secret'), secret, { copied: say('act.copied') }),
  ];
  dialog(title, [confidential && el('p', null, say(secret ? 'apps.once' : 'apps.lost')), ...lines]);
  lines.findLast(Boolean).input.select();
}

function editApp(site, app, isOwner, changed) {
  const fields = fieldsOf(app, isOwner);
  const verified = toggle(say('apps.verified'), { checked: app.verified, hint: say('apps.verifiedHint') });
  const enabled = toggle(say('apps.enabled'), { checked: app.enabled, hint: say('apps.enabledHint') });
  verified.input.disabled = !isOwner;
  enabled.input.disabled = !isOwner && !app.enabled;
  const path = `/apps/${app.id}`;
  const done = () => {
    node.close();
    return changed().catch(report);
  };
  const save = button(say('act.save'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const body = { if_revision: app.revision };
    const values = { ...fields.body(), verified: verified.input.checked, enabled: enabled.input.checked };
    for (const [key, value] of Object.entries(values)) {
      if (JSON.stringify(value) !== JSON.stringify(app[key])) body[key] = value;
    }
    await site.call('PATCH', path, { body });
    await done();
  };
  const rotate = async () => {
    const title = say('endpoints.renew');
    if (!(await confirm(title, say('apps.renewSentence'), title))) return;
    const made = await site.call('POST', `${path}/secret`).catch(report);
    if (!made) return;
    await done();
    showCredentials(made, title);
  };
  const remove = async () => {
    const title = say('webhooks.deleteTitle', { name: isolate(app.name) });
    if (!(await confirm(title, say('apps.deleteSentence'), say('act.delete')))) return;
    await site.call('DELETE', path).then(done, report);
  };
  const node = dialog(isolate(app.name), [
    copyLine(say('apps.id'), app.id, { copied: say('act.copied') }),
    savingForm(save, { work }, ...fields.nodes, verified, enabled),
    isOwner &&
      el('div.form-foot', null, app.confidential && button(say('endpoints.renew'), { on: rotate }), button(say('act.delete'), { kind: 'danger', on: remove })),
  ]);
}
