import { el, icon, set, spoken } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { say } from '../../core/text/text.js';
import { avatar, avatarPair } from '../user/avatar.js';
import { forumPicture } from '../user/forumpicture.js';
import { badge, topicsBadge } from './badge.js';
import { iconButton } from '../forms/button.js';
import { presenceWords, withPresence } from '../user/presence.js';
import { sign } from './sign.js';

/** A navigation link. `unread` and new `topics` make it bold; `loud` accents the count. */
export function sidebarLink(words, { href, picture, forum, users, presence, unread = 0, topics = 0, loud = false, isHere = false } = {}) {
  return el(
    'a.sidebar-link',
    { href, title: words, class: unread || topics ? 'is-unread' : '', aria: { current: isHere ? 'page' : null } },
    picture && icon(picture),
    forum && forumPicture(forum),
    users && (users.length > 1 ? avatarPair(users, { size: 1 }) : withPresence(avatar(users[0], { size: 1 }), presence)),
    el('span.one-line', { dir: 'auto' }, words, presence && spoken(` ${presenceWords(presence)}`)),
    topicsBadge(topics),
    badge(unread, { loud }),
  );
}

/**
 * @param {object} view community {name, icon}, sections [{key, title, items, isFolded, isLast, list}], forums (how many there are,
 *   where not all stand here), me, state, here, inbox {unread, loud}, topics (how many are new),
 *   on {search, newConversation, fold, entry, section}
 */
export function sidebar(view) {
  const { community, sections, me, inbox = {}, here = '', on = {} } = view;
  return el(
    'aside.sidebar',
    null,
    el(
      'a.sidebar-head',
      { href: '/', title: community.name },
      el('img', { src: '/api/v1/icon', alt: '', width: 28, height: 28 }),
      el('span.one-line', { dir: 'auto' }, community.name),
    ),
    el(
      'button.sidebar-search',
      { on: { click: on.search }, title: say('command.title') },
      icon('search'),
      el('span', null, say('navigation.search')),
      el('kbd', null, 'Ctrl K'),
    ),
    el(
      'nav.sidebar-list',
      { aria: { label: say('navigation.all') }, data: { part: 'list' } },
      sidebarLink(say('navigation.inbox'), {
        href: '/',
        picture: 'inbox',
        unread: inbox.unread,
        loud: inbox.loud,
        isHere: here === '/',
      }),
      sidebarLink(say('navigation.forums'), { href: '/forums', picture: 'forums', topics: view.topics, isHere: here === '/forums' }),
      sidebarLink(say('navigation.feed'), { href: '/feed', picture: 'globe', isHere: here === '/feed' }),
      sections.map((section) => [
        section.isLast && !!view.forums && allForums(view.forums),
        sectionHead(section, on),
        !section.isFolded && section.items.map((it) => entryRow(it, section.list, here, on)),
      ]),
    ),
    el(
      'footer.sidebar-foot',
      null,
      sidebarLink(displayName(me), { href: '/you', users: [me], isHere: here === '/you' }),
    ),
  );
}

/** The heading of a section: it folds, and a folded one has the sums. `list`: the position among the user's own lists. */
function sectionHead({ key, title, items, isFolded, isLast, list }, on) {
  const sum = (name) => (isFolded ? items.reduce((all, it) => all + (it[name] ?? 0), 0) : 0);
  return el(
    'div.sidebar-section',
    { data: { list } },
    el('h2', null, el('button.sidebar-fold', { dir: 'auto', aria: { expanded: String(!isFolded) }, data: { act: `fold ${key}` }, on: { click: () => on.fold(key) } }, title)),
    topicsBadge(sum('topics')),
    badge(sum('unread'), { loud: items.some((it) => it.loud && it.unread) }),
    iconButton('more', say('sidebar.arrange', { title }), { on: (event) => on.section(key, list - 1, event.currentTarget), data: { act: 'section' } }),
    isLast && iconButton('plus', say('act.newConversation'), { on: on.newConversation }),
  );
}

/** A link with its menu: for the pointer a button, for keys the menu key or Shift F10 on the link. */
function entryRow(it, list, here, on) {
  const open = (event) => {
    event.preventDefault();
    on.entry(it.key, event.currentTarget);
  };
  const link = set(sidebarLink(it.title, { ...it, isHere: here === it.href }), { on: { contextmenu: open } });
  const more = set(iconButton('more', say('sidebar.arrange', { title: it.title }), { on: open }), { tabindex: '-1' });
  return el('div.sidebar-row', { data: { entry: it.key, list } }, link, more);
}

/** The link *All forums*. Another link has the same address, so its label identifies it when focus is restored. */
function allForums(n) {
  const words = say('navigation.allForums', { n });
  return set(sidebarLink(words, { href: '/forums', picture: 'more' }), { aria: { label: words } });
}

/** The four main links, at the foot of a phone. */
export function bottomBar({ here = '', inbox = {}, messages = {}, topics = 0 } = {}) {
  const navigationLink = (href, picture, words, count = {}) =>
    el(
      'a.bottom-link',
      { href, aria: { current: here === href ? 'page' : null } },
      icon(picture),
      el('span', null, words),
      count.topics ? topicsBadge(count.topics) : badge(count.unread, { loud: count.loud }),
    );
  return el(
    'nav.bottom-bar',
    { aria: { label: say('navigation.all') } },
    navigationLink('/', 'inbox', say('navigation.inbox'), inbox),
    navigationLink('/forums', 'forums', say('navigation.forums'), { topics }),
    navigationLink('/messages', 'messages', say('navigation.messages'), messages),
    navigationLink('/you', 'user', say('navigation.you')),
  );
}

/** The header of a page: back button on phones, title, subtitle, actions, the address of a search, connection state. */
export function pageBar(title, { second, back, picture, actions = [], search = '/search', state } = {}) {
  return el(
    'header.page-bar',
    null,
    back &&
      el(
        'button.icon-button.back',
        { aria: { label: say('act.back') }, title: say('act.back'), on: { click: back } },
        icon('back'),
      ),
    picture,
    el(
      'div.page-bar-words',
      null,
      el('h1.page-bar-title', { dir: 'auto', tabindex: '-1' }, title),
      second && el('p.mark.one-line.page-bar-second', { dir: 'auto' }, second),
    ),
    actions,
    // Search is here if the sidebar is hidden.
    state && search && el('a.icon-button.phone-only', { href: search, aria: { label: say('navigation.search') }, title: say('navigation.search') }, icon('search')),
    state && el('span.page-bar-sign', null, sign(state)),
  );
}
