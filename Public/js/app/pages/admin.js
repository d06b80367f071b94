// The administration pages: overview, settings, invites, users, reports, backups, audit log.

import { el, icon, redraw, refill } from '../core/dom.js';
import { applyLook, rememberLook } from '../core/theme.js';
import { displayName } from '../core/displayname.js';
import { showMoreButton } from '../parts/showmore.js';
import { button } from '../parts/button.js';
import { empty } from '../parts/empty.js';
import { entryRow } from '../parts/entry.js';
import { choice, field } from '../parts/field.js';
import { savingForm } from '../parts/form.js';
import { toggle } from '../parts/switch.js';
import { messageElement } from '../parts/message.js';
import { personRow } from '../parts/person.js';
import { pictureField } from '../parts/picture.js';
import { reportCard } from '../parts/report.js';
import { pageBar } from '../parts/sidebar.js';
import { toast } from '../parts/toast.js';
import { ask } from '../parts/dialog.js';
import { backups, mayBackUp } from '../account/backups.js';
import { forumAddress } from '../core/router.js';
import { bytes, knows, say, sayProblem, sayWith } from '../core/text.js';
import { moment } from '../core/times.js';
import { settingLink } from './settings.js';

const parts = { settings, invites, forums, users, reports, backups, audit };
const pictures = { settings: 'settings', invites: 'link', forums: 'order', users: 'users', reports: 'flag', backups: 'download', audit: 'clock' };

export async function open(shell, { part }) {
  const { site } = shell;
  const mayLook = mayOpen(site)[part] ?? site.isModerator;
  if (!mayLook) return shell.faultPage({ code: 'not_found' });
  const column = el('div.page-column');
  const close = await (parts[part] ?? overview)(shell, column);
  return {
    close,
    title: say(part ? `admin.${part}` : 'admin.title'),
    here: '/you',
    node: [
      pageBar(say(part ? `admin.${part}` : 'admin.title'), {
        second: part ? null : site.server.name,
        back: () => shell.router.back(part ? '/admin' : '/you'),
        state: site.state,
      }),
      el('div.page-body', null, column),
    ],
  };
}

/** The parts that not all moderators may open. */
const mayOpen = (site) => ({ forums: site.isHost, backups: mayBackUp(site), invites: site.mayInvite || site.isModerator });

/** Redraws on each of these events, until the returned function is called. */
function followed(site, names, draw) {
  for (const name of names) site.addEventListener(name, draw);
  return () => names.forEach((name) => site.removeEventListener(name, draw));
}

/** How many; or in words that there are none. */
const counted = (key, none, n) => (n ? say(key, { n }) : say(none));

/** Answers that are unavailable have no line. */
const orNull = (promise) => promise.catch(() => null);

async function overview(shell, column) {
  const { site } = shell;
  const [waiting, reported, statistics] = await Promise.all([
    orNull(site.call('GET', '/users', { query: { state: 'pending', limit: 50 } })),
    orNull(site.call('GET', '/reports', { query: { state: 'open', limit: 50 } })),
    orNull(site.call('GET', '/statistics')),
  ]);
  const sentences = [
    (statistics || reported) && [
      '/admin/reports',
      'flag',
      counted('admin.reportsWait', 'report.none', statistics?.open_reports ?? reported.data.length),
    ],
    waiting?.data.length ? ['/admin/users', 'person', say('admin.peopleWait', { n: waiting.data.length })] : null,
    statistics && ['/admin/users', 'users', counted('admin.peopleHere', 'admin.nobodyHere', statistics.users.active_this_week)],
    statistics && [
      mayBackUp(site) ? '/admin/backups' : '/admin/settings',
      'download',
      statistics.last_backup
        ? say(statistics.last_backup.verified ? 'admin.backupChecked' : 'admin.backup', {
            at: moment(new Date(statistics.last_backup.at)),
          })
        : say('admin.noBackup'),
    ],
    statistics && [
      '/admin/settings',
      'file',
      statistics.storage.total_bytes
        ? say('admin.storage', {
            used: bytes(statistics.storage.folder_bytes),
            of: bytes(statistics.storage.total_bytes),
          })
        : say('admin.storageUsed', { used: bytes(statistics.storage.folder_bytes) }),
    ],
    ['/admin/settings', 'home', say(`admin.policy.${site.server.policy}`)],
    ['/admin/settings', 'check', say('admin.version', { version: site.server.version })],
  ].filter(Boolean);
  refill(
    column,
    el(
      'ul.setting-list',
      null,
      sentences.map(([href, picture, words]) =>
        el('li', null, el('a.setting-link', { href }, icon(picture), el('span', null, words))),
      ),
    ),
    el('h2.section-title', null, say('admin.manage')),
    el(
      'nav.setting-list',
      { aria: { label: say('admin.manage') } },
      Object.keys(parts)
        .filter((it) => mayOpen(site)[it] ?? true)
        .map((it) => settingLink(`/admin/${it}`, pictures[it], say(`admin.${it}`))),
    ),
  );
}

