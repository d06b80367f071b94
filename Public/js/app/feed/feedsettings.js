// The readers of the own feed, and the lock of its replies.

import { el } from '../core/dom.js';
import { say } from '../core/text/text.js';
import { report } from '../account/security/stepup.js';
import { dialog } from '../parts/overlays/dialog.js';
import { choice } from '../parts/forms/field.js';
import { toggle } from '../parts/forms/switch.js';
import { toast } from '../parts/overlays/toast.js';
import { ownFeed } from '../state/feed/cache.js';

const READERS = ['listed', 'users', 'anyone'];

/** The own feed, created where there is none. */
export async function ensureFeed(site, open_to = 'users') {
  const feed = ownFeed(site);
  if (feed) return feed;
  const made = await site.client.calls.createConversation({ body: { kind: 'feed', readers: { open_to } } });
  site.parley.renew(`conversation:${made.id}`);
  return made;
}

export function feedSettings(site) {
  const feed = ownFeed(site);
  let held = feed?.readers.open_to ?? 'users';
  const change = async (body, readers) => {
    try {
      const { id } = await ensureFeed(site, readers);
      await site.client.calls.updateConversation({ id, body });
      site.parley.renew(`conversation:${id}`);
      toast(say('act.saved'));
    } catch (error) {
      report(error);
      throw error;
    }
  };
  const readers = choice(
    say('feed.readers'),
    READERS.map((it) => [it, say(`feed.readers.${it}`)]),
    {
      value: held,
      hint: say('feed.readersHint'),
      on: (open_to) =>
        change({ readers: { open_to } }, open_to).then(
          () => (held = open_to),
          () => (readers.input.value = held),
        ),
    },
  );
  const lock = toggle(say('feed.lock'), { checked: !!feed?.locked, hint: say('feed.lockHint'), on: (locked) => change({ locked }) });
  return dialog(say('feed.settings'), el('div', null, readers, lock));
}
