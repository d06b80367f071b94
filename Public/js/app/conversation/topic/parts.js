// The parts of a topic's page that other conversations don't have. They are loaded with the first topic.

import { markRead } from '../../state/messages.js';

export { besideTopics } from '../../forum/besidetopics.js';
export { topicHead } from './head.js';
export { timelineOf } from './timeline.js';

/**
 * An opened topic is not new any more, even if its first post is longer than the screen. The overview may learn of a topic after
 * it was opened.
 */
export function endNew({ site, conversation, stream, listen }) {
  const look = () => {
    const [first] = stream.messages;
    if (site.me && first && site.overview.isNew(conversation.id)) markRead(site, conversation, first).catch(() => {});
  };
  listen(site, ['overview'], look);
  look();
}
