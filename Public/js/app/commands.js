// The command menu: people, forums, topics and every action by name; the list of keys; and "everything is read".

import { el } from './core/dom.js';
import { fits, fold } from './core/text/fold.js';
import { displayName } from './core/displayname.js';
import { avatar } from './parts/user/avatar.js';
import { commandMenu } from './parts/overlays/commands.js';
import { dialog } from './parts/overlays/dialog.js';
import { toast } from './parts/overlays/toast.js';
import { forumAddress, conversationAddress } from './core/router.js';
import { conversationTitle, othersIn, ownConversations } from './core/titles.js';
import { loadMoreText, say, sayProblem } from './core/text/text.js';
import { findUsers } from './state/users.js';

const MAX = 12;

export async function openCommands(shell) {
  await loadMoreText();
  return commandMenu((words) => find(shell, words));
}

async function find(shell, words) {
  const { site } = shell;
  const go = (address) => () => shell.go(address);
  const conversations = ownConversations(site).map((it) => {
    const others = othersIn(site, it);
    return {
      words: conversationTitle(site, it),
      second: say('navigation.messages'),
      picture: others[0] ? avatar(others[0], { size: 1 }) : 'messages',
      on: go(conversationAddress(it)),
    };
  });
  const forums = [...site.forums.values()].map((it) => ({
    words: it.title,
    second: say('command.forum'),
    picture: 'forums',
    on: go(forumAddress(it)),
  }));
  const topics = [...site.conversations.values()]
    .filter((it) => it.kind === 'topic')
    .map((it) => ({
      words: it.title,
      second: site.forums.get(it.forum_id)?.title ?? say('command.topic'),
      picture: 'topic',
      on: go(conversationAddress(it)),
    }));
  const actions = [
    { words: say('navigation.inbox'), picture: 'inbox', keys: 'g i', on: go('/') },
    { words: say('navigation.forums'), picture: 'forums', keys: 'g f', on: go('/forums') },
    { words: say('navigation.messages'), picture: 'messages', keys: 'g m', on: go('/messages') },
    { words: say('navigation.feed'), picture: 'globe', keys: 'g p', on: go('/feed') },
    site.me.role !== 'guest' && { words: say('navigation.members'), picture: 'users', on: go('/members') },
    { words: say('act.newConversation'), picture: 'plus', on: go('/messages/new') },
    site.mayMakeForums && { words: say('act.newForum'), picture: 'plus', on: go('/forums/new') },
    { words: say('inbox.readAll'), picture: 'checks', keys: 'Shift Esc', on: () => markAllRead(shell) },
    { words: say('settings.appearance'), picture: 'palette', on: go('/you/appearance') },
    { words: say('settings.profile'), picture: 'user', on: go('/you/profile') },
    site.isModerator && { words: say('admin.title'), picture: 'shield', on: go('/admin') },
    site.isStaff && { words: say('admin.invites'), picture: 'link', on: go('/admin/invites') },
    { words: say('keys.title'), picture: 'settings', keys: '?', on: showKeys },
  ].filter(Boolean);
  const known = [...conversations, ...forums, ...topics, ...actions].filter((it) => fits(it.words, words));
  if (!fold(words)) return known.slice(0, MAX);
  const users = await findUsers(site, words).catch(() => []);
  return [
    ...known.slice(0, MAX),
    ...users.slice(0, 5).map((it) => ({
      words: displayName(it),
      second: `@${it.name}`,
      picture: avatar(it, { size: 1 }),
      on: go(`/u/${encodeURIComponent(it.name)}`),
    })),
    { words: say('command.search', { words }), picture: 'search', on: go(shell.searchAddress(words)) },
  ];
}

export async function showKeys() {
  await loadMoreText();
  const rows = [
    'Ctrl K',
    '?',
    'Alt ↑ ↓',
    'Alt Shift ↑ ↓',
    'g i · g f · g p · g m',
    '/',
    'c',
    '↑',
    'j k',
    'r e + s',
    't · l',
    'Esc',
    'Shift Esc',
    'e h',
    'u',
  ];
  dialog(
    say('keys.title'),
    el(
      'div.keys',
      null,
      rows.map((keys, index) => [el('kbd', null, keys), el('span', null, say(`keys.${index + 1}`))]),
    ),
  );
}

/** Everything is read; ten seconds to take it back, since marks never move back once the server has them. */
export async function markAllRead(shell) {
  const { site } = shell;
  const { overview } = site;
  await Promise.all([overview.load(), loadMoreText()]);
  const unread = [...site.conversations.values()].filter((it) => it.unread_count > 0 && it.last_message_id);
  const ids = new Set([...unread.map((it) => it.id), ...overview.items.flatMap((it) => [it.conversation_id, ...it.topics.map((topic) => topic.id)])]);
  if (!overview.upTo || (!ids.size && !overview.mentions && !overview.notices.length)) return;
  const { items, notices, upTo } = overview;
  const before = unread.map((it) => [it, it.unread_count]);
  for (const it of unread) it.unread_count = 0;
  [overview.items, overview.notices] = [[], []];
  site.say('overview');
  const isUndone = await toast(say('inbox.allRead', { n: ids.size || notices.length }), { undo: () => {} });
  if (isUndone) {
    for (const [it, count] of before) it.unread_count = count;
    [overview.items, overview.notices] = [items, notices];
    site.say('overview');
    return;
  }
  try {
    await site.client.calls.markAllRead({ body: { up_to: upTo } });
  } catch (error) {
    toast(sayProblem(error));
  }
  overview.soon();
}
