// The frame around every page: sidebar, bottom bar, the page, dialogs, notices and global keyboard shortcuts.

import { el, focusAgain, isTyping } from './core/dom.js';
import { rememberLook } from './core/theme.js';
import { displayName } from './core/displayname.js';
import { banner } from './parts/banner.js';
import { empty, skeleton } from './parts/empty.js';
import { sidebarEdge } from './parts/edge.js';
import { bottomBar, sidebar } from './parts/sidebar.js';
import { sign } from './parts/sign.js';
import { button } from './parts/button.js';
import { toast } from './parts/toast.js';
import { plain } from './core/rich.js';
import { compare } from './state/site.js';
import { forumAddress, match, Router, conversationAddress } from './core/router.js';
import { say, sayProblem } from './core/text.js';
import { clock } from './core/times.js';
import { forumIcon, presenceIn, conversationTitle } from './core/titles.js';

const WAIT = 300;
/** So many times as long as the places took to draw, they are not drawn again; but never longer than this. */
const RESTS = 4;
const REST = 200;
/** So long it says that all is here again. */
const BACK = 2_000;
/** So many forums stand at the side at most. */
const LISTED = 50;
/** Named one by one, so that the bundler finds them. */
const pages = {
  admin: () => import('./pages/admin.js'),
  signin: () => import('./pages/signin.js'),
  forum: () => import('./pages/forum.js'),
  forums: () => import('./pages/forums.js'),
  notfound: () => import('./pages/notfound.js'),
  inbox: () => import('./pages/inbox.js'),
  message: () => import('./pages/message.js'),
  messages: () => import('./pages/messages.js'),
  forumform: () => import('./pages/forumform.js'),
  user: () => import('./pages/user.js'),
  search: () => import('./pages/search.js'),
  conversation: () => import('./pages/conversation.js'),
  settings: () => import('./pages/settings.js'),
};

export class Shell {
  constructor(site) {
    this.site = site;
    this.router = new Router((address, restore) => this.show(address, restore));
    this.router.leave = () => this.leave();
    this.main = el('main.page', { id: 'page', tabindex: '-1' });
    this.live = el('div.spoken', { aria: { live: 'polite' } });
    this.said = [];
    this.restsUntil = 0;
    /** Open system notifications, by conversation. */
    this.notices = new Map();
    this.page = null;
    this.node = el('div.shell');
    for (const name of ['me', 'forums', 'conversations', 'state', 'users', 'presence'])
      site.addEventListener(name, () => this.soon());
    site.addEventListener('reset', (event) => toast(say('reset.done', { time: clock(new Date(event.detail.at)) })));
    site.addEventListener('failed', (event) => this.failed(event.detail));
    site.addEventListener('event', (event) => this.notice(event.detail));
    site.addEventListener('conversations', () => this.forgetNotices());
    site.addEventListener('out', () => this.router.go('/', { replace: true }));
    // The picture that was waited for does not come any longer.
    document.addEventListener('visibilitychange', () => document.hidden && this.draw());
    addEventListener('keydown', (event) => this.pressed(event));
    addEventListener('pointerdown', (event) => {
      this.isPressed = !!event.target.closest?.('.sidebar, .bottom-bar');
    });
    for (const name of ['click', 'auxclick'])
      addEventListener(
        name,
        (event) => {
          const link = event.target.closest?.('a[href]');
          if (!link || event.button > 1 || link.protocol !== 'http:' || link.origin === location.origin) return;
          event.preventDefault();
          import('./conversation/insecurelink.js').then(({ confirmInsecureLink }) => confirmInsecureLink(link));
        },
        true,
      );
    for (const name of ['pointerup', 'pointercancel'])
      addEventListener(name, () => {
        if (!this.isPressed) return;
        this.isPressed = false;
        // The click comes behind it.
        setTimeout(() => this.soon());
      });
    document.body.append(
      el(
        'a.skip',
        {
          href: '#page',
          on: {
            click: (event) => {
              event.preventDefault();
              this.main.focus();
            },
          },
        },
        say('place.skip'),
      ),
      this.node,
      this.live,
    );
  }

  start() {
    this.entered();
    this.router.start();
  }

  /** Shows the signed-in frame: theme and navigation. */
  entered() {
    if (this.site.me) rememberLook(this.site.me.preferences ?? {}, this.site.server?.hue);
    this.frame();
  }

  go(address, options) {
    this.router.go(address, options);
  }

  /**
   * Like `go`, after a slow operation: does nothing if the user has navigated elsewhere in the meantime, and updates the page
   * if it was only redrawn.
   */
  fromHere() {
    const { turn } = this;
    const { pathname } = location;
    return (address, options) => {
      if (this.turn === turn || (location.pathname === pathname && address === pathname)) this.go(address, options);
    };
  }

