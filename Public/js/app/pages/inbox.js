// The home page: everything unread in groups, of which tabs show one.

import { el, icon, redraw } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { avatar, avatarPair } from '../parts/user/avatar.js';
import { button } from '../parts/forms/button.js';
import { empty } from '../parts/lists/empty.js';
import { inboxHeading, inboxRow } from '../parts/lists/inboxrow.js';
import { focusedRow, isLetter, stepRows } from '../core/rowkeys.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { tabs } from '../parts/navigation/tabs.js';
import { toast } from '../parts/overlays/toast.js';
import { excerpt } from '../core/text/plain.js';
import { conversationAddress, forumAddress, topicAddress } from '../core/router.js';
import { conversationTitle, othersIn } from '../core/titles.js';
import { knows, loadMoreText, say, sayProblem } from '../core/text/text.js';
import { moment } from '../core/text/times.js';
import { inboxCounts, inboxGroups } from '../state/inboxgroups.js';

/** The value of `?show=`, and the groups that it shows. */
const TABS = { all: null, new: ['newTopics'], unread: ['unread'], mentions: ['notifications', 'mentions'], direct: ['direct'] };
const EXCERPT = 140;
/** For so long after sign-up an empty inbox shows topics, in milliseconds. */
const NEWCOMER = 7 * 86_400_000;

export async function open(shell, { query }) {
  const { site } = shell;
  const shown = Object.hasOwn(TABS, query?.get('show')) ? query.get('show') : 'all';
  const column = el('div.page-column.inbox');
  const body = el('div.page-body', null, column);
  let follow = null;
  const top = el('div');
  const topics = newcomersTopics(site);
  const readAll = button(say('inbox.readAll'), { kind: 'quiet', picture: 'checks', folds: true, on: () => shell.markAllRead() });
  const draw = () => {
    const groups = inboxGroups(site);
    const counts = inboxCounts(groups);
    readAll.hidden = !groups.length;
    redraw(top, tabBar(shown, counts));
    const wanted = groups.filter(({ kind }) => !TABS[shown] || TABS[shown].includes(kind));
    topics.show(!groups.length && shown === 'all');
    redraw(column, wanted.length ? content(shell, wanted) : nothing(shell, shown, groups), topics.node);
    if (site.overview.next) follow ??= import('../inbox/further.js').then((it) => it.followEnd(site, body));
    follow?.then((look) => look(), () => (follow = null));
  };
  // Kept rows are drawn at once. The first answer is waited for where there is nothing else to show.
  const loading = site.overview.show();
  loading.catch(() => {});
  await site.overview.restore().catch(() => {});
  if (!site.overview.isKnown) await loading;
  await loadRareText(site);
  draw();
  const unlisten = site.listen(['conversations', 'users', 'forums', 'me', 'overview'], () => {
    const texts = loadRareText(site);
    if (texts) texts.then(draw);
    else draw();
  });
  if (navigator.maxTouchPoints) import('../parts/lists/touch.js').then((it) => it.onRowSwipe(column), () => {});
  return {
    title: say('navigation.inbox'),
    here: '/',
    node: [pageBar(say('navigation.inbox'), { state: site.state, actions: [readAll] }), top, body],
    close: unlisten,
    pressed: (event) => pressed(event, column),
  };
}

/** The texts of notices about the account and the server, which few inboxes have. @returns {Promise<unknown> | undefined} until they are here */
function loadRareText(site) {
  const isRare = ({ notice }) => notice && /^(alert|endpoint|identity|passkey|recovery|second)/.test(notice.kind);
  return inboxGroups(site).some(({ rows }) => rows.some(isRare)) ? loadMoreText()?.catch(() => {}) : undefined;
}

/** Topics in the empty inbox of a newcomer; loaded with the first drawing. */
function newcomersTopics(site) {
  const node = el('div', { hidden: true });
  const isNewcomer = !site.isStaff && Date.now() - Date.parse(site.me?.created_at) < NEWCOMER;
  let drawing = null;
  const show = (isEmpty) => {
    node.hidden = !isEmpty || !isNewcomer;
    if (node.hidden) return;
    drawing ??= import('../forum/lively.js').then((it) => it.fillWithLively(site, node));
    drawing.then((draw) => draw(), () => (drawing = null));
  };
  return { node, show };
}

function tabBar(shown, counts) {
  const of = (it) => (TABS[it] ?? []).reduce((sum, kind) => sum + (counts[kind] ?? 0), 0);
  return tabs(
    say('navigation.inbox'),
    Object.keys(TABS).map((it) => [it === 'all' ? '/' : `/?show=${it}`, say(`inbox.tab.${it}`), it === shown, { count: of(it), short: it === 'new' && say('inbox.tab.newShort') }]),
  );
}

function content(shell, groups) {
  return groups.map(({ kind, forum, count, rows }) => [
    inboxHeading(say(`inbox.group.${kind}`), forum ? { href: forumAddress(forum), forum, count } : { count }),
    rows.map((it) => (it.notice ? noticeRow(shell, it) : it.topic ? topicRow(shell, it) : conversationRow(shell, it))),
    kind === 'newTopics' && count > rows.length && el('a.inbox-more', { href: forumAddress(forum, 'topics') }, say('inbox.moreTopics', { n: count - rows.length })),
  ]);
}

