// The lines below the header of a page: offline, back online, and messages lost by a restore of the server.

import { el } from '../core/dom.js';
import { say } from '../core/text/text.js';
import { banner } from '../parts/navigation/banner.js';
import { sign } from '../parts/navigation/sign.js';

/** The time that "back online" is shown, in milliseconds. */
const BACK_TIME = 2_000;

export class StatusLines {
  /** @param {HTMLElement} main the element of the page */
  constructor(site, main) {
    this.site = site;
    this.main = main;
    this.wasOffline = false;
    this.showsBack = false;
  }

  /** Shows the connection state in the header, and the lines below it. */
  draw() {
    const { site } = this;
    const shown = this.main.querySelector('.page-bar .sign');
    const now = sign(site.state);
    if (shown && !shown.isEqualNode(now)) shown.replaceWith(now);
    const waiting = site.parley?.state.waiting ?? 0;
    const lost = site.me ? (site.parley?.lost ?? []) : [];
    this.#line(
      'offline-line',
      site.state === 'offline' && site.me && (waiting ? say('offline.waiting', { n: waiting }) : say('offline.plain')),
      { kind: 'bad' },
    );
    this.#line('memory-line', site.me && site.parley?.isDurable === false && say('offline.inMemory'), { kind: 'warn' });
    this.#line('back-line', this.#isBack(waiting) && say('offline.back'), { kind: 'good' });
    this.#line('lost-line', lost.length > 0 && say('lostMessages.line', { n: lost.length }), {
      kind: 'warn',
      actions: [el('button.text-button', { on: { click: () => this.#showLostMessages() } }, say('lostMessages.review'))],
    });
  }

  /** True for a moment after a reconnect, once the outbox is empty. */
  #isBack(waiting) {
    const { state, me } = this.site;
    if (state === 'offline') this.wasOffline = true;
    if (state !== 'online' || waiting || !me) return false;
    if (!this.wasOffline) return this.showsBack;
    this.wasOffline = false;
    this.showsBack = true;
    setTimeout(() => {
      this.showsBack = false;
      this.draw();
    }, BACK_TIME);
    return true;
  }

  #line(name, words, options) {
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

  async #showLostMessages() {
    const { showLostMessages } = await import('../conversation/restored.js');
    showLostMessages(this.site);
  }
}