  // MARK: Pages

  async show(address, restore) {
    const found = match(address, !!this.site.me);
    const turn = (this.turn = {});
    const waiting = setTimeout(() => {
      if (this.turn === turn) this.main.replaceChildren(el('div.page-column', null, skeleton()));
    }, WAIT);
    let page;
    try {
      if (this.site.fault) throw this.site.fault;
      const module = await pages[found.module]();
      page = await module[found.name](this, found.params, restore);
    } catch (error) {
      page = this.faultPage(error);
    } finally {
      clearTimeout(waiting);
    }
    if (this.turn !== turn) return page?.close?.();
    if (!page) return undefined;
    this.page?.close?.();
    this.page = page;
    this.toward = null;
    this.closePanel();
    this.frame();
    this.main.replaceChildren(...[page.node].flat());
    this.lines();
    document.title = [page.title, this.site.server?.name].filter(Boolean).join(' · ');
    this.count();
    page.shown?.(restore);
    const scroller = this.main.querySelector('.page-body');
    if (scroller && restore?.scroll) scroller.scrollTop = restore.scroll;
    // The first page leaves the focus where the browser begins, so that the first stop is the way past the places.
    if (this.hasShown && !page.keepsFocus && !isTyping(document.activeElement))
      this.main.focus({ preventScroll: true });
    this.hasShown = true;
    document.body.dataset.ready = address;
    return undefined;
  }

  leave() {
    return { scroll: this.main.querySelector('.page-body')?.scrollTop ?? 0, ...this.page?.leave?.() };
  }

  faultPage(error) {
    const isGone = ['not_found', 'forbidden', 'gone'].includes(error?.code);
    if (!isGone && error?.code !== 'network') console.error(error);
    const key = isGone ? 'fault.gone' : error?.code === 'network' ? 'fault.network' : 'fault.other';
    return {
      title: say('fault.title'),
      node: el(
        'div.page-body',
        null,
        empty(say(key), {
          picture: isGone ? 'search' : 'alert',
          actions: [
            isGone
              ? button(say('fault.home'), { on: () => this.go('/') })
              : button(say('act.retry'), { kind: 'primary', on: () => location.reload() }),
          ],
        }),
      ),
    };
  }

  // MARK: The frame

