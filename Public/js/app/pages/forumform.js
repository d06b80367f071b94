// A new forum, and the same form for an existing one. `forum/form` has a file for each part of it.

import { el } from '../core/dom.js';
import { forumAddress } from '../core/router.js';
import { say, sayProblem } from '../core/text/text.js';
import { forumIcon } from '../core/titles.js';
import { accessFields } from '../forum/form/access.js';
import { behaviorFields } from '../forum/form/behavior.js';
import { iconFields } from '../forum/form/icon.js';
import { nameFields } from '../forum/form/names.js';
import { canEdit, canManage } from '../forum/membership.js';
import { Problem } from '../../parley/problem.js';
import { button, whileBusy } from '../parts/forms/button.js';
import { pageBar } from '../parts/navigation/sidebar.js';

export function open(shell) {
  return form(shell, null);
}

export function edit(shell, forum) {
  if (!canManage(shell.site, forum)) throw new Problem({ code: 'forbidden' });
  return form(shell, forum);
}

function form(shell, forum) {
  const { site } = shell;
  // Moderators may change slow mode and the lock only.
  const isWhole = !forum || canEdit(site, forum);
  const { title, ...names } = nameFields(site, forum, () => draw());
  const access = accessFields(site, forum);
  const behavior = forum && behaviorFields(forum, isWhole, site.isStaff);
  const shownNames = () => ({ title: title.input.value, description: names.fields.description.input.value });
  const icon = iconFields(site, forum, shownNames, () => draw());
  const errors = errorsOf({ ...names.fields, ...behavior?.fields }, icon.fields);
  const save = button(say(forum ? 'act.save' : 'forum.create'), { kind: 'primary', type: 'submit' });

  function draw() {
    icon.draw();
    save.disabled = !title.input.value.trim() || !icon.isValid();
  }

  const values = async () => ({
    ...(isWhole ? { ...names.values(), ...access.values(), ...(await icon.values()) } : {}),
    ...behavior?.values(),
  });
  const store = storing(site, forum);
  const submit = async (event) => {
    event.preventDefault();
    if (save.disabled) return;
    errors.clear();
    await whileBusy(save, async () => {
      const go = shell.fromHere();
      try {
        const stored = await store(await values());
        if (icon.upload.file || forum) await fetch(forumIcon(stored), { cache: 'reload' }).catch(() => {});
        site.keepForum(stored);
        go(forumAddress(stored, forum ? 'about' : 'room'), { replace: true });
      } catch (error) {
        await store.failed(error);
        errors.show(error);
      }
    });
    draw();
  };
  draw();
  const back = () => shell.router.back('/forums');
  return {
    title: forum ? forum.title : say('act.newForum'),
    here: forum ? forumAddress(forum) : '/forums',
    keepsFocus: true,
    node: [
      pageBar(forum ? say('forum.edit') : say('act.newForum'), { back, state: site.state }),
      el(
        'div.page-body',
        null,
        el(
          'form.page-column',
          // The server validates the address.
          { novalidate: true, on: { submit } },
          errors.node,
          isWhole && [names.nodes, access.nodes],
          behavior?.nodes,
          isWhole && icon.nodes,
          el('div.form-foot', null, save, button(say('act.cancel'), { on: back })),
        ),
      ),
    ],
    shown: () => (isWhole ? title : behavior.slow).input.focus(),
    isWriting: () => !!title.input.value,
  };
}

/** Creates or updates the forum; returns it as stored. */
function storing(site, forum) {
  const clientID = crypto.randomUUID();
  let revision = forum?.revision;
  const store = (values) =>
    forum
      ? site.call('PATCH', `/forums/${forum.id}`, { body: { ...values, if_revision: revision } })
      : site.call('POST', '/forums', { body: { ...values, client_id: clientID } });
  /** A conflict is shown, so saving again overwrites the others' changes. */
  const failed = async (error) => {
    if (!forum || error.code !== 'conflict') return;
    try {
      ({ revision } = site.keepForum(await site.call('GET', `/forums/${forum.id}`)));
    } catch {
      // The revision stays, and so does the conflict.
    }
  };
  return Object.assign(store, { failed });
}

/** Shows errors at their fields, others above the form. `own` fields clear their errors themselves. */
function errorsOf(fields, own) {
  const node = el('p.form-fault', { role: 'alert', tabindex: '-1', hidden: true });
  return {
    node,
    clear() {
      node.hidden = true;
      for (const field of Object.values(fields)) field.setFault(null);
    },
    show(error) {
      const field = { ...fields, ...own }[error.errors?.[0]?.field];
      if (field?.isConnected) {
        field.setFault(sayProblem(error));
        return field.input.focus();
      }
      node.hidden = false;
      node.textContent = sayProblem(error);
      return node.focus();
    },
  };
}
