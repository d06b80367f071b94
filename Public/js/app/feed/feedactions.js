// The actions on a post of a feed or a reply: those of messages, without the ones that feeds don't have.

import { MessageActions } from '../conversation/messages/actions.js';
import { menu } from '../parts/overlays/menu.js';
import { messageSheet } from '../parts/message/sheet.js';
import { say } from '../core/text/text.js';

/** Feeds have no pins, and no lists of readers. */
const MISSING = new Set(['pin', 'status']);
/** The verbs of the keys. */
const VERBS = { r: 'reply', e: 'edit', '+': 'pick', s: 'star', l: 'link' };

export class FeedActions extends MessageActions {
  like(message, on) {
    return on ? this.stream.setAction(message, 'like') : this.stream.removeAction(message, 'like');
  }

  repost(message, on) {
    return on ? this.stream.setAction(message, 'repost') : this.stream.removeAction(message, 'repost');
  }

  items(message) {
    return super.items(message).filter((it) => !MISSING.has(it?.act));
  }

  more(message, anchor) {
    const items = this.items(message);
    if (!matchMedia('(pointer: coarse), (max-width: 43.6875rem)').matches) return menu(anchor, items, say('sheet.title'));
    const react = (emoji) => (emoji ? this.run(message, 'react', { emoji, on: true }) : this.run(message, 'pick'));
    return messageSheet(items, message.state ? null : react);
  }
}

/** The operations on messages of one feed. */
const operations = ({ parley }) => ({
  keep: ({ id }) => parley.renew(`message:${id}`),
  setAction: (message, type) => parley.setAction(message, type),
  removeAction: (message, type) => parley.removeAction(message, type),
  setVote: (message, options) => parley.setVote(message, options),
  edit: (message, change) => parley.edit(message, change),
  retry: (message) => parley.retry(message.operation),
  discard: (message) => parley.cancel(message.operation),
});

/**
 * The actions on the messages of a view.
 * @param {object} shell
 * @param {object} view `field`: where posts are edited and replies begin; `cannot(message)`: why the user can't reply, or null;
 *   `owner(message)`: the id of the feed's owner
 */
export function feedActions(shell, { field, cannot = () => null, owner }) {
  const { site } = shell;
  const of = (message) => {
    const conversation = { id: message.conversation_id, kind: 'feed', owner_id: owner(message) };
    return new FeedActions({
      shell, site, conversation, field,
      stream: operations(site),
      forum: null,
      now: () => conversation,
      cannot: () => cannot(message),
      canModerate: conversation.owner_id === site.me.id,
    });
  };
  return {
    run: (message, verb, detail) => of(message).run(message, verb, detail),
    /** Runs the action of a key on the focused message. Returns whether there is one. */
    press(event, message) {
      const verb = VERBS[event.key];
      const acts = of(message);
      if (!verb || (message.state && verb !== 'edit')) return false;
      if (verb === 'pick' || acts.items(message).some((it) => it?.act === verb)) acts.run(message, verb);
      return true;
    },
  };
}