  /** Redraws with the next animation frame, less often under load. A hidden tab only updates its title. */
  soon() {
    if (this.planned || this.isPressed) return;
    this.planned = true;
    const wait = this.restsUntil - performance.now();
    if (wait > 0 || document.hidden) setTimeout(() => this.draw(), Math.max(0, wait));
    else requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.planned) return;
    this.planned = false;
    const began = performance.now();
    this.frame();
    this.lines();
    this.count();
    const now = performance.now();
    this.restsUntil = now + Math.min(REST, RESTS * (now - began));
  }

  frame() {
    const { site } = this;
    const isOutside = !site.me || !!this.page?.isOutside;
    this.node.classList.toggle('is-outside', isOutside);
    this.node.classList.toggle('is-talking', !!this.page?.isTalk);
    if (isOutside) {
      if (this.node.children.length !== 1) this.node.replaceChildren(this.main);
      return;
    }
    const view = this.view();
    const [side, bar] = [sidebar(view), bottomBar(view)];
    const held = document.activeElement;
    const isAtSide = this.side?.contains(held);
    const isBelow = this.bar?.contains(held);
    const scroll = this.side?.querySelector('.sidebar-list')?.scrollTop ?? 0;
    if (!this.main.isConnected || this.node.children.length === 1)
      this.node.replaceChildren(side, this.main, bar, (this.edge ??= sidebarEdge()));
    else {
      // Unchanged nodes stay, or a press in progress would be lost.
      if (side.isEqualNode(this.side) && bar.isEqualNode(this.bar)) return;
      this.side.replaceWith(side);
      this.bar.replaceWith(bar);
    }
    [this.side, this.bar] = [side, bar];
    side.querySelector('.sidebar-list').scrollTop = scroll;
    if (isAtSide || isBelow) focusAgain(isAtSide ? side : bar, held, this.main);
  }

  view() {
    const { site } = this;
    const talks = site.talks();
    const messages = talks.reduce((sum, it) => sum + (it.level === 'nothing' ? 0 : (it.unread_count ?? 0)), 0);
    const unread = site.called + messages;
    const here = this.page?.here ?? location.pathname;
    const inForums = site.unreadByForum();
    return {
      community: { name: site.server.name },
      me: site.me,
      state: site.state,
      here,
      inbox: { unread, loud: unread > 0 },
      messages: { unread: messages, loud: true },
      forums: site.forums.size > LISTED ? site.forums.size : 0,
      sections: this.listed(here, inForums).map(({ title, forums }) => ({
        title,
        forums: forums.map((it) => ({
          id: it.id,
          title: it.title,
          href: forumAddress(it),
          icon: forumIcon(it),
          unread: inForums.get(it.id) ?? 0,
        })),
      })),
      conversations: talks.slice(0, 30).map((it) => ({
        title: conversationTitle(site, it),
        href: conversationAddress(it),
        users: site.othersIn(it),
        presence: presenceIn(site, it),
        unread: it.level === 'nothing' ? 0 : it.unread_count,
      })),
      on: { search: () => this.commands(), newConversation: () => this.go('/messages/new') },
    };
  }

  /**
   * Returns the forums of the sidebar by section. Of many forums the most relevant: the open one, those with news, the
   * user's own, then the most recently active.
   */
  listed(here, unread) {
    const { site } = this;
    const sections = site.sections();
    if (site.forums.size <= LISTED) return sections;
    const weight = (it) =>
      (forumAddress(it) === here ? 4 : 0) + (unread.get(it.id) ? 2 : 0) + (site.conversations.has(it.room_id) ? 1 : 0);
    const first = [...site.forums.values()]
      .map((it) => ({ it, weight: weight(it), last: it.last_message_id ?? it.id }))
      .sort((a, b) => b.weight - a.weight || compare(b.last, a.last))
      .slice(0, LISTED);
    const chosen = new Set(first.map(({ it }) => it));
    return sections
      .map(({ title, forums }) => ({ title, forums: forums.filter((it) => chosen.has(it)) }))
      .filter(({ forums }) => forums.length);
  }

  /** The number in the title and on the icon. */
  count() {
    if (!this.site.me) return;
    const count = this.view().inbox.unread;
    if (this.counted === count && document.title.startsWith(count ? `(${count}) ` : '')) return;
    this.counted = count;
    document.title = `${count ? `(${count}) ` : ''}${document.title.replace(/^\(\d+\) /, '')}`;
    if (count) navigator.setAppBadge?.(count)?.catch(() => {});
    else navigator.clearAppBadge?.()?.catch(() => {});
  }

  /** Shows the connection state in the header, and below it the offline notice and messages lost by a restore. */
  lines() {
    const { site } = this;
    const shown = this.main.querySelector('.page-bar .sign');
    const now = sign(site.state);
    if (shown && !shown.isEqualNode(now)) shown.replaceWith(now);
    const waiting = site.waiting();
    const lost = site.me ? (site.parley?.lost ?? []) : [];
    this.line(
      'offline-line',
      site.state === 'offline' && site.me && (waiting ? say('offline.waiting', { n: waiting }) : say('offline.plain')),
      { kind: 'bad' },
    );
    this.line('back-line', this.isBack(waiting) && say('offline.back'), { kind: 'good' });
    this.line('lost-line', lost.length > 0 && say('lost.line', { n: lost.length }), {
      kind: 'warn',
      actions: [el('button.text-button', { on: { click: () => this.showLostMessages() } }, say('lost.look'))],
    });
  }

  /** Shows for a moment after a reconnect, once the outbox is empty. */
  isBack(waiting) {
    const { state, me } = this.site;
    if (state === 'offline') this.wasAway = true;
    if (state !== 'online' || waiting || !me) return false;
    if (!this.wasAway) return this.saysBack;
    this.wasAway = false;
    this.saysBack = true;
    setTimeout(() => {
      this.saysBack = false;
      this.lines();
    }, BACK);
    return true;
  }

  line(name, words, options) {
    const line = this.main.querySelector(`.${name}`);
    if (!words) return line?.remove();
    if (line?.dataset.words === words) return undefined;
    const node = banner(words, options);
    node.classList.add(name);
    node.dataset.words = words;
    if (line) line.replaceWith(node);
    else this.main.querySelector('.page-bar')?.after(node);
    return undefined;
  }

  async showLostMessages() {
    const { showLostMessages } = await import('./conversation/restored.js');
    showLostMessages(this.site);
  }

  // MARK: The panel at the side

  /** `closed` is called when it goes. */
  panel(title, closed, ...content) {
    this.closePanel();
    this.panelClosed = closed;
    this.side2 = el(
      'aside.panel',
      { aria: { label: title } },
      el(
        'div.panel-head',
        null,
        el('h2', null, title),
        button(say('act.close'), { kind: 'quiet', on: () => this.closePanel() }),
      ),
      content,
    );
    this.main.after(this.side2);
    this.side2.querySelector('button')?.focus();
  }

  closePanel() {
    this.side2?.remove();
    this.side2 = null;
    this.panelClosed?.();
    this.panelClosed = null;
  }

  // MARK: Notices

  /** Reports refused operations other than messages, which show their refusal themselves. */
  failed({ operation, problem }) {
    if (operation.kind === 'send') return;
    toast(sayProblem(problem));
    this.site.parley?.cancel(operation.id);
  }

  /** Shows a system notification with author and first line, while the app is open and no tab is visible. */
  notice(event) {
    const { site } = this;
    const message = event.data;
    if (event.event !== 'message.created' || site.parley?.isInFront || site.me?.preferences?.notices === false) return;
    if (
      !('Notification' in window) ||
      Notification.permission !== 'granted' ||
      message.author_id === site.me?.id ||
      message.machine_only
    )
      return;
    const talk = site.conversations.get(message.conversation_id);
    const namesMe = (message.entities?.mentions ?? []).some((it) => it.user_id === site.me.id);
    if (!talk || !(namesMe ? talk.level !== 'nothing' : talk.level === 'everything')) return;
    const shown = new Notification(site.displayName(message.author_id), {
      body: plain(message.text ?? '', 140),
      tag: talk.id,
      icon: '/icon.svg',
    });
    shown.addEventListener('click', () => {
      focus();
      this.go(conversationAddress(talk));
      shown.close();
    });
    this.notices.set(talk.id, shown);
  }

  /** Closes the notifications of conversations that were read, on any device. */
  forgetNotices() {
    for (const [id, shown] of this.notices) {
      if (this.site.conversations.get(id)?.unread_count > 0) continue;
      this.notices.delete(id);
      shown.close();
    }
  }

  // MARK: Said aloud

  /** New messages, gathered to at most one sentence in three seconds. */
  announce(author) {
    this.said.push(author);
    if (this.saying) return;
    this.saying = setTimeout(() => {
      const users = new Set(this.said).size;
      this.live.textContent = say(users > 1 ? 'spoken.newFromSeveral' : 'spoken.newFromOne', {
        n: this.said.length,
        people: users,
        name: this.said[0],
      });
      this.said = [];
      this.saying = null;
    }, 3_000);
  }

  // MARK: Keys

  async commands() {
    if (document.querySelector('dialog[open]')) return;
    const { openCommands } = await import('./commands.js');
    openCommands(this);
  }

  pressed(event) {
    const { site } = this;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k' && site.me) {
      event.preventDefault();
      return this.commands();
    }
    if (!site.me || document.querySelector('dialog[open]')) return undefined;
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      event.preventDefault();
      return this.step(event.key === 'ArrowDown' ? 1 : -1, event.shiftKey);
    }
    if (event.key === 'Escape' && !event.shiftKey && this.side2) {
      event.preventDefault();
      this.closePanel();
      return this.main.querySelector('[data-act="details"]')?.focus();
    }
    if (this.page?.pressed?.(event)) return event.preventDefault();
    if (event.key === 'Escape' && event.shiftKey) {
      event.preventDefault();
      return this.markAllRead();
    }
    if (
      isTyping(event.target) ||
      event.ctrlKey ||
      event.metaKey ||
      event.altKey ||
      site.me.preferences?.letters === false
    )
      return undefined;
    const second = this.lead === 'g' ? { i: '/', f: '/forums', m: '/messages' }[event.key] : null;
    this.lead = event.key === 'g' ? 'g' : null;
    if (second) return this.go(second);
    if (event.key === '/') {
      event.preventDefault();
      return this.go('/search');
    }
    if (event.key === '?') return import('./commands.js').then((it) => it.showKeys());
    return undefined;
  }

  /** The conversation before or after this one, as the sidebar has them. */
  step(by, unreadOnly) {
    const links = [...this.side.querySelectorAll('.sidebar-list .place:not([href="/"], [href="/forums"])')];
    // Pressed again before the page is there, it goes on from where it was going.
    const isHere = (it) => (this.toward ? it.getAttribute('href') === this.toward : it.getAttribute('aria-current'));
    const at = links.findIndex(isHere);
    for (let index = at + by; index >= 0 && index < links.length; index += by) {
      if (unreadOnly && !links[index].classList.contains('is-unread')) continue;
      const address = links[index].getAttribute('href');
      this.go(address);
      this.toward = address;
      return undefined;
    }
    return undefined;
  }

  async markAllRead() {
    const { markAllRead } = await import('./commands.js');
    return markAllRead(this);
  }
}
