// A new forum, and the same form for one that exists. The tile shows how it will look while one types.

import { el, refill } from '../core/dom.js';
import { iconOf } from '../core/identicons.js';
import { Problem } from '../../parley/problem.js';
import { canManage, canEdit } from '../forum/membership.js';
import { button, whileBusy } from '../parts/button.js';
import { choice, field } from '../parts/field.js';
import { toggle } from '../parts/switch.js';
import { pictureField } from '../parts/picture.js';
import { pageBar } from '../parts/sidebar.js';
import { tile } from '../parts/tile.js';
import { forumAddress } from '../core/router.js';
import { forumIcon } from '../core/titles.js';
import { say, sayProblem } from '../core/text.js';

/** Boolean fields with a switch of their own, in the order of the form. */
const SWITCHES = ['solvable', 'shows_revisions'];

export function open(shell) {
  return form(shell, null);
}

export function edit(shell, forum) {
  if (!canManage(shell.site, forum)) throw new Problem({ code: 'forbidden' });
  return form(shell, forum);
}

function form(shell, forum) {
  const { site } = shell;
  const { limits } = site.server;
  // Moderators may change slow mode and the lock only.
  const isWhole = !forum || canEdit(site, forum);
  const clientID = crypto.randomUUID();
  let revision = forum?.revision;
  const sections = [...new Set([...site.forums.values()].map((it) => it.section).filter(Boolean))];
  const listID = 'known-sections';
  const title = field(say('forum.title'), {
    value: forum?.title,
    required: true,
    limit: limits.title_scalars,
    on: { input: () => draw() },
  });
  const description = field(say('forum.description'), {
    value: forum?.description,
    lines: 2,
    hint: say('forum.descriptionHint'),
    limit: limits.description_scalars,
    on: { input: () => draw() },
  });
  const icon = field(say('forum.icon'), {
    value: forum?.icon_url ?? '',
    type: 'url',
    hint: say('forum.iconHint'),
    placeholder: 'https://',
    on: {
      input: () => {
        own.forget();
        check();
      },
    },
  });
  const own = pictureField(say('forum.ownPicture'), {
    maxBytes: limits.file_bytes,
    on: (address) => {
      if (address) {
        icon.input.value = '';
        check();
      }
      draw();
    },
  });
  const section = field(say('forum.section'), {
    value: forum?.section ?? '',
    hint: say('forum.sectionHint'),
    limit: 64,
  });
  section.input.setAttribute('list', listID);
  const visibility = choice(
    say('forum.visibility'),
    ['members', 'public', 'private'].map((it) => [it, say(`forum.visibility.${it}`)]),
    { value: forum?.visibility ?? 'members' },
  );
  const circle = (name, hint) =>
    choice(
      say(`forum.${name}`),
      ['readers', 'members', 'moderators'].map((it) => [it, say(`forum.circle.${it}`)]),
      { value: forum?.[name] ?? 'readers', hint },
    );
  const [write, start] = [circle('write'), circle('start_topics')];
  const pauses = [...new Set([0, 10, 60, 600, forum?.slow_seconds ?? 0])].sort((a, b) => a - b);
  const slow = choice(
    say('forum.slow'),
    pauses.map((it) => [String(it), it ? say('forum.slowSeconds', { n: it }) : say('forum.slowNone')]),
    { value: String(forum?.slow_seconds ?? 0), hint: say('forum.slowHint') },
  );
  const is = (name) => toggle(say(`forum.${name}`), { checked: !!forum?.[name], hint: say(`forum.${name}Hint`) });
  const [locked, archived] = ['locked', 'archived'].map(is);
  const switches = SWITCHES.map((name) => [name, is(name)]);
  const ring = circle('room_mention', say('forum.ringHint'));
  const call = field(say('forum.callAddress'), {
    value: forum?.call_url ?? '',
    type: 'url',
    hint: say('forum.callHint'),
    placeholder: 'https://',
    limit: 2048,
  });
  /** Fields by the names that the server uses in errors. */
  const named = { title, description, section, icon_url: icon, call_url: call };
  const fault = el('p.door-fault', { role: 'alert', tabindex: '-1', hidden: true });
  const save = button(say(forum ? 'act.save' : 'forum.create'), { kind: 'primary', type: 'submit' });
  const look = el('div.forum-preview');
  let picture = forum ? forumIcon(forum) : null;
  let isPicture = true;

  function draw() {
    refill(
      look,
      tile(
        {
          title: title.input.value || say('forum.title'),
          description: description.input.value,
          icon: own.address ?? picture ?? iconOf(title.input.value.trim()),
        },
        { href: '#', creator: site.me },
      ),
    );
    look.firstChild.inert = true;
    save.disabled = !title.input.value.trim() || !isPicture;
  }

  /** The address has to be a picture that loads before one can go on. */
  let timer = null;
  function check() {
    clearTimeout(timer);
    const address = icon.input.value.trim();
    icon.setFault(null);
    picture = address ? picture : null;
    isPicture = !address || address === forum?.icon_url;
    draw();
    if (isPicture) return;
    timer = setTimeout(async () => {
      const isGood = await isImage(site, address);
      if (address !== icon.input.value.trim()) return;
      isPicture = isGood;
      icon.setFault(isGood ? null : say('forum.iconBad'));
      draw();
    }, 400);
  }

  /** An uploaded icon wins over an address; entering an address removes the upload. */
  const iconFile = async (address) => {
    if (own.file) return { icon_file: await own.send(site.client) };
    return address && forum?.icon_file ? { icon_file: null } : {};
  };

  const submit = async (event) => {
    event.preventDefault();
    if (save.disabled) return;
    fault.hidden = true;
    for (const it of [title, description, section, call]) it.setFault(null);
    await whileBusy(save, async () => {
      const go = shell.fromHere();
      try {
        const address = icon.input.value.trim();
        const body = isWhole ? await said(address) : {};
        if (forum) Object.assign(body, { slow_seconds: Number(slow.input.value), locked: locked.input.checked });
        const kept = forum
          ? await site.call('PATCH', `/forums/${forum.id}`, { body: { ...body, if_revision: revision } })
          : await site.call('POST', '/forums', { body: { ...body, client_id: clientID } });
        if (own.file || forum) await fetch(forumIcon(kept), { cache: 'reload' }).catch(() => {});
        site.keepForum(kept);
        go(forumAddress(kept, forum ? 'about' : 'room'), { replace: true });
      } catch (error) {
        // The conflict was shown, so saving again overwrites the others' changes.
        if (forum && error.code === 'conflict') revision = await revisionOf(forum) ?? revision;
        refused(error);
      }
    });
    draw();
  };

  /** All values of the form except those for moderators. */
  const said = async (address) => ({
    title: title.input.value.trim(),
    description: description.input.value.trim(),
    visibility: visibility.input.value,
    write: write.input.value,
    start_topics: start.input.value,
    ...(forum
      ? {
          room_mention: ring.input.value,
          archived: archived.input.checked,
          ...Object.fromEntries(switches.map(([name, { input }]) => [name, input.checked])),
          call_url: asBrowsersSayIt(call.input.value.trim()),
        }
      : {}),
    ...(site.isHost && (section.input.value.trim() || forum) ? { section: section.input.value.trim() || null } : {}),
    ...(address || forum?.icon_url ? { icon_url: address || null } : {}),
    ...(await iconFile(address)),
  });

  const revisionOf = ({ id }) =>
    site.call('GET', `/forums/${id}`).then(
      (it) => site.keepForum(it).revision,
      () => null,
    );

  /** Shows errors at their fields, others above the form. */
  const refused = (error) => {
    const its = named[error.errors?.[0]?.field];
    if (its?.isConnected) {
      its.setFault(sayProblem(error));
      return its.input.focus();
    }
    fault.hidden = false;
    fault.textContent = sayProblem(error);
    return fault.focus();
  };
  draw();
  return {
    title: forum ? forum.title : say('act.newForum'),
    here: forum ? forumAddress(forum) : '/forums',
    keepsFocus: true,
    node: [
      pageBar(forum ? say('forum.edit') : say('act.newForum'), {
        back: () => shell.router.back('/forums'),
        state: site.state,
      }),
      el(
        'div.page-body',
        null,
        el(
          'form.page-column',
          // The server validates the address.
          { novalidate: true, on: { submit } },
          fault,
          isWhole && [
            title,
            description,
            site.isHost && [
              section,
              el(
                'datalist',
                { id: listID },
                sections.map((it) => el('option', { value: it })),
              ),
            ],
            visibility,
            write,
            start,
          ],
          forum && [isWhole && [ring, call], slow, isWhole && switches.map(([, node]) => node), locked],
          isWhole && [forum && archived, icon, own, el('p.field-label', null, say('forum.look')), look],
          el('div.form-foot', null, save, button(say('act.cancel'), { on: () => shell.router.back('/forums') })),
        ),
      ),
    ],
    shown: () => (isWhole ? title : slow).input.focus(),
    isWriting: () => !!title.input.value,
  };
}

/** Percent-encodes an address. An invalid one stays unchanged and is refused by the server. */
function asBrowsersSayIt(address) {
  return URL.canParse(address) ? new URL(address).href : address || null;
}

/** The server looks: this page may load pictures from nowhere else. */
async function isImage(site, address) {
  if (!/^https?:\/\//.test(address)) return false;
  try {
    const found = await site.call('POST', '/previews', { body: { url: address } });
    return found.image === true;
  } catch (error) {
    // Without that endpoint the server checks when the forum is made.
    return error.status === 404 || error.status === 405;
  }
}
