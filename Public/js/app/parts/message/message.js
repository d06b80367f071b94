// One message, as a bubble (rooms, direct, groups) or as a post (topics). The caller supplies the context: position in a
// group of messages, author, quoted message, delivery status.

import { emojiMark } from '../../core/emoji/custom.js';
import { el, icon, spoken } from '../../core/dom.js';
import { recentEmoji } from '../../core/emoji/recent.js';
import { displayName } from '../../core/displayname.js';
import { isEmojiAlone, rich } from './rich.js';
import { statusEmoji, statusLine } from '../../core/status.js';
import { say } from '../../core/text/text.js';
import { clock, moment, time } from '../../core/text/times.js';
import { attachment } from '../media/attachment.js';
import { avatar } from '../user/avatar.js';
import { iconButton } from '../forms/button.js';
import { fileCard, isShown, pictureGrid, placing } from '../media/pictures.js';
import { embedsOf, linkPreview } from './preview.js';
import { reactions } from './reaction.js';
import { solution } from './solution.js';
import { tombstone } from './tombstone.js';

/** Number of emoji beside a message for a quick reaction. */
const QUICK = 3;

/**
 * @param {object} message as in the API; an unsent one has `state` "waiting" or "failed", and `fault`
 * @param {object} view
 * @param {"bubble"|"post"} view.shape
 * @param {object} view.author
 * @param {boolean} view.mine
 * @param {boolean} view.first @param {boolean} view.last of its group
 * @param {boolean} [view.solves] whether it is the accepted answer of the topic
 * @param {{ message: object, author: object }} [view.solution] the accepted answer, under the first post
 * @param {object} [view.quote] the quoted message, with `author` and `text`
 * @param {object} [view.files] attachments by id
 * @param {boolean} [view.mayModerate] whether the user may close the polls of others
 * @param {(verb: string, detail?: any) => void} view.act the action: react, reply, more, retry, edit, remove
 */
export function messageElement(message, view) {
  if (message.kind === 'system') return systemLine(message);
  const isPost = view.shape === 'post';
  const node = el(isPost ? 'article.post' : 'article.message', {
    tabindex: '0',
    data: { id: message.id, seq: message.seq },
    class: [
      view.mine && 'is-mine',
      view.first && 'is-first',
      view.last && 'is-last',
      message.mentionsMe && 'names-me',
      message.deleted && 'is-gone',
      message.state && `is-${message.state}`,
    ]
      .filter(Boolean)
      .join(' '),
    aria: { label: label(message, view), posinset: message.seq ?? null, setsize: view.size ?? -1 },
  });
  if (message.deleted) {
    node.append(tombstone(message, { movedTo: message.moved_to && `/m/${message.moved_to}`, undo: view.undo }));
    return node;
  }
  node.append(...(isPost ? post(message, view) : bubble(message, view)));
  if (!isPost && view.act) bringTools(node, view.act);
  return node;
}

function label(message, { author, quote, solves }) {
  const name = displayName(author);
  const at = message.created_at ?? message.sent_at;
  const words = say(quote ? 'message.labelReply' : 'message.label', {
    name,
    at: at ? moment(new Date(at)) : say('time.now'),
    to: quote?.author ?? '',
  });
  return solves ? `${words}, ${say('topic.answer')}` : words;
}

function bubble(message, view) {
  const { author, mine, first, last, act } = view;
  const name = displayName(author);
  const isEmoji = isEmojiAlone(message.text) && !message.attachments?.length && !message.reply_to && !message.poll && !message.buttons;
  const at = new Date(message.created_at ?? message.sent_at ?? Date.now());
  const body = el(
    'div.bubble',
    { class: isEmoji ? 'is-emoji' : '' },
    quoteLine(view.quote, message.reply_to),
    content(message, view),
    el(
      'span.bubble-foot',
      null,
      message.edited_at && el('span.bubble-edited', null, say('message.edited')),
      el('time', { datetime: at.toISOString(), title: moment(at), class: last ? '' : 'is-shy' }, clock(at)),
      mine && mark(message, view),
    ),
  );
  return [
    !mine && (last ? userButton(author, act, 2) : el('span.message-gap')),
    el(
      'div.message-body',
      // Own messages need the name, too, if both sides are aligned alike.
      mine && first ? { data: { name } } : null,
      !mine && first && el('button.message-name', { on: { click: (event) => act?.('card', { author, anchor: event.currentTarget }) } }, name, statusMark(author)),
      body,
      reactions(message.actions, (emoji, on) => act?.('react', { emoji, on }), act && ((detail) => act('reactors', detail))),
      fault(message, act),
    ),
  ].filter(Boolean);
}

function post(message, view) {
  const { author, act } = view;
  const name = displayName(author);
  const at = new Date(message.created_at ?? message.sent_at ?? Date.now());
  return [
    userButton(author, act, 3),
    el(
      'div.post-body',
      null,
      el(
        'header.post-head',
        null,
        el('button.message-name', { on: { click: (event) => act?.('card', { author, anchor: event.currentTarget }) } }, name, statusMark(author)),
        el('span.mark', null, time(at, moment), message.edited_at && ` · ${say('message.edited')}`),
        view.mine && mark(message, view),
        view.solves && el('span.post-solves', null, icon('check'), say('topic.answer')),
      ),
      quoteLine(view.quote, message.reply_to),
      content(message, view),
      reactions(message.actions, (emoji, on) => act?.('react', { emoji, on }), act && ((detail) => act('reactors', detail))),
      fault(message, act),
      view.solution && solution(view.solution),
      act &&
        el(
          'div.post-tools',
          null,
          textTool('react', say('act.react'), (event) => act('pick', event.currentTarget)),
          textTool('reply', say('act.reply'), () => act('reply')),
          textTool('more', say('act.more'), (event) => act('more', event.currentTarget)),
        ),
    ),
  ];
}

