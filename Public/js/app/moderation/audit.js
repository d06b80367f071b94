// The audit log.

import { allGroups } from '../core/groups.js';
import { el, redraw } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { empty } from '../parts/lists/empty.js';
import { entryRow } from '../parts/lists/entry.js';
import { forumAddress } from '../core/router.js';
import { isolate, knows, number, say, sayWith } from '../core/text/text.js';
import { moment } from '../core/text/times.js';

/** Fills `column` with the log, newest first. Returns what ends it. */
export async function auditLog(shell, column) {
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
        ? el('ul.setting-list', { data: { part: 'entries' } }, entries.map((it) => auditRow(site, it)))
        : empty(say('audit.none'), { picture: 'clock' }),
      next && more,
    );
  draw();
  const names = ['users', 'forums'];
  for (const name of names) site.addEventListener(name, draw);
  return () => names.forEach((name) => site.removeEventListener(name, draw));
}

function auditRow(site, it) {
  const user = it.actor_id && site.user(it.actor_id);
  const who = el('strong', null, user ? displayName(user) : say('audit.server'));
  const kind = it.author_id === null ? `${it.kind}.invite` : it.kind;
  const key = knows(`audit.${kind}`) ? `audit.${kind}` : 'audit.other';
  return entryRow({
    words: sayWith(key, { who, kind: it.kind, ...subjectOf(site, it) }),
    face: user,
    at: it.at,
    reason: /^(forum|topic)\.deleted$/.test(it.kind) ? null : it.reason,
    changes: (it.changes ?? []).map(changeWords),
    more: it.kind.startsWith('forum') ? null : site.forums.get(it.forum_id)?.title,
  });
}

/** Fields whose values are ids. */
const IDS = new Set(['arrival_forum', 'icon_file', 'solved_by']);
const CIRCLES = new Set(['write', 'start_topics', 'room_mention']);

/** A changed field: *Section: Growing → Living*, or its name alone. */
function changeWords({ field, from, to }) {
  const name = knows(`change.${field}`) ? say(`change.${field}`) : knows(`forum.${field}`) ? say(`forum.${field}`) : knows(`groups.${field}`) ? say(`groups.${field}`) : field;
  if (to === undefined || IDS.has(field)) return say('change.text', { name });
  return say('change.value', { name, from: valueWords(field, from), to: valueWords(field, to) });
}

function valueWords(field, value) {
  if (value === null || value === '') return say('change.none');
  // Lists of groups. A deleted one has no name any more.
  if (Array.isArray(value)) {
    const names = value.map((id) => allGroups().find((it) => it.id === id)?.name ?? say('groups.deleted'));
    return names.length ? names.map(isolate).join(', ') : say('change.none');
  }
  if (field === 'mentionable_by') return say(`groups.mention.${value}`);
  if (typeof value === 'boolean') return say(value ? 'change.on' : 'change.off');
  if (typeof value === 'number') return number(value);
  if (field === 'visibility') return say(`forum.visibility.${value}`);
  if (CIRCLES.has(field)) return say(`forum.circle.${value}`);
  if (field === 'registration') return say(`admin.registration.${value}`);
  if (field === 'require_second_factor') return say(`admin.secondFactor.${value}`);
  if (field === 'push_shows') return say(`push.shows.${value}`);
  if (field.startsWith('may_')) return say(`admin.circle.${value}`);
  if (field.endsWith('_until')) return moment(new Date(value));
  if (field === 'role') return say(`role.${value}`);
  return isolate(String(value));
}

/** The subject of an audit entry, as a link if it still exists. */
function subjectOf(site, { kind, subject_id: id, forum_id: at, reason, author_id: author, messages: n }) {
  const way = (href, words) => (href ? el('a', { href }, words) : words);
  const [family, what] = kind.split('.');
  const forum = site.forums.get(family === 'forum' ? (at ?? id) : at);
  const user = family === 'user' || family === 'bot' || what.startsWith('member_') ? site.user(id) : author ? site.user(author) : null;
  return {
    whom: user && way(user.name && `/u/${encodeURIComponent(user.name)}`, displayName(user)),
    forum: way(forum && forumAddress(forum), forum?.title ?? (kind === 'forum.deleted' && reason ? isolate(reason) : say('audit.forum'))),
    n,
    message: way(`/m/${id}`, say('audit.message')),
    talk: family === 'topic' && what === 'deleted' && reason
      ? isolate(reason)
      : way(`/${family === 'topic' ? 't' : 'c'}/${id}`, say(family === 'topic' ? 'audit.topic' : 'audit.conversation')),
  };
}
