// The about page of a forum: description, members, personal settings.

import { el, redraw } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { attend, joinButton, leaveForum, canManage, canEdit, canJoin, memberMenu } from './membership.js';
import { showMoreButton } from '../core/showmore.js';
import { button } from '../parts/button.js';
import { ask, confirm } from '../parts/dialog.js';
import { choice, field } from '../parts/field.js';
import { personRow } from '../parts/person.js';
import { pageBar } from '../parts/sidebar.js';
import { toast } from '../parts/toast.js';
import { rich } from '../core/rich.js';
import { forumAddress } from '../core/router.js';
import { forumIcon } from '../core/titles.js';
import { say, sayProblem } from '../core/text.js';

export async function about(shell, forum) {
  const { site } = shell;
  const canChange = canEdit(site, forum);
  const members = el('div');
  const creator = site.person(forum.created_by);
  let found = null;
  const lookAfter = ({ user, role }) =>
    memberMenu(
      site,
      {
        person: user,
        role,
        roles: ['member', 'moderator', 'admin'],
        path: `/forums/${forum.id}/members/${user.id}`,
        title: forum.title,
        isPrivate: forum.visibility === 'private',
      },
      () => load(),
    );
  const draw = () =>
    redraw(
      members,
      found === null
        ? null
        : found.map((it) =>
            personRow(it.user, {
              href: it.user.name ? `/u/${encodeURIComponent(it.user.name)}` : null,
              second: it.role === 'member' ? null : say(`role.${it.role}`),
              presence: site.presenceOf(it.user.id),
              end: canChange && it.user.id !== site.me.id ? lookAfter(it) : null,
            }),
          ),
      next && more,
    );
  let next = null;
  const load = async (more = null) => {
    const page = await site.call('GET', `/forums/${forum.id}/members`, { query: { next: more, limit: 100 } });
    found = more ? [...found, ...page.data] : page.data;
    next = page.next;
    draw();
  };
  const more = showMoreButton(() => load(next));
  load().catch(() => {});

  site.addEventListener('presence', draw);
  const invite = async () => {
    const name = await ask(
      say('forum.addTitle'),
      field(say('forum.addField'), { hint: say('forum.addHint') }),
      say('forum.add'),
    );
    if (!name) return;
    const go = shell.fromHere();
    try {
      await site.call('PUT', `/forums/${forum.id}/members/@${encodeURIComponent(name.replace(/^@/, ''))}`, {
        body: {},
      });
      go(location.pathname, { replace: true });
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  const remove = async () => {
    if (
      !(await confirm(
        say('forum.deleteTitle', { title: forum.title }),
        say('forum.deleteSentence'),
        say('forum.delete'),
      ))
    )
      return;
    const go = shell.fromHere();
    try {
      await site.call('DELETE', `/forums/${forum.id}`);
      await site.loadForums();
      go('/forums', { replace: true });
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  const level =
    site.me &&
    choice(
      say('level.title'),
      ['everything', 'mentions', 'nothing'].map((it) => [it, say(`level.${it}`)]),
      {
        value: site.conversations.get(forum.room_id)?.level ?? 'mentions',
        hint: say('level.hint'),
        on: (value) =>
          site.call('PUT', `/forums/${forum.id}/level`, { body: { level: value } }).then(
            () => {},
            (error) => toast(sayProblem(error)),
          ),
      },
    );
  const room = site.me && (await site.conversation(forum.room_id).catch(() => null));
  const ofRoom = room && (await import('../conversation/details.js')).blocks(shell, room);
  const unfollow = attend(site, forum);
  return {
    title: forum.title,
    here: forumAddress(forum),
    node: [
      pageBar(forum.title, {
        second: say('forum.about'),
        back: () => shell.router.back(forumAddress(forum)),
        state: site.state,
      }),
      el(
        'div.page-body',
        null,
        el(
          'div.page-column',
          null,
          el(
            'div.forum-head',
            null,
            el('img', { src: forumIcon(forum), alt: '', width: 72, height: 72 }),
            el(
              'div',
              null,
              el('h2', null, forum.title),
              el('p.second', null, say(`forum.audience.${forum.visibility}`)),
              el('p.second', null, say('forum.madeBy', { name: displayName(creator) })),
            ),
          ),
          forum.description && rich(forum.description),
          forum.shows_revisions && el('p.second', null, say('forum.revisionsOpen')),
          level && el('section', { class: 'panel-block' }, level),
          el(
            'div.form-foot',
            null,
            canJoin(site, forum) && joinButton(shell, forum),
            (canChange || canManage(site, forum)) &&
              button(say('forum.edit'), { picture: 'edit', on: () => shell.go(forumAddress(forum, 'settings')) }),
            canChange && button(say('forum.add'), { picture: 'plus', on: invite }),
            forum.role && button(say('forum.leave'), { picture: 'leave', on: () => leaveForum(shell, forum) }),
            canChange && button(say('forum.delete'), { kind: 'danger', on: remove }),
          ),
          el('h2.section-title', null, say('forum.membersTitle')),
          members,
          ofRoom && [el('h2.section-title', null, say('forum.room')), ofRoom],
        ),
      ),
    ],
    close: () => {
      unfollow();
      site.removeEventListener('presence', draw);
    },
  };
}