async function settings(shell, column) {
  const { site } = shell;
  let kept = await site.call('GET', '/settings');
  const name = field(say('setUp.name'), { value: kept.name, limit: 64, required: true });
  const welcome = field(say('admin.welcome'), { value: kept.welcome, lines: 3, hint: say('admin.welcomeHint') });
  const rules = field(say('door.rules'), { value: kept.rules, lines: 5, hint: say('admin.rulesHint') });
  const hue = el('input', {
    type: 'range',
    min: 0,
    max: 359,
    value: String(kept.hue),
    aria: { label: say('setUp.hue') },
  });
  hue.addEventListener('input', () => applyLook(site.me.preferences ?? {}, Number(hue.value)));
  const policy = choice(
    say('admin.registration'),
    ['open', 'approval', 'invite', 'closed'].map((it) => [it, say(`admin.registration.${it}`)]),
    { value: kept.registration },
  );
  const circle = (key, value) =>
    choice(
      say(key),
      ['users', 'moderators', 'staff'].map((it) => [it, say(`admin.circle.${it}`)]),
      { value },
    );
  const mayInvite = circle('admin.mayInvite', kept.may_invite);
  const mayCreate = circle('admin.mayCreate', kept.may_create_forums);
  const face = el('img.place-picture', { src: '/api/v1/icon', alt: '', width: 64, height: 64 });
  const picture = pictureField(say('admin.picture'), {
    maxBytes: site.server.limits.file_bytes,
    on: (address) => face.setAttribute('src', address ?? '/api/v1/icon'),
  });
  const discovery = toggle(say('admin.discovery'), { checked: kept.discovery, hint: say('admin.discoveryHint') });
  const engines = toggle(say('admin.searchEngines'), { checked: kept.search_engines, hint: say('admin.searchEnginesHint') });
  const save = button(say('act.save'), { kind: 'primary', type: 'submit', disabled: !site.isHost });
  const work = async () => {
    kept = await site.call('PATCH', '/settings', {
      body: {
        name: name.input.value.trim(),
        welcome: welcome.input.value,
        rules: rules.input.value,
        hue: Number(hue.value),
        ...(picture.file ? { icon_file: await picture.send(site.client) } : {}),
        registration: policy.input.value,
        may_invite: mayInvite.input.value,
        may_create_forums: mayCreate.input.value,
        discovery: discovery.input.checked,
        search_engines: engines.input.checked,
        if_revision: kept.revision,
      },
    });
    if (picture.file) await fetch('/api/v1/icon', { cache: 'reload' }).catch(() => {});
    site.server = { ...site.server, name: kept.name, hue: kept.hue, policy: kept.registration };
    rememberLook(site.me.preferences ?? {}, kept.hue);
    site.say('me');
    toast(say('act.saved'));
  };
  refill(
    column,
    savingForm(
      save,
      { work },
      name,
      el(
        'div.field',
        null,
        el('span.field-label', null, say('setUp.hue')),
        el('div.hue', null, el('span.hue-dot'), hue),
      ),
      el('div.picture-row', null, face, picture),
      welcome,
      rules,
      policy,
      mayInvite,
      mayCreate,
      discovery,
      engines,
    ),
  );
}

async function invites(shell, column) {
  const { site } = shell;
  const draw = async () => {
    const page = await site.call('GET', '/invites');
    const isOver = (it) => it.revoked_at || (it.expires_at && Date.parse(it.expires_at) <= Date.now()) || it.uses >= (it.max_uses ?? Infinity);
    const live = page.data.filter((it) => !isOver(it));
    const make = button(say('invite.make'), {
      kind: 'primary',
      picture: 'plus',
      on: async () => (await import('../account/createinvite.js')).createInvite(site, draw),
    });
    refill(
      column,
      el('p.second', null, say('invite.lead')),
      site.mayInvite && el('div.form-foot', null, make),
      el('div.setting-list', null, live.map((it) => inviteRow(site, it, draw))),
    );
  };
  await draw();
}

function inviteRow(site, it, changed) {
  const facts = [
    say('invite.used', { n: it.uses }) + (it.max_uses ? ` ${say('invite.max', { n: it.max_uses })}` : ''),
    it.expires_at && say('order.until', { at: moment(new Date(it.expires_at)) }),
    site.forums.get(it.forum_id)?.title,
    moment(new Date(it.created_at)),
  ];
  const end = () => site.call('DELETE', `/invites/${it.id}`).then(changed, (error) => toast(sayProblem(error)));
  return el(
    'div.setting-row',
    null,
    el('span', null, el('span', null, say(`role.${it.role}`)), el('span.second', null, facts.filter(Boolean).join(' · '))),
    button(say('invite.end'), { on: end }),
  );
}

async function forums(shell, column) {
  const { orderForums } = await import('../forum/forumorder.js');
  await orderForums(shell, column);
}

