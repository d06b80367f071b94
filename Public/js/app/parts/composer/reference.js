// The message that the composer is about.

import { el, icon, refill } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { iconButton } from '../forms/button.js';

/** The line above the field: the message that is edited or replied to. `leave` is called by its close button. */
export function referenceBar(leave) {
  const node = el('div.composer-above', { hidden: true });
  const bar = {
    node,
    replyTo: null,
    editing: null,
    set({ replyTo = null, editing = null }) {
      Object.assign(bar, { replyTo, editing });
      const about = editing ?? replyTo;
      node.hidden = !about;
      if (!about) return refill(node);
      const title = editing ? say('composer.editing') : say('composer.replying', { name: replyTo.author });
      return refill(
        node,
        icon(editing ? 'edit' : 'reply'),
        el('span.one-line', null, el('strong', null, title), ' ', about.text ?? ''),
        iconButton('close', say(editing ? 'composer.leaveEdit' : 'composer.leaveReply'), { on: leave, key: 'Esc' }),
      );
    },
  };
  return bar;
}
