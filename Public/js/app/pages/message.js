// A permalink: opens a message in its current conversation.

import { loadMoreText } from '../core/text/text.js';
import { forumTabs } from '../forum/forumhead.js';
import { conversationPage } from './conversation.js';
import { presenceLine } from '../conversation/presenceline.js';

export async function open(shell, { message: id, query }, restore) {
  const { site } = shell;
  let message = await fetchOrRead(site, id);
  for (let steps = 0; message.moved_to && steps < 5; steps++)
    message = await site.call('GET', `/messages/${message.moved_to}`);
  const conversation = await site.conversation(message.conversation_id);
  if (conversation.kind === 'feed' && site.me) {
    const [{ openThread }] = await Promise.all([import('./feed.js'), loadMoreText()]);
    return openThread(shell, message, conversation, restore ? null : query);
  }
  const forum = conversation.forum_id ? await site.forum(conversation.forum_id) : null;
  const tabs = conversation.kind === 'room' && forum ? forumTabs(shell, forum, 'room', presenceLine(site, conversation)) : null;
  return conversationPage(shell, conversation, { forum, message: message.id, tabs });
}

/** Without a network the cached message is shown. */
async function fetchOrRead(site, id) {
  const held = await site.parley?.store.get('messages@id', id);
  try {
    return await site.call('GET', `/messages/${encodeURIComponent(id)}`, held ? { tries: 1 } : {});
  } catch (error) {
    if (!held || error.code !== 'network') throw error;
    return held;
  }
}
