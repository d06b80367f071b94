// Belonging to a forum: joining, leaving; and what those who look after a forum or a group do about who is in it.

import { button, iconButton, whileBusy } from '../parts/button.js';
import { confirm } from '../parts/dialog.js';
import { menu } from '../parts/menu.js';
import { toast } from '../parts/toast.js';
import { displayName } from '../core/displayname.js';
import { say, sayProblem } from '../core/text.js';

const PICTURES = { member: 'person', moderator: 'shield', admin: 'shield' };

/** Whether I keep order in a forum. Without one, in the place. */
export const canManage = (site, forum) => site.isModerator || ['moderator', 'admin'].includes(forum?.role);

/** Whether I may say what a forum is. */
export const canEdit = (site, forum) => site.isHost || forum.role === 'admin';

/** Whether I am among those whom a forum lets do something. @param {'readers'|'members'|'moderators'} circle */
export function isMember(site, forum, circle) {
  if (forum.role ? circle !== 'moderators' : circle === 'readers' && site.me.role !== 'guest') return true;
  return canManage(site, forum);
}

/** As far as can be known here: who reads a forum may belong to it, and guests are brought. */
export const canJoin = (site, forum) => !!site.me && !forum.role && site.me.role !== 'guest' && !forum.archived;

/** A forum as it is by now. */
export const asItIs = (site, forum) => site.forums.get(forum?.id) ?? forum;

/**
 * While one looks at a forum, what changes in it is told: nothing else tells of a private one, nor of topics that are not one's
 * own; and what was missed is asked for. Gives back how to end it.
 */
export function attend(site, forum) {
  if (!forum || !site.parley) return () => {};
  const end = site.parley.follow(`forum:${forum.id}`);
  site.parley.renew(`forum:${forum.id}`);
  return end;
}

/** Its room then stands among one's own, with what is new in it. */
export function joinButton(shell, forum) {
  const join = button(say('forum.join'), {
    kind: 'primary',
    on: () =>
      whileBusy(join, async () => {
        const go = shell.fromHere();
        try {
          await shell.site.call('PUT', `/forums/${forum.id}/members/me`);
          await know(shell.site, forum);
          toast(say('forum.joined', { title: forum.title }));
          go(location.pathname, { replace: true });
        } catch (error) {
          toast(sayProblem(error));
        }
      }),
  });
  return join;
}

/** Who was brought is brought again, or does not come back. */
export async function leaveForum(shell, forum) {
  const isHidden = forum.visibility === 'private' || shell.site.me.role === 'guest';
  const sentence = say(isHidden ? 'forum.leavePrivate' : 'forum.leaveSentence');
  if (!(await confirm(say('forum.leaveTitle', { title: forum.title }), sentence, say('forum.leave')))) return;
  const go = shell.fromHere();
  try {
    await shell.site.call('DELETE', `/forums/${forum.id}/members/me`);
    // They have left, whatever can be asked now.
    if (!isHidden) await know(shell.site, forum).catch(() => {});
    go('/forums', { replace: true });
  } catch (error) {
    toast(sayProblem(error));
  }
}

/**
 * What can be done about somebody who is in `title`, by its `path`; `changed` is called when it is.
 * @param {{ person: any, role: string, roles: string[], path: string, title: string, isPrivate: boolean }} member
 */
export function memberMenu(site, { person, role: now, roles, path, title, isPrivate }, changed) {
  const name = displayName(person);
  const work = (call) => call.then(changed, (error) => toast(sayProblem(error)));
  const remove = async () => {
    const sentence = say(isPrivate ? 'member.removePrivate' : 'member.removeSentence');
    if (await confirm(say('member.removeTitle', { name, title }), sentence, say('member.remove'))) await work(site.call('DELETE', path));
  };
  return iconButton('more', say('member.more', { name }), {
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

/** Whoever was no member follows no events of the forum: their part in it is asked for. */
async function know(site, forum) {
  Object.assign(forum, site.keepForum(await site.call('GET', `/forums/${forum.id}`)));
  site.parley?.renew(`forum:${forum.id}`);
}
