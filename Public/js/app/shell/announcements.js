// Sentences for screen readers.

import { el } from '../core/dom.js';
import { say } from '../core/text/text.js';

/** New messages are gathered for this long, in milliseconds. */
const GATHER_TIME = 3_000;

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
