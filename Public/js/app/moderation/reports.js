// The queue of open reports: one card for each reported user, the most reported first. Moderators of forums have those of
// their forums, with the decisions that concern a forum.

import { wait } from '../../parley/time.js';
import { el, redraw } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { excerpt } from '../core/text/plain.js';
import { forumAddress } from '../core/router.js';
import { loadSheet } from '../core/sheet.js';
import { list, say } from '../core/text/text.js';
import { brief, moment } from '../core/text/times.js';
import { empty } from '../parts/lists/empty.js';
import { messageElement } from '../parts/message/message.js';
import { reportCard, reportedPost } from '../parts/lists/report.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { toast } from '../parts/overlays/toast.js';
import { report as reportFault } from '../account/security/stepup.js';
import { banDialog, resolveReports } from './ban.js';
import { destroy, mayDestroy } from './destroy.js';
import { moderatedForums } from './forums.js';
import { pauses } from './pauses.js';
import { sanctionsFor } from './sanctions.js';
import { countMessages, startOf } from './sanctionform.js';

const SHEET = '/css/parts/lists/report.css';
/** Cards per request. */
const PAGE = 20;
/** Lines before and after a reported post, and their length. */
const AROUND = 2;
const LINE = 160;
/** The first cards wait so long for the facts about their users, in milliseconds. */
const MAX_WAIT = 1_000;
/** Past sanctions in a card. */
const HISTORY = 3;

/** Fills `column` with the queue. Returns what ends it. */
export async function reportQueue(shell, column) {
  const { site } = shell;
  const paused = site.isModerator ? pauses(site) : null;
  const forums = site.isModerator ? [null] : moderatedForums(site).map(({ id }) => id);
  const queue = { site, groups: [], wanted: PAGE, next: null, facts: new Map(), views: new Map(), draw, load };
  const more = showMoreButton(() => {
    queue.wanted = queue.groups.length + PAGE;
    return load();
  });
  let turn = 0;
  let notices = noticesOf(site);

  /** Loads as many cards as are wanted, in the order that they have by now. */
  async function load() {
    const own = ++turn;
    const { groups, next } = await loadGroups(site, forums, queue.wanted);
    if (own !== turn) return;
    Object.assign(queue, { groups, next });
    const learned = Promise.all(groups.map((it) => learn(queue, it)));
    // Facts that come late would move the buttons of the first drawing.
    if (column.hasChildNodes()) draw();
    else await Promise.race([learned, wait(MAX_WAIT)]);
    draw();
    await learned;
    draw();
  }
  function draw() {
    more.hidden = !queue.next;
    redraw(
      column,
      paused?.node,
      queue.groups.length
        ? [!queue.next && el('p.second.report-sum', null, sums(queue.groups)), queue.groups.map((it) => card(queue, it)), more]
        : empty(say('report.none'), { picture: 'check' }),
    );
  }
  /** Shows new reports, of which the user is notified, until a moderator has resolved them. */
  const renew = () => {
    const now = noticesOf(site);
    if (now === notices) return;
    notices = now;
    load().catch(() => {});
  };
  await Promise.all([load(), loadSheet(SHEET)]);
  const ends = [site.listen(['users', 'forums', 'files'], draw), site.listen(['overview'], renew)];
  return () => {
    turn++;
    for (const end of ends) end();
    paused?.close();
  };
}

const noticesOf = ({ overview }) => overview.notices.filter((it) => it.kind === 'report').map(({ id }) => id).join();

/** The first groups of reports, at least as many as are wanted of each forum, and where the next ones begin. */
async function loadGroups(site, forums, wanted) {
  const found = await Promise.all(forums.map((forum) => loadGroupsOf(site, forum, wanted)));
  return { groups: found.flatMap(({ groups }) => groups), next: found.find(({ next }) => next)?.next ?? null };
}

