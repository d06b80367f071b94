// A permanent link: to the message in its place, wherever it is by now.

import { forumTabs } from './forum.js';
import { talkPage, whoIsHere } from './talk.js';

export async function open(shell, { message: id }) {
  const { place } = shell;
  let message = await place.call('GET', `/messages/${encodeURIComponent(id)}`);
  for (let steps = 0; message.moved_to && steps < 5; steps++)
    message = await place.call('GET', `/messages/${message.moved_to}`);
  const conversation = await place.conversation(message.conversation_id);
  const forum = conversation.forum_id ? await place.forum(conversation.forum_id) : null;
  const tabs = conversation.kind === 'room' && forum ? forumTabs(shell, forum, 'room', whoIsHere(place, conversation)) : null;
  return talkPage(shell, conversation, { forum, message: message.id, tabs });
}
