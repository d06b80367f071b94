// System notifications of new messages, for users who do not look. Loaded with the first message that no visible tab shows.

import { allows } from '../account/notifications/quiettimes.js';
import { isMentioned } from '../core/groups.js';
import { conversationAddress } from '../core/router.js';

/** System notifications of new messages, shown while the app is open and no tab is visible. */
export class SystemNotifications {
  /** @param {(address: string) => void} go opens a page */
  constructor(site, go) {
    this.site = site;
    this.go = go;
    /** The open ones, by conversation. */
    this.open = new Map();
    /** The promise of the settings of notifications, and the last ones. */
    [this.settings, this.last] = [null, null];
    site.addEventListener('event', ({ detail }) => {
      if (detail.event === 'preferences.updated') this.settings = this.last && this.#loadSettings();
    });
    // Changes may have been missed.
    site.addEventListener('state', () => (this.settings = null));
    site.addEventListener('out', () => ([this.settings, this.last] = [null, null]));
    site.addEventListener('conversations', () => this.#closeRead());
  }

  /** Shows a new message, where the settings and the level of its conversation allow it. */
  async show(message, body) {
    const { site } = this;
    if (site.me?.preferences?.notices === false || message.author_id === site.me?.id || message.machine_only) return;
    const conversation = site.conversations.get(message.conversation_id);
    if (!conversation) return;
    if (!(isMentioned(site.me, message) ? conversation.level !== 'nothing' : conversation.level === 'everything')) return;
    const kind = await this.#kindOf(message, conversation);
    const settings = await (this.settings ??= this.#loadSettings());
    if (site.parley?.isInFront || (settings && !allows(settings, kind, new Date()))) return;
    const shown = new Notification(site.displayName(message.author_id), {
      body,
      // The tag of the push message, which this one replaces.
      tag: `c${conversation.id}`,
      icon: '/icon.svg',
    });
    shown.addEventListener('click', () => {
      focus();
      this.go(conversation.kind === 'feed' ? `/m/${message.id}` : conversationAddress(conversation));
      shown.close();
    });
    this.open.set(conversation.id, shown);
  }

  /** Without an answer the last settings count. */
  async #loadSettings() {
    try {
      this.last = await this.site.client.calls.getNotificationSettings({ tries: 1 });
    } catch {
      this.settings = null;
    }
    return this.last;
  }

  /** The kind that the server notifies of, as in the settings; null for a followed conversation. */
  async #kindOf(message, conversation) {
    const { me, parley } = this.site;
    if (isMentioned(me, message)) return 'mention';
    const answered = message.reply_to && (await parley.store.get('messages@id', message.reply_to).catch(() => null));
    if (answered?.author_id === me.id) return 'reply';
    if (message.entities?.mentions?.some((it) => it.room)) return 'room';
    return conversation.kind === 'direct' ? 'direct' : null;
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
