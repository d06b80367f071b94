// The administration pages: overview, settings, invites, users, groups, reports, rules, backups, audit log.

import { el, redraw, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { everyPage } from '../core/everypage.js';
import { button } from '../parts/forms/button.js';
import { empty } from '../parts/lists/empty.js';
import { field } from '../parts/forms/field.js';
import { besideSettings, loadSettingsSheet, settingGroups, settingLink } from '../parts/lists/settingnav.js';
import { userRow } from '../parts/user/user.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';
import { backups, mayBackUp } from '../admin/backups.js';
import { moderatedForums } from '../moderation/forums.js';
import { onReconnect } from '../state/siteevents.js';
import { bytes, isolate, say, sayProblem } from '../core/text/text.js';
import { moment } from '../core/text/times.js';
import { notFound } from './notfound.js';

/** Milliseconds without a key before a search. */
const PAUSE = 200;
/** Users who wait for approval send no event: an open list asks for them again after this time, in milliseconds. */
const RENEW = 20_000;

const parts = { settings, invites, forums, emoji, users, groups, bots, webhooks, endpoints, commands, apps, reports, rules, backups, audit };
/** The pages in their groups, with their pictures. */
const GROUPS = {
  community: { settings: 'settings', invites: 'link', forums: 'order', emoji: 'react' },
  people: { users: 'user', groups: 'users' },
  moderation: { reports: 'flag', rules: 'check', audit: 'clock' },
  integrations: { bots: 'bot', webhooks: 'link', endpoints: 'send', commands: 'slash', apps: 'forums' },
  server: { backups: 'download' },
};

export async function open(shell, { part }) {
  const { site } = shell;
  const mayLook = mayOpen(site)[part] ?? site.isModerator;
  if (!mayLook) throw notFound();
  const overviewAddress = site.isModerator ? '/admin' : '/you';
  const column = el('div.page-column');
  const [close] = await Promise.all([(parts[part] ?? overview)(shell, column), loadSettingsSheet()]);
  const content = part ? besideSettings(say('admin.manage'), links(site), `/admin/${part}`, column) : column;
  if (part === 'settings') content.classList.add('is-narrow');
  return {
    close,
    title: say(part ? `admin.${part}` : 'admin.title'),
    here: '/you',
    node: [
      pageBar(say(part ? `admin.${part}` : 'admin.title'), {
        second: part ? null : site.server.name,
        back: () => shell.router.back(part ? overviewAddress : '/you'),
        state: site.state,
      }),
      el('div.page-body', null, content),
    ],
  };
}

/** The pages that the user may open, in groups. */
const links = (site) =>
  Object.entries(GROUPS)
    .map(([group, pages]) => [
      say(`admin.group.${group}`),
      Object.keys(pages).filter((it) => mayOpen(site)[it] ?? site.isModerator).map((it) => [`/admin/${it}`, pages[it], say(`admin.${it}`)]),
    ])
    .filter(([, pages]) => pages.length);

/** The parts that not all moderators may open, or others, too. */
const mayOpen = (site) => ({ reports: site.isModerator || moderatedForums(site).length > 0, forums: site.isStaff, emoji: site.isStaff, bots: site.isStaff, webhooks: site.isStaff, endpoints: site.isStaff, commands: site.isStaff, apps: site.isStaff, groups: site.isStaff, rules: site.isStaff, backups: mayBackUp(site), invites: site.mayInvite || site.isModerator });

/** A number; or in words that there are none. */
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
    waiting?.data.length ? ['/admin/users', 'user', say('admin.peopleWait', { n: waiting.data.length })] : null,
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
      sentences.map((it) => el('li', null, settingLink(...it))),
    ),
    settingGroups(say('admin.manage'), links(site)),
  );
}

async function settings(shell, column) {
  const { siteSettings } = await import('../admin/sitesettings.js');
  return siteSettings(shell, column);
}

async function emoji(shell, column) {
  const { customEmojiPage } = await import('../admin/customemoji.js');
  return customEmojiPage(shell, column);
}

async function bots(shell, column) {
  const { botsPage } = await import('../admin/bots.js');
  return botsPage(shell, column);
}

async function webhooks(shell, column) {
  const { webhooksPage } = await import('../admin/webhooks.js');
  return webhooksPage(shell, column);
}

async function endpoints(shell, column) {
  const { endpointsPage } = await import('../admin/endpoints.js');
  return endpointsPage(shell, column);
}

async function commands(shell, column) {
  const { commandsPage } = await import('../admin/commands.js');
  return commandsPage(shell, column);
}

async function apps(shell, column) {
  const { appsPage } = await import('../admin/apps.js');
  return appsPage(shell, column);
}

async function groups(shell, column) {
  const { managedGroups } = await import('./groups.js');
  return managedGroups(shell, column);
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
      on: async () => (await import('../admin/createinvite.js')).createInvite(site, draw),
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
    it.expires_at && say('moderation.until', { at: moment(new Date(it.expires_at)) }),
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
  const row = (it) =>
    userRow(it, {
      href: `/u/${encodeURIComponent(it.name ?? it.id)}`,
      second: [isolate(`@${it.name}`), it.role !== 'member' && say(`role.${it.role}`)].filter(Boolean).join(' · '),
    });
  /** Loaded once: no query finds users in a state. */
  let everyDisabled = null;
  const draw = async () => {
    const words = input.input.value.trim();
    const wanted = words.replace(/^@/, '').toLowerCase();
    const [waiting, disabled, all] = await Promise.all([
      orNull(site.call('GET', '/users', { query: { state: 'pending', limit: 50 } })),
      (everyDisabled ??= orNull(everyPage((next) => site.call('GET', '/users', { query: { state: 'disabled', limit: 200, next } })))),
      site.call('GET', '/users', { query: { query: words || undefined, limit: 100 } }),
    ]);
    // The next search tries again.
    if (!disabled) everyDisabled = null;
    // The words have changed meanwhile.
    if (words !== input.input.value.trim()) return;
    const banned = (disabled ?? []).filter((it) => `${it.name} ${displayName(it)}`.toLowerCase().includes(wanted));
    const answer = (it, method) => async () => {
      await site.call(method, `/users/${it.id}/approval`).then(draw, (error) => toast(sayProblem(error)));
    };
    redraw(
      list,
      waiting?.data.length
        ? [
            el('h2.section-title', null, say('admin.waiting')),
            waiting.data.map((it) =>
              userRow(it, {
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
      all.data.length > 0 && [el('h2.section-title', null, say('admin.everyone')), all.data.map(row)],
      banned.length > 0 && [el('h2.section-title', null, say('admin.disabled')), banned.map(row)],
      !all.data.length && !banned.length && empty(say('conversation.nobody', { words })),
    );
  };
  let timer;
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(() => draw().catch(() => {}), PAUSE);
  };
  const input = field(say('admin.findPeople'), { type: 'search', on: { input: wait } });
  await draw();
  refill(column, input, list);
  const renew = () => document.hidden || wait();
  const ends = [site.listen(['users'], renew), onReconnect(site, renew)];
  const renewal = setInterval(renew, RENEW);
  document.addEventListener('visibilitychange', renew);
  return () => {
    for (const end of ends) end();
    clearInterval(renewal);
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', renew);
  };
}

async function reports(shell, column) {
  const { reportQueue } = await import('../moderation/reports.js');
  return reportQueue(shell, column);
}

async function rules(shell, column) {
  const { moderationRules } = await import('../moderation/rules.js');
  return moderationRules(shell, column);
}

async function audit(shell, column) {
  const { auditLog } = await import('../moderation/audit.js');
  return auditLog(shell, column);
}
