// Forums as tiles, in the sections of the staff.

import { el, redraw } from '../core/dom.js';
import { keepAnswer, keptAnswer } from '../../parley/answers.js';
import { displayName } from '../core/displayname.js';
import { button, iconButton, whileBusy } from '../parts/forms/button.js';
import { empty } from '../parts/lists/empty.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { tile } from '../parts/lists/tile.js';
import { toast } from '../parts/overlays/toast.js';
import { forumAddress } from '../core/router.js';
import { forumIcon } from '../core/titles.js';
import { say, sayProblem } from '../core/text/text.js';
import { onPullToRefresh } from '../parts/lists/touch.js';
import { arrangementOf } from '../state/sidebar.js';
import { onReconnect } from '../state/siteevents.js';
import { canJoin, forumSections, loadForums, newestByForum, unreadByForum } from '../state/forums.js';

/** Tiles per page, and the number of undrawn tiles below the viewport at which the next page is drawn. */
const PAGE = 100;
const AHEAD = 50;
/** The pause before the activity is fetched again, in milliseconds. */
const PAUSE = 3_000;

export async function open(shell, _, restore) {
  const { site } = shell;
  // Activity and counts come from the server; what is held is shown meanwhile.
  const start = site.parley?.mirror.start;
  const loading = loadForums(site).then(() => keepActivity(site, start));
  if (!site.forums.size) await loading;
  else loading.catch(() => restoreActivity(site));
  let count = restore?.count ?? PAGE;
  const column = el('div.page-column.is-wide');
  const make = (folds) =>
    button(say('act.newForum'), { kind: folds ? 'quiet' : 'primary', picture: 'plus', folds, on: () => shell.go('/forums/new') });
  const mayMake = site.mayMakeForums;
  const grids = [];
  const draw = () =>
    redraw(
      column,
      site.forums.size
        ? tiles(site, count, grids)
        : empty(say(site.isStaff ? 'forum.noneHost' : 'forum.none'), {
            picture: 'forums',
            actions: mayMake
              ? [make(), site.isStaff && button(say('invite.people'), { on: () => shell.go('/admin/invites') })].filter(
                  Boolean,
                )
              : [],
          }),
    );
  draw();
  const ends = [site.listen(['forums', 'conversations', 'overview', 'users'], draw), followActivity(site)];
  const body = el('div.page-body', null, column);
  onPullToRefresh(body, () => site.catchUp());
  const further = () => {
    while (count < site.forums.size) {
      const last = [...column.querySelectorAll('.tile')].at(-AHEAD);
      if (!last || last.getBoundingClientRect().top > body.getBoundingClientRect().bottom) return;
      count += PAGE;
      draw();
    }
  };
  body.addEventListener('scroll', further, { passive: true });
  addEventListener('resize', further);
  return {
    title: say('navigation.forums'),
    here: '/forums',
    node: [
      pageBar(say('navigation.forums'), {
        state: site.state,
        actions: [
          site.isStaff &&
            site.forums.size > 1 &&
            iconButton('order', say('admin.forums'), { on: () => shell.go('/admin/forums'), data: { act: 'arrange' } }),
          mayMake && site.forums.size > 0 && make(true),
          !site.me && el('a.button.button-primary', { href: '/sign-in' }, say('act.signIn')),
        ].filter(Boolean),
      }),
      body,
    ],
    shown: further,
    leave: () => ({ count }),
    close: () => {
      removeEventListener('resize', further);
      for (const end of ends) end();
    },
  };
}

const NAME = 'forums';

/** Keeps the last topics and numbers of members for use offline. */
async function keepActivity({ parley, activity }, start) {
  if (!parley) return;
  await keepAnswer(parley, NAME, [...activity.values()], start);
}

/** Shows what was kept of forums that this start knows nothing of. */
async function restoreActivity(site) {
  if (!site.parley || site.activity.size) return;
  for (const it of (await keptAnswer(site.parley, NAME)) ?? []) if (site.forums.has(it.id)) site.activity.set(it.id, it);
  site.say('forums');
}

/** Fetches the last topics again some time after a message in a joined forum, and after a lost connection. */
function followActivity(site) {
  let timer = null;
  const load = () => {
    timer = null;
    if (document.hidden) soon();
    else loadForums(site).catch(() => {});
  };
  const soon = () => (timer ??= setTimeout(load, PAUSE * (1 + Math.random() / 2)));
  const ends = [site.listen(['forumActivity'], soon), onReconnect(site, soon)];
  return () => {
    clearTimeout(timer);
    for (const end of ends) end();
  };
}

/**
 * Tiles of the first `max` forums in the staff's order. `grids` keeps the nodes of the sections between redraws, and
 * so the unchanged tiles: a replaced tile would lose a press in progress.
 */
export function tiles(site, max = Infinity, grids = []) {
  const newest = newestByForum(site);
  const unread = unreadByForum(site);
  const sections = forumSections(site, arrangementOf(site).order && newest);
  let left = max;
  const shown = sections.map(({ title, forums }) => {
    const first = forums.slice(0, left);
    left -= first.length;
    return { title, forums: first };
  });
  return shown.filter(({ forums }) => forums.length).map(({ title, forums }, index) => [
    (title || sections.length > 1) && el('h2.section-title', null, title ?? say('forum.noSection')),
    redraw(
      (grids[index] ??= el('div.tiles')),
      forums.map((it) => {
        const known = site.activity.get(it.id);
        const last = known?.last_topic;
        return tile(
          { ...it, icon: forumIcon(it) },
          {
            href: forumAddress(it),
            creator: site.user(it.created_by),
            unread: unread.get(it.id) ?? 0,
            topics: site.overview.newTopicsOf(it.id),
            at: newest(it) || null,
            isQuiet: known ? known.last_activity_at === null : false,
            last: last && { title: last.title, writer: displayName(site.user(last.author_id)), at: last.last_activity_at },
            members: known?.member_count,
            join: canJoin(site, it) && joinTile(site, it),
          },
        );
      }),
    ),
  ]);
}

/** Joins a forum that its tile shows. A site with many forums has as many buttons: each is one node with a text. */
function joinTile(site, forum) {
  const join = async () => {
    try {
      const { joinForum } = await import('../forum/membership.js');
      await joinForum(site, site.forums.get(forum.id) ?? forum);
    } catch (error) {
      toast(sayProblem(error));
    }
  };
  return el(
    'button.button.button-plain',
    { aria: { label: say('forum.joinNamed', { title: forum.title }) }, on: { click: ({ currentTarget }) => whileBusy(currentTarget, join) } },
    say('forum.join'),
  );
}