async function users(shell, column) {
  const { site } = shell;
  const list = el('div');
  const draw = async () => {
    const [waiting, all] = await Promise.all([
      orNull(site.call('GET', '/users', { query: { state: 'pending', limit: 50 } })),
      site.call('GET', '/users', { query: { query: input.input.value.trim() || undefined, limit: 100 } }),
    ]);
    const answer = (it, method) => async () => {
      await site.call(method, `/users/${it.id}/approval`).then(draw, (error) => toast(sayProblem(error)));
    };
    refill(
      list,
      waiting?.data.length
        ? [
            el('h2.section-title', null, say('admin.waiting')),
            waiting.data.map((it) =>
              personRow(it, {
                end: el(
                  'span.form-foot',
                  null,
                  button(say('admin.approve'), { kind: 'primary', on: answer(it, 'PUT') }),
                  button(say('admin.refuse'), { on: answer(it, 'DELETE') }),
                ),
              }),
            ),
          ]
        : null,
      el('h2.section-title', null, say('admin.everyone')),
      all.data.map((it) =>
        personRow(it, {
          href: `/u/${encodeURIComponent(it.name ?? it.id)}`,
          second: it.role === 'member' ? `@${it.name}` : `@${it.name} · ${say(`role.${it.role}`)}`,
        }),
      ),
    );
  };
  const input = field(say('admin.findPeople'), { type: 'search', on: { input: () => draw().catch(() => {}) } });
  await draw();
  refill(column, input, list);
}

async function reports(shell, column) {
  const { site } = shell;
  const page = await orNull(site.call('GET', '/reports', { query: { state: 'open' } }));
  const list = page?.data ?? [];
  const act = (report) => async (verb) => {
    const reason = ['warn', 'remove', 'ban'].includes(verb)
      ? await ask(say(`report.${verb}`), field(say('remove.reason'), { limit: 500 }), say(`report.${verb}`))
      : '';
    if (reason === null) return;
    const author = report.user_id;
    const because = reason ? { reason } : {};
    try {
      if (verb === 'warn') await site.call('POST', `/users/${author}/warn`, { body: because });
      if (verb === 'remove') await site.call('POST', `/messages/${report.message_id}/remove`, { body: because });
      if (verb === 'ban') await site.call('PUT', `/users/${author}/ban`, { body: because });
      await site.call('PATCH', `/reports/${report.id}`, {
        body: { state: verb === 'dismiss' ? 'dismissed' : 'acted', if_revision: report.revision },
      });
      await reports(shell, column);
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  refill(
    column,
    list.length
      ? list.map((it) =>
          reportCard(it, {
            message:
              it.message &&
              messageElement(it.message, {
                shape: 'bubble',
                author: site.person(it.message.author_id),
                first: true,
                last: true,
              }),
            reporter: site.displayName(it.reporter_id),
            where: it.forum_id && site.forums.get(it.forum_id)?.title,
            on: act(it),
          }),
        )
      : empty(say('report.none'), { picture: 'check' }),
  );
}

async function audit(shell, column) {
  const { site } = shell;
  let entries = [];
  let next = null;
  const load = async () => {
    const page = await site.call('GET', '/audit', { query: { next } });
    entries = [...entries, ...page.data];
    next = page.next;
  };
  await load();
  const more = showMoreButton(() => load().then(draw));
  const draw = () =>
    redraw(
      column,
      entries.length
        ? el('ul.setting-list', null, entries.map((it) => auditRow(site, it)))
        : empty(say('audit.none'), { picture: 'clock' }),
      next && more,
    );
  draw();
  return followed(site, ['users', 'forums'], draw);
}

function auditRow(site, it) {
  const person = it.actor_id && site.person(it.actor_id);
  const who = el('strong', null, person ? displayName(person) : say('audit.server'));
  const key = knows(`audit.${it.kind}`) ? `audit.${it.kind}` : 'audit.other';
  return entryRow({
    words: sayWith(key, { who, kind: it.kind, ...subjectOf(site, it) }),
    face: person,
    at: it.at,
    reason: it.reason,
    more: it.kind.startsWith('forum') ? null : site.forums.get(it.forum_id)?.title,
  });
}

/** The subject of an audit entry, as a link if it still exists. */
function subjectOf(site, { kind, subject_id: id, forum_id: at }) {
  const way = (href, words) => (href ? el('a', { href }, words) : words);
  const [family, what] = kind.split('.');
  const forum = site.forums.get(family === 'forum' ? (at ?? id) : at);
  const person = family === 'user' || what === 'member_removed' ? site.person(id) : null;
  return {
    whom: person && way(person.name && `/u/${encodeURIComponent(person.name)}`, displayName(person)),
    forum: way(forum && forumAddress(forum), forum?.title ?? say('audit.forum')),
    message: way(`/m/${id}`, say('audit.message')),
    talk: way(`/${family === 'topic' ? 't' : 'c'}/${id}`, say(family === 'topic' ? 'audit.topic' : 'audit.conversation')),
  };
}
