// The inbox: one row per conversation, in the first group that claims it. Cached conversations give the counts, the
// overview gives mentions, new topics and notices.

import { forumSections } from './forums.js';

/**
 * @typedef {object} Row
 * @property {string} key
 * @property {object} [conversation] `{id, kind, title, forum_id}` as far as known
 * @property {object} [topic] a new topic
 * @property {object} [notice] a notification without a message; a message request has its conversation, if known
 * @property {object} [message] what stands in the first line
 * @property {number} [count] of unread messages, or of reports
 * @property {string} [upTo] the message up to which it is marked as read
 * @property {number} [seq] the `seq` of that message, if known
 */

/** The groups with rows, in order: `{kind, forum, count, rows}`. */
export function inboxGroups(site) {
  const { overview } = site;
  const claimed = new Set();
  const claim = (rows) => rows.filter(({ key }) => !claimed.has(key) && claimed.add(key));
  const items = overview.items.filter((it) => it.kind !== 'forum' && isUnread(site, it));
  const forums = overview.items.filter((it) => it.kind === 'forum' && isUnread(site, it));
  const held = [...site.conversations.values()].filter((it) => it.unread_count > 0 && it.level !== 'nothing' && !overview.later.has(it.id));
  const isConversation = (it) => ['direct', 'group', 'channel'].includes(it.kind);
  const isCalled = (it) => it.mentions + it.replies > 0;
  const both = (wanted) => [...items.filter(wanted).map((it) => itemRow(site, it)), ...held.filter(wanted).map((it) => heldRow(it))];

  const groups = [
    group('notifications', null, claim(noticeRows(overview.notices.filter((it) => it.kind !== 'request')))),
    group('direct', null, claim([...requestRows(site), ...both(isConversation)])),
    group('mentions', null, claim([...items, ...forums].filter(isCalled).map((it) => itemRow(site, it)))),
  ];
  const inOrder = forumSections(site).flatMap((it) => it.forums);
  const lively = inOrder.map((forum) => [forum, overview.topicsOf(forum.id)]).sort(([, one], [, other]) => byLife(one[0], other[0]));
  for (const [forum, topics] of lively) {
    const rows = claim(topics.map((it) => topicRow(it)));
    groups.push({ ...group('newTopics', forum, rows), count: rows.length && overview.newTopicsOf(forum.id) });
  }
  const unread = claim([...items, ...forums].filter((it) => it.unread_count > 0).map((it) => itemRow(site, it))).concat(
    claim(held.map((it) => heldRow(it))),
  );
  for (const forum of inOrder) groups.push(group('unread', forum, unread.filter(({ conversation }) => conversation.forum_id === forum.id)));
  return groups.filter(({ rows }) => rows.length);
}

/** The numbers of rows by kind; of new topics all, also those that are not listed. */
export function inboxCounts(groups) {
  const counts = {};
  for (const { kind, count } of groups) counts[kind] = (counts[kind] ?? 0) + count;
  return counts;
}

const group = (kind, forum, rows) => ({ kind, forum, rows, count: rows.length });

/** A row per notice. All reports share one, at the newest of them: they lead to the same queue. */
function noticeRows(notices) {
  const reports = notices.filter(({ kind }) => kind === 'report');
  return notices
    .filter((it) => it.kind !== 'report' || it === reports[0])
    .map((notice) => (notice.kind === 'report' ? { key: 'reports', notice, count: reports.length } : { key: `notice:${notice.id}`, notice }));
}

/** Message requests, which wait for an answer also after they were read. */
function requestRows({ overview, conversations }) {
  return overview.notices
    .filter((it) => it.kind === 'request')
    .map((notice) => ({ key: notice.conversation_id, notice, conversation: conversations.get(notice.conversation_id) }))
    .filter(({ conversation }) => !conversation || conversation.request);
}

/** Whether the answer still holds: the conversation may have been read or muted since. */
function isUnread({ overview, conversations }, item) {
  if (overview.omits(item.conversation_id)) return false;
  const own = conversations.get(item.conversation_id);
  if (!own) return item.unread_count + item.mentions + item.replies > 0;
  if (item.message && item.message.seq <= (own.read_up_to ?? 0)) return false;
  return own.level !== 'nothing' || item.mentions + item.replies > 0;
}

/** Pinned topics first, then those with most messages. */
const byLife = (one, other) => Number(!!other?.pinned) - Number(!!one?.pinned) || (other?.last_seq ?? 0) - (one?.last_seq ?? 0);

function itemRow(site, item) {
  const own = site.conversations.get(item.conversation_id);
  const { conversation_id: id, forum_id: forum, title, message } = item;
  const kind = item.kind === 'forum' ? 'room' : item.kind;
  return {
    key: id,
    conversation: own ?? { id, kind, title, forum_id: forum },
    message: message ?? own?.last_message,
    count: own?.unread_count ?? item.unread_count,
    isCall: item.mentions + item.replies > 0,
    ...(own ? { upTo: own.last_message_id, seq: own.last_seq } : { upTo: message?.id }),
  };
}

function heldRow(own) {
  return { key: own.id, conversation: own, message: own.last_message, count: own.unread_count, upTo: own.last_message_id, seq: own.last_seq };
}

function topicRow(topic) {
  return { key: topic.id, topic, upTo: topic.last_message_id };
}
