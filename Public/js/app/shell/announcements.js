// New messages for users who do not look: system notifications, and sentences for screen readers.

import { el } from '../core/dom.js';
import { isMentioned } from '../core/groups.js';
import { excerpt, plain } from '../core/plain.js';
import { conversationAddress } from '../core/router.js';
import { say } from '../core/text.js';

/** Maximum length of the text in a notification. */
const MAX_TEXT = 140;
/** New messages are gathered for this long, in milliseconds. */
const GATHER_TIME = 3_000;

/** System notifications of new messages, shown while the app is open and no tab is visible. */
export class SystemNotifications {
  /** @param {(address: string) => void} go opens a page */
  constructor(site, go) {
    this.site = site;
    this.go = go;
    /** The open ones, by conversation. */
    this.open = new Map();
    site.addEventListener('event', ({ detail }) => this.#show(detail));
    site.addEventListener('conversations', () => this.#closeRead());
  }

  #show(event) {
    const { site } = this;
    const message = event.data;
    if (event.event !== 'message.created' || site.parley?.isInFront || site.me?.preferences?.notices === false) return;
    const isAllowed = 'Notification' in window && Notification.permission === 'granted';
    if (!isAllowed || message.author_id === site.me?.id || message.machine_only) return;
    const conversation = site.conversations.get(message.conversation_id);
    if (!conversation) return;
    if (!(isMentioned(site.me, message) ? conversation.level !== 'nothing' : conversation.level === 'everything')) return;
    const shown = new Notification(site.displayName(message.author_id), {
      body: message.poll ? excerpt(message, MAX_TEXT) : plain(message.text ?? '', MAX_TEXT),
      // As that of a push message, which it replaces.
      tag: `c${conversation.id}`,
      icon: '/icon.svg',
    });
    shown.addEventListener('click', () => {
      focus();
      this.go(conversationAddress(conversation));
      shown.close();
    });
    this.open.set(conversation.id, shown);
  }

  /** Closes the notifications of conversations that were read, on any device. */
  #closeRead() {
    for (const [id, shown] of this.open) {
      if (this.site.conversations.get(id)?.unread_count > 0) continue;
      this.open.delete(id);
      shown.close();
    }
  }
}

/** Sentences for screen readers: new messages, gathered to at most one sentence in three seconds. */
export class LiveRegion {
  constructor() {
    this.node = el('div.spoken', { aria: { live: 'polite' } });
    this.authors = [];
    this.timer = null;
  }

  announce(author) {
    this.authors.push(author);
    this.timer ??= setTimeout(() => {
      const users = new Set(this.authors).size;
      this.node.textContent = say(users > 1 ? 'spoken.newFromSeveral' : 'spoken.newFromOne', {
        n: this.authors.length,
        people: users,
        name: this.authors[0],
      });
      this.authors = [];
      this.timer = null;
    }, GATHER_TIME);
  }
}