/** @param {string | null} forum null for the whole site */
async function loadGroupsOf(site, forum, wanted) {
  const groups = [];
  let next;
  do {
    const page = await site.call('GET', '/reports', { query: { group: 'user', include: 'users', limit: PAGE, forum: forum ?? undefined, next } });
    for (const user of page.included?.users ?? []) site.users.set(user.id, user);
    // A card may have moved to a later page meanwhile.
    const listed = new Set(groups.map((it) => it.user_id));
    groups.push(...page.data.filter((it) => !listed.has(it.user_id)).map((it) => ({ ...it, scope: forum, key: `${forum} ${it.user_id}` })));
    next = page.next;
  } while (next && groups.length < wanted);
  return { groups, next };
}

const sums = (groups) => {
  const reports = groups.reduce((sum, { group }) => sum + group.report_count, 0);
  return `${say('report.people', { n: new Set(groups.map((it) => it.user_id)).size })} · ${say('report.count', { n: reports })}`;
};

/** The history of a user and the number of their messages, which come after the card. */
async function learn(queue, { user_id: id, scope, key }) {
  if (queue.facts.has(key)) return;
  const { site } = queue;
  const none = { data: [] };
  const [sanctions, written] = await Promise.all([
    // The history is for moderators of the site.
    scope ? none : site.call('GET', `/users/${id}/sanctions`, { query: { limit: HISTORY } }).catch(() => none),
    countMessages(site, { id }, startOf('day'), scope).catch(() => null),
  ]);
  queue.facts.set(key, { sanctions: sanctions.data, written });
}

function card(queue, report) {
  const { site } = queue;
  const { group, scope, key } = report;
  const user = site.user(report.user_id);
  if (!queue.views.has(key)) queue.views.set(key, {});
  const { sanctions = [], written = null } = queue.facts.get(key) ?? {};
  const resolve = async (state) => {
    const reopen = await resolveReports(site, user, { state, ...(scope ? { forum_id: scope } : {}) });
    await queue.load();
    return reopen;
  };
  const attempt = (work) => () => work().catch(reportFault);
  // Dismissing publishes held posts.
  const isHeld = group.subjects.some((it) => it.report.held);
  const reject = attempt(() => resolve('acted'));
  const dismiss = attempt(async () => {
    const reopen = await resolve('dismissed');
    if (!(await toast(say('report.dismissed'), { undo: () => {} }))) return;
    await reopen();
    await queue.load();
  });
  const changed = attempt(async () => {
    queue.facts.delete(key);
    await queue.load();
  });
  const impose = sanctionsFor(site, user, changed, scope);
  const warn = attempt(async () => {
    if (await impose.warn()) await resolve('acted');
  });
  const silence = attempt(async () => {
    if (await impose.silence()) await resolve('acted');
  });
  const ban = () => banDialog(site, user, { removes: true, reports: true, changed });
  return reportCard(user, {
    key,
    name: displayName(user) ?? say('user.gone'),
    href: user.name ? `/u/${encodeURIComponent(user.name)}` : null,
    counts: [
      user.created_at && say('user.since', { at: moment(new Date(user.created_at)) }),
      `${say('report.count', { n: group.report_count })} ${say('report.reporters', { n: group.reporter_count })}`,
      written?.n > 0 && say(written.isMore ? 'report.writtenMore' : 'report.written', { n: written.n }),
    ].filter(Boolean).join(' · '),
    history: sanctions.length > 0 && say('report.history', { list: list(sanctions.map(past)) }),
    posts: group.subjects.map((it) => post(queue, it, attempt)),
    more: group.subject_count - group.subjects.length,
    verbs: [
      [say(isHeld ? 'report.approveAll' : 'report.dismiss'), dismiss],
      isHeld && [say('report.rejectAll'), reject],
      ...(scope
        ? [[say('moderation.silence'), silence], [say('moderation.remove'), impose.remove, 'danger']]
        : [[say('report.warn'), warn], [banWords(written), ban, 'danger']]),
    ].filter(Boolean),
    view: queue.views.get(key),
  });
}

