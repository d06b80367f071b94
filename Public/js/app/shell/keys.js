// The global keyboard shortcuts. A page handles its own keys first.

import { isLetter } from '../core/rowkeys.js';
import { undoLast } from '../parts/overlays/toast.js';

/** The second key after `g`. */
const PAGES = { i: '/', f: '/forums', p: '/feed', m: '/messages' };

export class Keys {
  constructor(shell) {
    this.shell = shell;
    /** Whether the last key was `g`. */
    this.isLed = false;
    /** The page that a step leads to, until it is shown. */
    this.toward = null;
    addEventListener('keydown', (event) => this.#pressed(event));
  }

  #pressed(event) {
    const { shell } = this;
    const { site } = shell;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k' && site.me) {
      event.preventDefault();
      return shell.commands();
    }
    if (!site.me || document.querySelector('dialog[open]')) return undefined;
    if (event.altKey && (event.key === 'ArrowUp' || event.key === 'ArrowDown')) {
      event.preventDefault();
      return this.#step(event.key === 'ArrowDown' ? 1 : -1, event.shiftKey);
    }
    if (event.key === 'Escape' && !event.shiftKey && shell.hasPanel) {
      event.preventDefault();
      shell.closePanel();
      return shell.main.querySelector('[data-act="details"]')?.focus();
    }
    // Turned off, single keys do nothing on any page.
    const isOff = site.me.preferences?.letters === false && event.key.trim().length === 1 && isLetter(event);
    if (isOff) return undefined;
    if (shell.page?.pressed?.(event)) return event.preventDefault();
    if (event.key === 'Escape' && event.shiftKey) {
      event.preventDefault();
      return shell.markAllRead();
    }
    if (!isLetter(event)) return undefined;
    return this.#letter(event);
  }

  #letter(event) {
    const { shell } = this;
    const page = this.isLed ? PAGES[event.key] : null;
    this.isLed = event.key === 'g';
    if (page) return shell.go(page);
    if (event.key === 'u') return undoLast();
    if (event.key === '/') {
      event.preventDefault();
      return shell.go(shell.searchAddress());
    }
    if (event.key === '?') return import('../commands.js').then((it) => it.showKeys());
    return undefined;
  }

  /** Opens the conversation before or after the open one in the sidebar. */
  #step(by, unreadOnly) {
    const { shell } = this;
    const links = [...shell.side.querySelectorAll('.sidebar-list .sidebar-link:not([href="/"], [href="/forums"], [href="/feed"])')];
    // Pressed again before the page is shown, it continues from the page that it leads to.
    const isHere = (it) => (this.toward ? it.getAttribute('href') === this.toward : it.getAttribute('aria-current'));
    const at = links.findIndex(isHere);
    for (let index = at + by; index >= 0 && index < links.length; index += by) {
      if (unreadOnly && !links[index].classList.contains('is-unread')) continue;
      const address = links[index].getAttribute('href');
      shell.go(address);
      this.toward = address;
      return;
    }
  }
}
