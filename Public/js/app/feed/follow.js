// Following a user: their posts stand on the page of feeds.

import { displayName } from '../core/displayname.js';
import { say } from '../core/text/text.js';
import { report } from '../account/security/stepup.js';
import { button, whileBusy } from '../parts/forms/button.js';
import { toast } from '../parts/overlays/toast.js';

export const follows = ({ parley }, id) => parley.mirror.relations.get(id)?.follow === true;

const setFollow = ({ client }, id, on) => (on ? client.calls.followUser({ id }) : client.calls.unfollowUser({ id }));

/** A button that follows a user, or unfollows. The label changes with the relation. `update` draws it again. */
export function followButton(site, user) {
  const node = button('', { on: press });
  function update() {
    const isFollowed = follows(site, user.id);
    node.querySelector('span').textContent = say(isFollowed ? 'feed.unfollow' : 'feed.follow');
  }
  async function press() {
    const on = !follows(site, user.id);
    try {
      await whileBusy(node, () => setFollow(site, user.id, on));
      const words = say(on ? 'feed.followed' : 'feed.unfollowed', { name: displayName(user) });
      if (await toast(words, { undo: () => {} })) await setFollow(site, user.id, !on);
    } catch (error) {
      report(error);
    }
  }
  update();
  return Object.assign(node, { update });
}