const past = (it) => `${say(`moderation.was.${it.kind}`)} ${brief(new Date(it.created_at))}`;

function banWords(written) {
  if (!written?.n) return say('report.ban');
  return say(written.isMore ? 'report.removeMoreAndBan' : 'report.removeAndBan', { n: written.n });
}

function post(queue, { report, report_count: count }, attempt) {
  const { site } = queue;
  const { message } = report;
  const around = report.surroundings ?? [];
  const lines = (found) => found.map((it) => ({ name: site.displayName(it.author_id), text: it.deleted ? say('gone.author') : excerpt(it, LINE) }));
  const remove = attempt(async () => {
    try {
      await site.call('POST', `/messages/${report.message_id}/remove`, { body: { reason: report.reason } });
      await site.call('PATCH', `/reports/${report.id}`, { body: { state: 'acted' } });
    } finally {
      await queue.load();
    }
    if (!(await toast(say('remove.done'), { undo: () => {} }))) return;
    await site.call('POST', `/messages/${report.message_id}/restore`, { body: {} });
    await site.call('PATCH', `/reports/${report.id}`, { body: { state: 'open' } });
    await queue.load();
  });
  const destroyReported = attempt(async () => {
    // The list is loaded also after a failure: the message may be gone.
    try {
      if (!(await destroy(site, { message: report.message_id }))) return;
      await site.call('PATCH', `/reports/${report.id}`, { body: { state: 'acted' } });
    } finally {
      await queue.load();
    }
  });
  const forum = site.forums.get(report.forum_id);
  if (report.held) return heldPost(queue, report, attempt);
  return reportedPost(report, {
    where: report.message_id && (forum?.title ?? say('report.private')),
    href: report.message_id && forum ? `/m/${report.message_id}` : null,
    reporters: reportersOf(site, report, count),
    before: message ? lines(around.filter((it) => it.seq < message.seq).slice(-AROUND)) : [],
    after: message ? lines(around.filter((it) => it.seq > message.seq).slice(0, AROUND)) : [],
    message:
      message &&
      messageElement(message, { shape: 'bubble', author: site.user(message.author_id), first: true, last: true }),
    verbs: report.message_id
      ? [
          [say('report.remove'), remove],
          mayDestroy(site) && [say('destroy.menu'), destroyReported, 'danger'],
        ].filter(Boolean)
      : [],
  });
}

function reportersOf(site, { reporter_id: id, rule_id: rule }, count) {
  if (rule) return say('report.foundByRule');
  const name = id ? site.displayName(id) : say('report.visitor');
  return count > 1 ? say('report.lineMore', { name, n: count - 1 }) : say('report.line', { name });
}

/** A post that a rule holds: the moderator publishes or rejects it. */
function heldPost(queue, report, attempt) {
  const { site } = queue;
  const { held } = report;
  const decide = (state, words) => attempt(async () => {
    await site.call('PATCH', `/reports/${report.id}`, { body: { state } });
    await queue.load();
    toast(say(words));
  });
  const message = {
    id: report.id, author_id: report.user_id, text: held.text, attachments: held.attachments, descriptions: held.descriptions,
    created_at: report.created_at,
    entities: { mentions: [], hashtags: [], links: [] }, actions: {}, ...(held.poll ? { poll: held.poll } : {}),
  };
  const files = Object.fromEntries((held.attachments ?? []).map((id) => [id, site.file(id) ?? undefined]));
  const forum = site.forums.get(report.forum_id);
  return reportedPost(report, {
    where: forum?.title,
    href: forum && forumAddress(forum),
    reporters: say('report.byRule'),
    title: held.title,
    message: messageElement(message, { shape: 'bubble', author: site.user(report.user_id), files, first: true, last: true }),
    verbs: [
      [say('report.approve'), decide('dismissed', 'report.approved')],
      [say('report.reject'), decide('acted', 'report.rejected')],
    ],
  });
}