function noticeRow({ site }, { key, notice, conversation, count }) {
  const actor = site.user(notice.actor_id);
  const hasFlag = count > 1 || notice.kind === 'alert' || (notice.kind === 'report' && !notice.actor_id);
  const href = { report: '/admin/reports', warning: '/you', token: '/you/tokens', sign_in: '/you/signins', endpoint_disabled: '/admin/endpoints', alert: '/admin' }[notice.kind] ?? (notice.conversation_id ? `/c/${notice.conversation_id}` : /^pa/.test(notice.kind) ? '/you/passkeys' : /^id/.test(notice.kind) ? '/you/accounts' : '/you/twostep');
  return inboxRow({
    key,
    href,
    // The user's own account has no need of the own face.
    picture: hasFlag ? icon('flag') : actor.id === site.me.id ? icon('lock') : avatar(actor),
    title: titleOf(notice, actor, count, site.me),
    isWhole: true,
    text: messageText(conversation?.last_message),
    at: notice.created_at,
  });
}

/** A report of a rule or a visitor has no actor. */
function titleOf({ kind, actor_id: id, alert }, actor, count, me) {
  if (count > 1) return say('inbox.reports', { n: count });
  if (kind === 'alert') return say(knows(`inbox.alert.${alert}`) ? `inbox.alert.${alert}` : 'inbox.alert');
  if (kind === 'second_factor_disabled' && id === me?.id) return say(`inbox.${kind}.self`);
  return id || kind !== 'report' ? say(`inbox.${kind}`, { name: displayName(actor) }) : say('inbox.report.found');
}

function topicRow(shell, { key, topic, upTo }) {
  const { site } = shell;
  const people = topic.authors.map((id) => site.user(id));
  return inboxRow({
    key,
    upTo,
    href: topicAddress(topic),
    picture: avatarPair(people),
    title: topic.title,
    author: people[0],
    text: topic.excerpt,
    at: topic.last_activity_at,
    count: topic.last_seq,
    onSeen: () => seen(shell, key, { id: upTo }),
    onLater: (event) => later(site, event.currentTarget, key),
  });
}

function conversationRow(shell, { key, conversation, message, count, isCall, upTo, seq }) {
  const { site } = shell;
  const forum = site.forums.get(conversation.forum_id);
  const author = message && site.user(message.author_id);
  const others = conversation.kind === 'direct' || conversation.kind === 'group' ? othersIn(site, conversation) : [];
  const isRoom = conversation.kind === 'room';
  return inboxRow({
    key,
    upTo,
    // To the first unread message, or to the mention.
    href: isCall && message ? `/m/${message.id}` : conversationAddress(conversation),
    picture: others.length > 1 ? avatarPair(others) : avatar(others[0] ?? author),
    title: isRoom ? say('forum.room') : conversationTitle(site, conversation),
    forum: forum?.title,
    author: others.length === 1 ? null : author,
    text: messageText(message),
    at: message?.created_at,
    count,
    onSeen: upTo && (() => seen(shell, key, { id: upTo, seq })),
    onLater: (event) => later(site, event.currentTarget, key),
  });
}

const messageText = (message) => (!message ? '' : message.deleted ? say('gone.author') : excerpt(message, EXCERPT));

async function seen({ site }, id, message) {
  try {
    await site.overview.markSeen(id, message);
  } catch (error) {
    toast(sayProblem(error));
    site.overview.soon();
  }
}

async function later(site, button, id) {
  const [{ chooseLater }] = await Promise.all([import('../conversation/later.js'), loadMoreText()]);
  chooseLater(site, button, id, focusAfter);
}

/** Returns a function that moves the focus from a removed row to the row after it, or else to the one before it. */
function focusAfter(row) {
  const rows = [...document.querySelectorAll('.inbox-item')];
  const at = rows.indexOf(row);
  const key = (rows[at + 1] ?? rows[at - 1])?.dataset.key;
  return () => queueMicrotask(() => key && document.querySelector(`[data-key="${CSS.escape(key)}"] > a`)?.focus());
}

/** j and k move between rows, e marks the focused one as read and moves on, h puts it off. */
function pressed(event, column) {
  if (event.key === 'Escape' && !event.shiftKey) {
    document.activeElement?.blur?.();
    return true;
  }
  const rows = [...column.querySelectorAll('.inbox-item > a')];
  if (stepRows(event, rows)) return true;
  const act = { e: 'seen', h: 'later' }[event.key];
  if (!act || !isLetter(event)) return false;
  const row = rows[Math.max(0, focusedRow(rows))]?.parentNode;
  const focusNext = focusAfter(row);
  row?.querySelector(`[data-act="${act}"]`)?.click();
  if (act === 'seen') focusNext();
  return true;
}

function nothing(shell, shown, groups) {
  const { site } = shell;
  if (groups.length) return empty(say(`inbox.none.${shown}`), { picture: 'check' });
  let newest = null;
  for (const it of site.conversations.values()) {
    const at = it.last_message?.created_at;
    if (at && (!newest || at > newest)) newest = at;
  }
  const hasRead = [...site.conversations.values()].some((it) => it.read_up_to > 0);
  return empty(hasRead ? say('inbox.empty') : say('inbox.welcome', { name: site.server.name }), {
    picture: 'check',
    second: newest ? say('inbox.last', { at: moment(new Date(newest)) }) : null,
    actions: [
      button(say('navigation.forums'), { on: () => shell.go('/forums') }),
      site.mayInvite && button(say('invite.people'), { on: () => shell.go('/admin/invites') }),
    ].filter(Boolean),
  });
}
