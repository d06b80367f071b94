// A permalink: opens a message in its current conversation.

import { forumTabs } from '../forum/forumhead.js';
import { conversationPage } from './conversation.js';
import { presenceLine } from '../conversation/presenceline.js';

export async function open(shell, { message: id }) {
  const { site } = shell;
  let message = await site.call('GET', `/messages/${encodeURIComponent(id)}`);
  for (let steps = 0; message.moved_to && steps < 5; steps++)
    message = await site.call('GET', `/messages/${message.moved_to}`);
  const conversation = await site.conversation(message.conversation_id);
  const forum = conversation.forum_id ? await site.forum(conversation.forum_id) : null;
  const tabs = conversation.kind === 'room' && forum ? forumTabs(shell, forum, 'room', presenceLine(site, conversation)) : null;
  return conversationPage(shell, conversation, { forum, message: message.id, tabs });
}
