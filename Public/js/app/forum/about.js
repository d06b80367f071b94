// The about page of a forum: description, members, personal settings.

import { showAnswer } from '../../parley/answers.js';
import { el, redraw } from '../core/dom.js';
import { watchSubject } from '../conversation/subject.js';
import { createdLine } from './facts.js';
import { asItIs, attend, joinButton, leaveForum, canManage, canEdit, memberMenu } from './membership.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { button } from '../parts/forms/button.js';
import { ask, confirm } from '../parts/overlays/dialog.js';
import { choice, field } from '../parts/forms/field.js';
import { userRow } from '../parts/user/user.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';
import { rich } from '../parts/message/rich.js';
import { forumAddress } from '../core/router.js';
import { forumIcon } from '../core/titles.js';
import { loadMoreText, say, sayProblem } from '../core/text/text.js';
import { canJoin, loadForums } from '../state/forums.js';

export async function about(shell, forum) {
  const { site } = shell;
  await loadMoreText();
  const members = memberList(site, forum);
  const room = site.me && (await site.conversation(forum.room_id).catch(() => null));
  const ofRoom = room && (await import('../conversation/details.js')).blocks(shell, room);
  const unfollow = attend(site, forum);
  const endSubject = watchSubject(shell, 'forums', forum.id);
  const bar = pageBar(forum.title, {
    second: say('forum.about'),
    back: () => shell.router.back(forumAddress(forum)),
    search: `/search?from=${forum.id}`,
    state: site.state,
  });
  const facts = el('div');
  const foot = el('div.form-foot');
  const shown = {};
  let drawn = '';
  const draw = () => {
    const now = asItIs(site, forum);
    const look = `${now.revision} ${now.role}`;
    // Others may change it, and the user may join or leave meanwhile.
    if (drawn === look) return;
    drawn = look;
    Object.assign(shown, { title: now.title, here: forumAddress(now) });
    bar.querySelector('.page-bar-title').textContent = now.title;
    redraw(facts, head(site, now), !!now.description && rich(now.description), now.shows_revisions && el('p.second', null, say('forum.revisionsOpen')));
    redraw(foot, actions(shell, now));
    if (shell.page === shown) shell.entitle();
  };
  draw();
  const unlisten = site.listen(['forums'], draw);
  return Object.assign(shown, {
    node: [
      bar,
      el(
        'div.page-body',
        null,
        el(
          'div.page-column',
          null,
          facts,
          site.me && el('section', { class: 'panel-block' }, levelChoice(site, forum)),
          foot,
          el('h2.section-title', null, say('forum.membersTitle')),
          members.node,
          ofRoom && [el('h2.section-title', null, say('forum.room')), ofRoom],
          canEdit(site, forum) && deletion(shell, forum),
        ),
      ),
    ],
    close: () => {
      unlisten();
      unfollow();
      endSubject();
      members.close();
    },
  });
}

function head(site, forum) {
  return el(
    'div.forum-head',
    null,
    el('img', { src: forumIcon(forum), alt: '', width: 72, height: 72 }),
    el(
      'div',
      null,
      el('h2', null, forum.title),
      el('p.second', null, say(`forum.audience.${forum.visibility}`)),
      createdLine(site, forum),
    ),
  );
}

/** The notification level of the forum. */
function levelChoice(site, forum) {
  return choice(
    say('level.title'),
    ['everything', 'mentions', 'nothing'].map((it) => [it, say(`level.${it}`)]),
    {
      value: site.conversations.get(forum.room_id)?.level ?? 'mentions',
      hint: say('level.hint'),
      on: (value) =>
        site.call('PUT', `/forums/${forum.id}/level`, { body: { level: value } }).catch((error) => toast(sayProblem(error))),
    },
  );
}

function actions(shell, forum) {
  const { site } = shell;
  const canChange = canEdit(site, forum);
  return [
    canJoin(site, forum) && joinButton(shell, forum),
    (canChange || canManage(site, forum)) &&
      button(say('forum.edit'), { picture: 'edit', on: () => shell.go(forumAddress(forum, 'settings')) }),
    canManage(site, forum) && button(say('admin.reports'), { picture: 'flag', on: () => shell.go('/admin/reports') }),
    canChange && button(say('forum.add'), { picture: 'plus', on: () => addMember(shell, forum) }),
    forum.role && button(say('forum.leave'), { picture: 'leave', on: () => leaveForum(shell, forum) }),
  ];
}

/** At the end, away from the buttons of every day. */
function deletion(shell, forum) {
  return [
    el('h2.section-title', null, say('forum.delete')),
    el('div.panel-block', null, el('p.second', null, say('forum.deleteSentence')), button(say('forum.delete'), { kind: 'danger', on: () => remove(shell, forum) })),
  ];
}

async function addMember(shell, forum) {
  const name = await ask(
    say('forum.addTitle'),
    field(say('forum.addField'), { hint: say('forum.addHint') }),
    say('forum.add'),
  );
  if (!name) return;
  const go = shell.fromHere();
  try {
    await shell.site.call('PUT', `/forums/${forum.id}/members/@${encodeURIComponent(name.replace(/^@/, ''))}`, { body: {} });
    go(location.pathname, { replace: true });
  } catch (error) {
    toast(sayProblem(error));
  }
}

async function remove(shell, forum) {
  const { site } = shell;
  const question = [say('forum.deleteTitle', { title: forum.title }), say('forum.deleteSentence'), say('forum.delete')];
  if (!(await confirm(...question))) return;
  const go = shell.fromHere();
  try {
    await site.call('DELETE', `/forums/${forum.id}`);
    await loadForums(site);
    go('/forums', { replace: true });
  } catch (error) {
    toast(sayProblem(error));
  }
}

/** The members, page by page. */
function memberList(site, forum) {
  const node = el('div');
  const canChange = canEdit(site, forum);
  let found = null;
  let next = null;
  const draw = () => redraw(node, found?.map(row) ?? null, next && more);
  const load = async (position = null) => {
    const ask = () => site.call('GET', `/forums/${forum.id}/members`, { query: { next: position, limit: 100 } });
    const show = (page) => {
      found = position ? [...found, ...page.data] : page.data;
      next = page.next;
      draw();
    };
    if (position) show(await ask());
    else await showAnswer(site.parley, `members of ${forum.id}`, ask, show, (error) => error.isTemporary || toast(sayProblem(error)));
  };
  const row = ({ user, role }) =>
    userRow(user, {
      href: user.name ? `/u/${encodeURIComponent(user.name)}` : null,
      second: role === 'member' ? null : say(`role.${role}`),
      presence: site.presenceOf(user.id),
      end: canChange && user.id !== site.me.id ? menuOf(user, role) : null,
    });
  const menuOf = (user, role) =>
    memberMenu(
      site,
      {
        user,
        role,
        roles: ['member', 'moderator', 'admin'],
        path: `/forums/${forum.id}/members/${user.id}`,
        title: forum.title,
      },
      () => load(),
    );
  const more = showMoreButton(() => load(next));
  load().catch(() => {});
  site.addEventListener('presence', draw);
  return { node, close: () => site.removeEventListener('presence', draw) };
}