/** The emoji of the author's status, beside the name. */
function statusMark(author) {
  const line = statusLine(author);
  return line ? el('span.status-mark', { title: line, aria: { hidden: 'true' } }, statusEmoji(author)) : null;
}

function userButton(author, act, size) {
  const name = displayName(author);
  return el(
    'button.message-avatar',
    { aria: { label: name }, title: name, tabindex: '-1', on: { click: (event) => act?.('card', { author, anchor: event.currentTarget }) } },
    avatar(author, { size }),
  );
}

function textTool(picture, words, on) {
  return el('button.post-tool', { on: { click: on }, data: { act: picture } }, icon(picture), words);
}

/** Creates the toolbar of a message on first hover or focus, so that long lists have few buttons; one on touch screens. */
function bringTools(node, act) {
  const bring = () => {
    if (node.querySelector('.message-tools')) return;
    const isTouch = matchMedia('(pointer: coarse)').matches;
    node.append(
      el(
        'div.message-tools',
        null,
        !isTouch && recentEmoji(QUICK).map((emoji) => quickReaction(emoji, act)),
        !isTouch && iconButton('react', say('act.react'), { on: (event) => act('pick', event.currentTarget), key: '+' }),
        !isTouch && iconButton('reply', say('act.reply'), { on: () => act('reply'), key: 'r' }),
        iconButton('more', say('act.more'), { on: (event) => act('more', event.currentTarget), data: { act: 'more' } }),
      ),
    );
  };
  if (matchMedia('(pointer: coarse)').matches) return bring();
  node.addEventListener('pointerenter', bring);
  node.addEventListener('focusin', bring);
  return undefined;
}

function quickReaction(emoji, act) {
  const label = say('act.reactWith', { emoji });
  return el(
    'button.icon-button.quick-reaction',
    { title: label, aria: { label }, on: { click: () => act('react', { emoji, on: true }) } },
    emojiMark(emoji),
  );
}

function quoteLine(quote, replyTo) {
  if (!quote && !replyTo) return null;
  return el(
    'a.quote',
    { href: replyTo ? `/m/${replyTo}` : '#' },
    icon('reply'),
    el('span.quote-name', null, quote?.author ?? ''),
    el('span.quote-text.one-line', { dir: 'auto' }, quote ? quote.text || say('message.noText') : say('message.elsewhere')),
  );
}

/** The module of polls and buttons, once the first of them have been shown. */
let parts = null;
/** Height of an option and of the lines below all, before they are there. */
const [OPTION, FACTS] = [44, 40];

function partsOf(message, { act, mine, mayModerate }) {
  if (!message.poll && !message.buttons) return null;
  const view = { act, mayClose: mine || mayModerate };
  if (parts) return parts.partsElement(message, view);
  const placeholder = el('div');
  placeholder.style.minHeight = `${(message.poll?.options.length ?? 0) * OPTION + FACTS}px`;
  import('./parts.js')
    .then((it) => it.loadParts().then(() => (parts = it)))
    .then(() => placeholder.replaceWith(parts.partsElement(message, view)), () => placeholder.replaceWith(say('problem.network')));
  return placeholder;
}

/** The text with its pictures, the poll, the other files. */
function content(message, view) {
  const { files } = view;
  const attached = (message.attachments ?? []).map((id, at) => ({ ...(files?.[id] ?? { id, name: say('file.one') }), description: message.descriptions?.[at] }));
  const placed = new Set();
  const text = message.text && rich(message.text, placing(attached, placed));
  return [text, partsOf(message, view), extras(message, view, attached.filter((it) => !placed.has(it)))];
}

function extras(message, { act, files }, attached) {
  const embeds = embedsOf(message);
  const shown = attached.filter(({ id }) => !embeds.some(({ file }) => file === id));
  const pictures = shown.filter(isShown);
  const others = shown.filter((it) => !pictures.includes(it));
  return [
    pictureGrid(pictures),
    (message.uploads ?? []).map((it) =>
      attachment(it, { progress: it.progress, onRemove: act && (() => act('edit')) }),
    ),
    others.map(fileCard),
    embeds.map((it) => linkPreview({ ...it, picture: files?.[it.file]?.preview })),
  ];
}

/** The delivery status of an own message, as an icon with an accessible name. */
export function mark(message, { onStatus } = {}) {
  const state = message.state ?? message.status ?? 'delivered';
  const picture = { waiting: 'clock', failed: 'alert', some_read: 'checks', all_read: 'checks' }[state] ?? 'check';
  const words = say(`state.${state}`);
  if (!onStatus) return el('span.state', { class: `state-${state}`, title: words }, icon(picture, words));
  return el(
    'button.state',
    { class: `state-${state}`, title: words, on: { click: onStatus } },
    icon(picture),
    spoken(words),
  );
}

function fault(message, act) {
  if (message.state !== 'failed') return null;
  const verb = (name) => el('button.text-button', { on: { click: () => act?.(name) } }, say(`act.${name}`));
  return el(
    'p.message-fault',
    { role: 'alert' },
    icon('alert'),
    el('span', null, say('message.notSent', { why: message.fault ?? say('problem.network') })),
    verb('retry'),
    verb('edit'),
    verb('discard'),
  );
}

function systemLine(message) {
  return el(
    'article.system-line',
    { tabindex: '0', aria: { label: say('system.label') }, data: { id: message.id, seq: message.seq } },
    rich(message.text),
    message.topic && el('a', { href: `/t/${message.topic}` }, say('system.toTopic')),
  );
}
