// Forum membership: joining, leaving, and managing the members of a forum or group.

import { button, iconButton, whileBusy } from '../parts/forms/button.js';
import { confirm } from '../parts/overlays/dialog.js';
import { menu } from '../parts/overlays/menu.js';
import { toast } from '../parts/overlays/toast.js';
import { displayName } from '../core/displayname.js';
import { say, sayProblem } from '../core/text/text.js';
import { canJoin } from '../state/forums.js';

const PICTURES = { member: 'user', moderator: 'shield', admin: 'shield' };

/** Whether the user moderates a forum; without a forum, the site. */
export const canManage = (site, forum) => site.isModerator || ['moderator', 'admin'].includes(forum?.role);

/** Whether the user may edit a forum. */
export const canEdit = (site, forum) => site.isStaff || forum.role === 'admin';

/** Whether the user belongs to an audience of a forum. @param {'readers'|'members'|'moderators'} circle */
export function isMember(site, forum, circle) {
  if (forum.role ? circle !== 'moderators' : circle === 'readers' && site.me.role !== 'guest' && forum.visibility !== 'private') return true;
  return canManage(site, forum);
}

/** Whether the user may write for an audience of a forum, also by a group, or may after joining, as writing does. */
export const canBeAmong = (site, forum, circle) =>
  isMember(site, forum, circle) || forum.group_access === 'write' || (circle === 'members' && canJoin(site, forum));

/** The silence that keeps the user from writing in the forum, or outside of forums. */
export const silenceIn = ({ me }, forum) =>
  me?.silences?.find(({ forum_id: at, until }) => (!at || at === forum?.id) && !(Date.parse(until) <= Date.now()));

/** A forum as it is by now. */
export const asItIs = (site, forum) => site.forums.get(forum?.id) ?? forum;

/**
 * Subscribes to a forum while a page shows it, and fetches missed changes. Returns the function that ends it. Without it,
 * private forums and topics of others send no events.
 */
export function attend(site, forum) {
  if (!forum || !site.parley) return () => {};
  const end = site.parley.subscribe(`forum:${forum.id}`);
  site.parley.renew(`forum:${forum.id}`);
  return end;
}

/** Joins a forum. Its room becomes one of the user's conversations. */
export async function joinForum(site, forum) {
  await site.call('PUT', `/forums/${forum.id}/members/me`);
  await know(site, forum);
  toast(say('forum.joined', { title: forum.title }));
}

/** Joins the forum of the page. */
export function joinButton(shell, forum) {
  const join = button(say('forum.join'), {
    kind: 'primary',
    on: () =>
      whileBusy(join, async () => {
        const go = shell.fromHere();
        try {
          await joinForum(shell.site, forum);
          go(location.pathname, { replace: true });
        } catch (error) {
          toast(sayProblem(error));
        }
      }),
  });
  return join;
}

/** Leaves a forum. Asks first only where the user could not join again. */
export async function leaveForum(shell, forum) {
  const isHidden = forum.visibility === 'private' || shell.site.me.role === 'guest';
  const path = `/forums/${forum.id}/members/me`;
  if (isHidden && !(await confirm(say('forum.leaveTitle', { title: forum.title }), say('forum.leavePrivate'), say('forum.leave')))) return;
  const go = shell.fromHere();
  try {
    await shell.site.call('DELETE', path);
    // The user has left, even if later requests fail.
    if (!isHidden) await know(shell.site, forum).catch(() => {});
    go('/forums', { replace: true });
    if (isHidden || !(await toast(say('forum.left', { title: forum.title }), { undo: () => {} }))) return;
    await shell.site.call('PUT', path);
    await know(shell.site, forum);
  } catch (error) {
    toast(sayProblem(error));
  }
}

/**
 * Menu items for a member of `title`. Calls `changed` after an action.
 * @param {{ user: any, role: string, roles: string[], path: string, title: string }} member
 */
export function memberMenu(site, { user, role: now, roles, path, title }, changed) {
  const name = displayName(user);
  const work = (call) => call.then(changed, (error) => toast(sayProblem(error)));
  const remove = async () => {
    try {
      await site.call('DELETE', path);
      changed();
      if (!(await toast(say('member.removed', { name, title }), { undo: () => {} }))) return;
      await site.call('PUT', path, { body: { role: now } });
      changed();
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  return iconButton('more', say('member.more', { name }), {
    // Deleted users have the same name.
    data: { user: user.id },
    on: ({ currentTarget }) =>
      menu(
        currentTarget,
        [
          ...roles.filter((role) => role !== now).map((role) => ({
            words: say(`member.make.${role}`),
            picture: PICTURES[role],
            on: () => work(site.call('PUT', path, { body: { role } })),
          })),
          null,
          { words: say('member.remove'), picture: 'leave', danger: true, on: remove },
        ],
        say('member.more', { name }),
      ),
  });
}

/** Fetches the user's own membership: a user that was no member has no subscription to the forum. */
async function know(site, forum) {
  const fetched = await site.call('GET', `/forums/${forum.id}`);
  // The number of its members, which tiles show, has changed, too.
  Object.assign(site.activity.get(forum.id) ?? {}, { member_count: fetched.member_count });
  Object.assign(forum, site.keepForum(fetched));
  site.parley?.renew(`forum:${forum.id}`);
}
