// The command menu: people, forums, topics and every action by name; the list of keys; and "everything is read".

import { el } from './dom.js';
import { nameOf } from './named.js';
import { avatar } from './parts/avatar.js';
import { commandMenu } from './parts/commands.js';
import { dialog } from './parts/dialog.js';
import { toast } from './parts/toast.js';
import { forumAddress, talkAddress } from './router.js';
import { talkTitle } from './titles.js';
import { say, sayProblem } from './text.js';

const MOST = 12;

export function openCommands(shell) {
  return commandMenu((words) => find(shell, words));
}

async function find(shell, words) {
  const { place } = shell;
  const wanted = fold(words);
  const fits = (text) =>
    !wanted ||
    fold(text)
      .split(/\s+/)
      .some((word) => word.startsWith(wanted)) ||
    fold(text).includes(wanted);
  const go = (address) => () => shell.go(address);
  const talks = place.talks().map((it) => {
    const others = place.othersIn(it);
    return {
      words: talkTitle(place, it),
      second: say('place.messages'),
      picture: others[0] ? avatar(others[0], { size: 1 }) : 'messages',
      on: go(talkAddress(it)),
    };
  });
  const forums = [...place.forums.values()].map((it) => ({
    words: it.title,
    second: say('command.forum'),
    picture: 'forums',
    on: go(forumAddress(it)),
  }));
  const topics = [...place.conversations.values()]
    .filter((it) => it.kind === 'topic')
    .map((it) => ({
      words: it.title,
      second: place.forums.get(it.forum_id)?.title ?? say('command.topic'),
      picture: 'topic',
      on: go(talkAddress(it)),
    }));
  const actions = [
    { words: say('place.inbox'), picture: 'inbox', keys: 'g i', on: go('/') },
    { words: say('place.forums'), picture: 'forums', keys: 'g f', on: go('/forums') },
    { words: say('place.messages'), picture: 'messages', keys: 'g m', on: go('/messages') },
    { words: say('act.newConversation'), picture: 'plus', on: go('/messages/new') },
    place.mayMakeForums && { words: say('act.newForum'), picture: 'plus', on: go('/forums/new') },
    { words: say('inbox.readAll'), picture: 'checks', keys: 'Shift Esc', on: () => markAllRead(shell) },
    { words: say('you.look'), picture: 'palette', on: go('/you/look') },
    { words: say('you.profile'), picture: 'person', on: go('/you/profile') },
    place.isModerator && { words: say('admin.title'), picture: 'shield', on: go('/admin') },
    place.isHost && { words: say('admin.invites'), picture: 'link', on: go('/admin/invites') },
    { words: say('keys.title'), picture: 'settings', keys: '?', on: showKeys },
  ].filter(Boolean);
  const known = [...talks, ...forums, ...topics, ...actions].filter((it) => fits(it.words));
  if (!wanted) return known.slice(0, MOST);
  const people = await place.findPeople(words).catch(() => []);
  return [
    ...known.slice(0, MOST),
    ...people.slice(0, 5).map((it) => ({
      words: nameOf(it),
      second: `@${it.name}`,
      picture: avatar(it, { size: 1 }),
      on: go(`/u/${encodeURIComponent(it.name)}`),
    })),
    { words: say('command.search', { words }), picture: 'search', on: go(`/search?q=${encodeURIComponent(words)}`) },
  ];
}

const fold = (text) =>
  String(text ?? '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .trim();

export function showKeys() {
  const rows = [
    'Ctrl K',
    '?',
    'Alt ↑ ↓',
    'Alt Shift ↑ ↓',
    'g i · g f · g m',
    '/',
    'c',
    '↑',
    'j k',
    'r e + s',
    't · l',
    'Esc',
    'Shift Esc',
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
  const { place } = shell;
  const unread = [...place.conversations.values()].filter((it) => it.unread_count > 0 && it.last_message_id);
  if (!unread.length && !place.called) return;
  const before = unread.map((it) => [it, it.unread_count]);
  for (const it of unread) it.unread_count = 0;
  place.say('conversations');
  const isUndone = await toast(say('inbox.allRead', { n: unread.length }), { undo: () => {} });
  if (isUndone) {
    for (const [it, count] of before) it.unread_count = count;
    place.say('conversations');
    return;
  }
  try {
    for (const it of unread) await place.markRead(it, { id: it.last_message_id });
    await place.readInbox?.();
  } catch (error) {
    toast(sayProblem(error));
  }
}
