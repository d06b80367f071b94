// The groups of the site: the directory, where people join and leave, and for staff the groups and their members.

import { el, freshID, icon, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { keepFocus } from '../core/keepfocus.js';
import { isolate, say, sayProblem } from '../core/text/text.js';
import { button, whileBusy } from '../parts/forms/button.js';
import { confirm, dialog } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { choice, field } from '../parts/forms/field.js';
import { savingForm } from '../parts/forms/form.js';
import { groupBadge } from '../parts/user/groupbadge.js';
import { userRow } from '../parts/user/user.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { toggle } from '../parts/forms/switch.js';
import { toast } from '../parts/overlays/toast.js';
import { viewAs } from '../admin/viewas.js';

const MENTIONERS = ['members', 'users', 'staff'];

/** All groups, with a button for those that people choose. Fills the column. */
export async function groupDirectory({ site }, column) {
  const list = el('div.setting-list');
  const draw = async () => {
    const { groups } = await site.call('GET', '/settings');
    const me = await site.call('GET', '/me');
    refill(
      list,
      groups.length ? groups.map((it) => directoryRow(site, it, !!me.groups?.includes(it.id), draw)) : empty(say('groups.none'), { picture: 'users' }),
    );
  };
  refill(column, el('p.second', null, say('groups.directory')), list);
  await draw();
}

function directoryRow(site, group, isMember, changed) {
  const name = isolate(group.name);
  const work = async () => {
    const call = isMember ? 'removeUserGroupMember' : 'addUserGroupMember';
    try {
      await site.client.calls[call]({ id: group.id, user: 'me' });
      toast(say(isMember ? 'groups.left' : 'groups.joined', { name }));
      await changed();
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  const verb = button(say(isMember ? 'groups.leave' : 'groups.join'), {
    kind: isMember ? 'plain' : 'primary',
    on: () => whileBusy(verb, work),
  });
  verb.setAttribute('aria-label', say(isMember ? 'groups.leaveOne' : 'groups.joinOne', { name }));
  const mayChoose = group.self_chosen && site.me.role !== 'guest';
  return el(
    'div.user-line',
    null,
    el('div.user-row', null, groupBadge(group), el('span.second', null, isMember && say('groups.isMember'))),
    mayChoose && verb,
  );
}

/** The groups with their settings and members, for staff. Fills the column. */
export async function managedGroups({ site }, column) {
  const list = el('div.setting-list');
  const draw = async () => {
    const { groups } = await site.call('GET', '/settings');
    refill(
      list,
      groups.length ? groups.map((it) => managedRow(site, it, draw)) : empty(say('groups.none'), { picture: 'users' }),
    );
  };
  const make = button(say('groups.make'), { kind: 'primary', picture: 'plus', on: () => editGroup(site, null, draw) });
  const view = button(say('viewAs.open'), { picture: 'eye', on: () => viewAsOneOf(site) });
  refill(column, el('p.second', null, say('groups.lead')), el('div.form-foot', null, make, view), list);
  await draw();
}

function managedRow(site, group, changed) {
  return el(
    'button.setting-link',
    { type: 'button', on: { click: () => editGroup(site, group, changed) } },
    icon('users'),
    el('span', null, groupBadge(group)),
    group.self_chosen && el('span.second', null, say('groups.self_chosen')),
  );
}

function editGroup(site, group, changed) {
  // A repeated press creates no second group.
  const clientID = crypto.randomUUID();
  const name = field(say('groups.name'), { value: group?.name ?? '', required: true, limit: 64, hint: say('groups.nameHint'), autocomplete: 'off' });
  const hue = hueField(group?.hue ?? 260);
  const selfChosen = toggle(say('groups.self_chosen'), { checked: group?.self_chosen ?? false, hint: say('groups.selfChosenHint') });
  const mention = choice(
    say('groups.mentionable_by'),
    MENTIONERS.map((it) => [it, say(`groups.mention.${it}`)]),
    { value: group?.mentionable_by ?? 'members' },
  );
  const save = button(say(group ? 'act.save' : 'groups.create'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const fields = {
      name: name.input.value.trim().replace(/^@/, ''),
      hue: Number(hue.input.value),
      self_chosen: selfChosen.input.checked,
      mentionable_by: mention.input.value,
    };
    if (group) await site.client.calls.updateUserGroup({ id: group.id, body: fields });
    else await site.client.calls.createUserGroup({ body: { ...fields, client_id: clientID } });
    node.close();
    await changed();
  };
  const node = dialog(group ? group.name : say('groups.make'), [
    savingForm(save, { work }, name, hue, selfChosen, mention),
    group && button(say('viewAs.open'), { picture: 'eye', on: () => viewAsOneOf(site, group.id) }),
    group && membersOf(site, group),
    group && button(say('groups.delete'), { kind: 'danger', on: () => deleteGroup(site, group, () => (node.close(), changed())) }),
  ]);
  name.input.focus();
}

async function viewAsOneOf(site, group) {
  try {
    const { groups } = await site.call('GET', '/settings');
    viewAs(site, groups, group);
  } catch (error) {
    toast(sayProblem(error));
  }
}

async function deleteGroup(site, group, changed) {
  if (!(await confirm(say('groups.deleteTitle', { name: isolate(group.name) }), say('groups.deleteLead'), say('groups.delete')))) return;
  try {
    await site.client.calls.deleteUserGroup({ id: group.id });
    await changed();
  } catch (error) {
    toast(sayProblem(error));
  }
}

/** The members, and a field that adds one. */
function membersOf(site, group) {
  const list = el('div.setting-list');
  keepFocus(list);
  const foot = el('div');
  const report = (error) => toast(sayProblem(error));
  const load = async (next) => {
    const page = await site.client.calls.listUserGroupMembers({ id: group.id, query: { next } });
    const rows = page.data.map((it) => memberRow(site, group, it, () => load().catch(report)));
    if (next) list.append(...rows);
    else refill(list, rows.length ? rows : el('p.second', null, say('groups.noMembers')));
    refill(foot, page.next && showMoreButton(() => load(page.next)));
  };
  load().catch(report);
  const name = field(say('signIn.name'), { required: true, limit: 65, autocomplete: 'off' });
  const add = button(say('groups.add'), { type: 'submit' });
  const work = async () => {
    await site.client.calls.addUserGroupMember({ id: group.id, user: `@${name.input.value.trim().replace(/^@/, '')}` });
    name.input.value = '';
    await load();
  };
  return [el('h3.section-title', null, say('groups.members')), savingForm(add, { work }, name), list, foot];
}

function memberRow(site, group, user, changed) {
  const remove = button(say('groups.remove'), {
    on: () =>
      whileBusy(remove, async () => {
        try {
          await site.client.calls.removeUserGroupMember({ id: group.id, user: user.id });
          changed();
        } catch (error) {
          toast(sayProblem(error));
        }
      }),
  });
  remove.setAttribute('aria-label', say('groups.removeOne', { name: isolate(displayName(user)) }));
  return userRow(user, { href: `/u/${encodeURIComponent(user.name)}`, end: remove });
}

/** A slider that shows its colour at once. */
function hueField(value) {
  const id = freshID('hue');
  const shown = el('span');
  const input = el('input', { type: 'range', min: 0, max: 359, value: String(value), id });
  const draw = () => refill(shown, groupBadge({ name: '', hue: Number(input.value) }));
  input.addEventListener('input', draw);
  draw();
  const node = el('div.field', null, el('label.field-label', { for: id }, say('groups.hue')), el('div.hue', null, shown, input));
  return Object.assign(node, { input });
}
