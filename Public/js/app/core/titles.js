// Titles, icons and presence of forums and conversations, as lists and headers show them.

import { displayName } from './displayname.js';
import { say } from './text/text.js';

/** The participants of a conversation without the user. */
export function othersIn(site, conversation) {
  const ids = (conversation.participants ?? []).map((it) => it.user_id).filter((id) => id !== site.me?.id);
  return ids.map((id) => site.user(id));
}

export function forumIcon(forum) {
  return `/api/v1/forums/${forum.id}/icon`;
}

/** The presence of the other participant of a direct conversation; null for groups and while offline. */
export function presenceIn(site, conversation) {
  const [other, ...more] = othersIn(site, conversation);
  const known = other && !more.length ? site.presenceOf(other.id) : null;
  return known?.presence === 'offline' ? null : known;
}

/** The title of a conversation: its own, its forum's, or the names of the other participants. */
export function conversationTitle(site, conversation) {
  if (conversation.title) return conversation.title;
  if (conversation.kind === 'room') return site.forums.get(conversation.forum_id)?.title ?? say('forum.room');
  if (conversation.kind === 'feed') return say('navigation.feed');
  const names = othersIn(site, conversation).map(displayName);
  return names.length ? names.join(', ') : say('conversation.alone');
}

/** The conversations outside of forums, last active first. */
export function ownConversations(site) {
  return [...site.conversations.values()].filter((it) => !it.forum_id && it.kind !== 'feed' && !it.type);
}
