// The elements of a message list: messages with day lines and the line of new ones. An element that looks the same stays.

import { el, focusAgain, refill } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { emojiVersion } from '../../core/emoji/custom.js';
import { isMentioned } from '../../core/groups.js';
import { statusLine } from '../../core/status.js';
import { empty } from '../../parts/lists/empty.js';
import { dayLine, newLine } from '../../parts/message/lines.js';
import { messageElement } from '../../parts/message/message.js';
import { plain } from '../../core/text/plain.js';
import { say } from '../../core/text/text.js';
import { startOfDay } from '../../core/text/times.js';
import { unsentID } from '../../state/unsent.js';

const GROUP = 5 * 60_000;

export class MessageRows {
  /** @param {object} view the message list, with its options and the elements `above`, `inner` and `below` */
  constructor(view) {
    this.view = view;
    /** The elements with what they show, by message. */
    this.drawn = new Map();
    this.quotes = new Map();
    this.newFrom = view.readUpTo ?? null;
    this.last = null;
  }

  draw() {
    this.arrange(this.wanted());
  }

  /** The elements in order. */
  wanted() {
    const { view } = this;
    const isGone = (it) => view.hidesGone?.() && it.deleted && it.deletion !== 'moved';
    const shown = view.stream.shown.filter((it) => !it.machine_only && !isGone(it));
    const nodes = [];
    const kept = new Map();
    let day = null;
    let hasNew = this.newFrom === null;
    const solvedBy = view.solvedBy?.() ?? null;
    shown.forEach((message, index) => {
      const previous = shown[index - 1];
      const at = new Date(message.created_at);
      const date = startOfDay(at).getTime();
      const isNew = !hasNew && message.seq > this.newFrom && message.author_id !== view.me?.id && !message.deleted;
      if (date !== day && view.shape === 'bubble') {
        day = date;
        nodes.push(this.keep(kept, `day ${date}`, '', () => dayLine(at)));
      }
      if (isNew) {
        hasNew = true;
        this.firstNew = message.id;
        if (previous || view.stream.hasOlder) nodes.push(this.keep(kept, 'new', '', newLine));
      }
      const ends = { first: !joins(previous, message) || isNew, last: !joins(message, shown[index + 1]) };
      nodes.push(this.row(kept, message, ends, solvedBy));
    });
    this.drawn = kept;
    this.last = shown.at(-1) ?? null;
    this.surround(shown);
    return nodes;
  }

  /** The element of a message. @param {{ first: boolean, last: boolean }} ends whether it begins and ends its group */
  row(kept, message, { first, last }, solvedBy) {
    const { view } = this;
    const author = view.user(message.author_id);
    const quote = this.quote(message.reply_to);
    const solution = this.solution(message, solvedBy);
    const files = Object.fromEntries((message.attachments ?? []).map((id) => [id, view.file?.(id) ?? undefined]));
    const key = JSON.stringify([
      withoutAge(message),
      files,
      first,
      last,
      author.display_name, author.name, author.avatar,
      statusLine(author),
      emojiVersion(),
      quote,
      view.stream.latest > 0,
      message.id === solvedBy,
      solution && [withoutAge(solution.message), solution.author.display_name, solution.author.name],
    ]);
    const make = () =>
      messageElement(
        { ...message, mentionsMe: !!view.me && isMentioned(view.me, message) },
        {
          shape: view.shape,
          author,
          mine: !!view.me && message.author_id === view.me.id,
          first, last, quote,
          size: view.stream.latest,
          act: view.me ? (verb, detail) => view.act(message, verb, detail) : null,
          solves: message.id === solvedBy,
          solution,
          mayModerate: view.mayModerate?.(),
          onStatus: view.onStatus && !message.state ? () => view.onStatus(message) : null,
          files,
        },
      );
    return this.keep(kept, message.id, key, make, unsentID(message.client_id));
  }

  /** The elements around the feed: above, the head or a line while there are older messages; below, the words of an empty list. */
  surround(shown) {
    const { view } = this;
    const { stream, above, inner, below } = view;
    const head = stream.hasOlder ? (this.more ??= el('p.stream-more', null, say('list.older'))) : view.head;
    if (above.firstChild !== (head ?? null)) refill(above, head);
    // A feed without articles is none.
    inner.hidden = !shown.length;
    const isEmpty = !shown.length && stream.isLoaded && !stream.hasOlder;
    if (isEmpty && !below.firstChild) below.append(empty(view.emptyWords ?? say('conversation.empty'), { picture: 'messages', actions: view.emptyActions }));
    else if (!isEmpty) refill(below);
  }

  keep(kept, id, key, make, waitedAs) {
    const known = this.drawn.get(id);
    const entry = known?.key === key ? known : { key, node: make() };
    if (id === this.marked) entry.node.classList.add('is-shown');
    const before = known ?? this.drawn.get(waitedAs);
    if (before && entry !== before && before.node.contains(document.activeElement)) entry.held = document.activeElement;
    kept.set(id, entry);
    return entry.node;
  }

  arrange(nodes) {
    const { inner } = this.view;
    const wanted = new Set(nodes);
    for (const child of [...inner.children]) if (!wanted.has(child)) child.remove();
    nodes.forEach((node, index) => {
      if (inner.children[index] !== node) inner.insertBefore(node, inner.children[index] ?? null);
    });
    for (const entry of this.drawn.values()) {
      if (!entry.held) continue;
      const { held } = entry;
      entry.held = null;
      // Its actions come with the focus.
      entry.node.focus({ preventScroll: true });
      focusAgain(entry.node, held);
    }
  }

  /** A message of the window, or one that is fetched; null until then. */
  known(id) {
    const { view } = this;
    const found = view.stream.messages.find((it) => it.id === id) ?? this.quotes.get(id);
    if (found === undefined) {
      this.quotes.set(id, null);
      view.fetch?.(id).then(
        (it) => {
          this.quotes.set(id, it);
          view.draw();
        },
        // Without a network the next drawing tries again.
        (error) => error.isTemporary && this.quotes.delete(id),
      );
    }
    return found ?? null;
  }

  /** Takes changes of quoted messages that the window does not have. Returns whether there are any. */
  renewQuotes(changes) {
    const quoted = changes.filter(({ table, row }) => table === 'messages' && row && this.quotes.has(row.id));
    for (const { row } of quoted) this.quotes.set(row.id, row);
    return quoted.length > 0;
  }

  /** The answer of the topic, for its first post. */
  solution(message, id) {
    const found = id && message.seq === 1 && message.id !== id && !message.deleted ? this.known(id) : null;
    return found && !found.deleted ? { message: found, author: this.view.user(found.author_id) } : null;
  }

  quote(id) {
    const found = id ? this.known(id) : null;
    if (!found) return null;
    const author = this.view.user(found.author_id);
    return {
      author: displayName(author),
      text: found.deleted ? say('gone.author') : plain(found.text ?? '', 120),
    };
  }
}

/** Whether two messages stand in one group: the same author, within five minutes, on one day. */
function joins(a, b) {
  if (!a || !b || a.kind === 'system' || b.kind === 'system' || a.deleted || b.deleted) return false;
  if (a.author_id !== b.author_id) return false;
  const [from, to] = [new Date(a.created_at), new Date(b.created_at)];
  return Math.abs(to - from) < GROUP && startOfDay(from).getTime() === startOfDay(to).getTime();
}

/** All of a message but as of when it is known. */
function withoutAge({ known: _, actions_known: __, ...message }) {
  return message;
}
