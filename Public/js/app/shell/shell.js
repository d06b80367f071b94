// The frame around every page: sidebar, bottom bar, the page and the panel beside it.

import { closeOverlays, el, isTyping, redraw } from '../core/dom.js';
import { excerpt } from '../core/text/plain.js';
import { Press } from '../core/press.js';
import { match, Router } from '../core/router.js';
import { say } from '../core/text/text.js';
import { rememberLook, unsaved } from '../core/theme.js';
import { clock, keepTimes } from '../core/text/times.js';
import { button } from '../parts/forms/button.js';
import { sidebarEdge } from '../parts/navigation/edge.js';
import { bottomBar, sidebar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';
import { LiveRegion } from './announcements.js';
import { Keys } from './keys.js';
import { beginDrag, navigation, sidebarActions, unreadCounts } from './navigation.js';
import { faultPage, loadingPage, pages } from './pages.js';
import { StatusLines } from './statuslines.js';

/** A skeleton is shown after this time without a page, in milliseconds. */
const SKELETON_DELAY = 300;
/** The folded sidebar opens after a mouse has been on it for this time, in milliseconds. */
const PEEK_DELAY = 300;
/** The frame is drawn again after this many times the time that the last drawing took, but at most `MAX_REST` later. */
const RESTS = 4;
const MAX_REST = 200;
/** Maximum length of the text in a system notification. */
const MAX_NOTIFICATION = 140;
export class Shell {
  #peeking;

  constructor(site) {
    this.site = site;
    this.router = new Router((address, restore) => this.show(address, restore));
    this.router.leave = () => this.leave();
    this.main = el('main.page', { id: 'page', tabindex: '-1' });
    this.live = new LiveRegion();
    this.status = new StatusLines(site, this.main);
    this.keys = new Keys(this);
    this.press = new Press((it) => it.closest?.('.sidebar, .bottom-bar'), () => this.soon());
    this.restsUntil = 0;
    this.page = null;
    site.prove = async (problem) => (await import('../account/security/proof.js')).prove(site, problem);
    this.node = el('div.shell', { on: { dragstart: (event) => beginDrag(this, event), pointerover: (event) => this.#peek(event) } });
    site.addEventListener('event', ({ detail }) => detail.event === 'message.created' && this.notify(detail.data).catch(() => {}));
    site.listen(['me'], () => this.#applyLook());
    site.listen(['me', 'forums', 'conversations', 'overview', 'state', 'users', 'presence'], () => this.soon());
    site.addEventListener('reset', (event) => toast(say('reset.done', { time: clock(new Date(event.detail.at)) })));
    site.addEventListener('failed', async ({ detail }) => (await import('./refusals.js')).showRefusal(site, detail));
    site.addEventListener('out', ({ detail }) => (closeOverlays(), this.router.go(site.ban ? '/sign-in' : detail ? location.href : '/', { replace: true })));
    // A hidden page gets no animation frames.
    // Later: a picture drawn while the page is left would be a ping, which the policy for connections refuses.
    document.addEventListener('visibilitychange', () => document.hidden && setTimeout(() => this.draw()));
    for (const name of ['click', 'auxclick'])
      addEventListener(
        name,
        (event) => {
          const link = event.target.closest?.('a[href]');
          if (!link || event.button > 1 || link.protocol !== 'http:' || link.origin === location.origin) return;
          event.preventDefault();
          import('../conversation/insecurelink.js').then(({ confirmInsecureLink }) => confirmInsecureLink(link));
        },
        true,
      );
    const skip = (event) => (event.preventDefault(), this.main.focus());
    document.body.append(
      el('a.skip', { href: '#page', on: { click: skip } }, say('navigation.skip')),
      this.node,
      this.live.node,
    );
  }

  start() {
    this.entered();
    keepTimes();
    this.router.start();
  }

  /** Opens the folded sidebar for a mouse that rests on it. */
  #peek({ target, pointerType }) {
    clearTimeout(this.#peeking);
    this.#peeking = setTimeout(
      () => this.node.classList.toggle('is-peeking', pointerType === 'mouse' && !!target.closest('.sidebar')),
      PEEK_DELAY,
    );
  }

  /** Shows the signed-in frame: theme and navigation. */
  entered() {
    this.look = null;
    this.#applyLook();
    this.frame();
  }

  /** Follows the appearance settings of the user's other devices, and the hue of the site. */
  #applyLook() {
    const { me, server } = this.site;
    const wanted = [{ ...me?.preferences, ...unsaved() }, server?.hue];
    const look = JSON.stringify(wanted);
    if (me && look !== this.look) rememberLook(...wanted);
    this.look = look;
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
      if (this.turn === turn) this.main.replaceChildren(...loadingPage(this, found));
    }, SKELETON_DELAY);
    let page;
    try {
      if (this.site.fault) throw this.site.fault;
      const module = await pages[found.module]();
      page = await module[found.name](this, found.params, restore);
    } catch (error) {
      // The library was closed: another page follows, of the next session or of none.
      if (error?.name === 'AbortError') return undefined;
      page = await faultPage(error, this, () => this.show(address, restore));
    } finally {
      clearTimeout(waiting);
    }
    if (this.turn !== turn) return page?.close?.();
    if (!page) return undefined;
    this.display(page, restore);
    document.body.dataset.ready = address;
    return undefined;
  }

  /** Puts a page in place of the open one. */
  display(page, restore = null) {
    this.page?.close?.();
    this.page = page;
    this.keys.toward = null;
    this.closePanel();
    this.frame();
    this.main.replaceChildren(...[page.node].flat());
    this.status.draw();
    this.entitle();
    page.shown?.(restore);
    const scroller = this.main.querySelector('.page-body');
    if (scroller && restore?.scroll) scroller.scrollTop = restore.scroll;
    // After the first page the focus stays at the start, so that the first stop is the skip link.
    const keepsFocus = page.keepsFocus && document.activeElement !== document.body;
    if (this.hasShown && !keepsFocus && !isTyping(document.activeElement))
      (this.main.querySelector('h1[tabindex]') ?? this.main).focus({ preventScroll: true });
    this.hasShown = true;
  }

  /** Ends the open page, whose subject can't be shown any more. */
  async fail(error) {
    const { turn } = this;
    const page = await faultPage(error, this, () => this.go(location.href, { replace: true }));
    if (this.turn === turn) this.display(page);
  }

  /** Shows the title of the page in the window's. */
  entitle() {
    document.title = [this.page.title, this.site.server?.name].filter(Boolean).join(' · ');
    this.count();
  }

  leave() {
    return { scroll: this.main.querySelector('.page-body')?.scrollTop ?? 0, ...this.page?.leave?.() };
  }

  // MARK: The frame

  /** Redraws with the next animation frame, less often under load. A hidden tab only updates its title. */
  soon() {
    if (this.planned || this.press.isHeld) return;
    this.planned = true;
    const wait = this.restsUntil - performance.now();
    if (wait > 0 || document.hidden) setTimeout(() => this.draw(), Math.max(0, wait));
    else requestAnimationFrame(() => this.draw());
  }

  draw() {
    if (!this.planned) return;
    this.planned = false;
    if (this.press.isHeld) return;
    const began = performance.now();
    this.frame();
    this.status.draw();
    this.count();
    const now = performance.now();
    this.restsUntil = now + Math.min(MAX_REST, RESTS * (now - began));
  }

  frame() {
    const { site } = this;
    const isOutside = !site.me || !!this.page?.isOutside;
    this.node.classList.toggle('is-outside', isOutside);
    this.node.classList.toggle('is-conversation', !!this.page?.isConversation);
    if (isOutside) {
      if (this.node.children.length !== 1) this.node.replaceChildren(this.main);
      return;
    }
    const view = navigation(site, this.page?.here ?? location.pathname, sidebarActions(this));
    const [side, bar] = [sidebar(view), bottomBar(view)];
    if (!this.main.isConnected || this.node.children.length === 1) {
      this.node.replaceChildren(side, this.main, bar, (this.edge ??= sidebarEdge()));
      [this.side, this.bar] = [side, bar];
      return;
    }
    // Unchanged rows stay, or a press in progress and the row under the pointer would be lost.
    redraw(this.side, ...side.childNodes);
    redraw(this.bar, ...bar.childNodes);
  }

  /** The number in the title and on the icon. */
  count() {
    const count = this.site.me ? unreadCounts(this.site).all : 0;
    if (this.counted === count && document.title.startsWith(count ? `(${count}) ` : '')) return;
    this.counted = count;
    document.title = `${count ? `(${count}) ` : ''}${document.title.replace(/^\(\d+\) /, '')}`;
    if (count) navigator.setAppBadge?.(count)?.catch(() => {});
    else navigator.clearAppBadge?.()?.catch(() => {});
  }

  // MARK: The panel at the side

  /** `closed` is called when it goes. */
  panel(title, closed, ...content) {
    this.closePanel();
    this.panelClosed = closed;
    this.panelNode = el(
      'aside.panel',
      { aria: { label: title } },
      el('div.panel-head', null, el('h2', null, title), button(say('act.close'), { kind: 'quiet', on: () => this.closePanel() })),
      content,
    );
    this.main.after(this.panelNode);
    this.panelNode.querySelector('button')?.focus();
  }

  get hasPanel() {
    return !!this.panelNode;
  }

  closePanel() {
    this.panelNode?.remove();
    this.panelNode = null;
    this.panelClosed?.();
    this.panelClosed = null;
  }

  // MARK: Messages and commands

  /** The address of a search, which offers to search only the forum of the open page. */
  searchAddress(words) {
    const query = new URLSearchParams({ ...(words && { q: words }), ...(this.page?.forum && { from: this.page.forum }) });
    return query.size ? `/search?${query}` : '/search';
  }

  /** Shows a system notification of a message that no visible tab shows. One tab does. */
  async notify(message) {
    const { parley } = this.site;
    if (!parley?.tabs.isLeader || parley.isInFront || globalThis.Notification?.permission !== 'granted') return;
    const { SystemNotifications } = await import('./systemnotifications.js');
    this.notifications ??= new SystemNotifications(this.site, (address) => this.go(address));
    this.notifications.show(message, excerpt(message, MAX_NOTIFICATION));
  }

  /** Tells screen readers about a new message. */
  announce(author) {
    this.live.announce(author);
  }

  async commands() {
    if (document.querySelector('dialog[open]')) return;
    const { openCommands } = await import('../commands.js');
    openCommands(this);
  }

  async markAllRead() {
    const { markAllRead } = await import('../commands.js');
    return markAllRead(this);
  }
}
