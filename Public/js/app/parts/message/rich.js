// Renders Markdown as elements. The library parses it; the app draws mentions, hashtags, links and code itself.

import { groupNamed } from '../../core/groups.js';
import { parseMarkup } from '../../../parley/markup.js';
import { buildNodes } from '../../../parley/markup/nodes.js';
import { withEmoji } from '../../core/emoji/custom.js';
import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { codeBlock } from './code.js';

const EMOJI = /\p{Extended_Pictographic}/u;
const ONE = String.raw`\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic}|[\u{1f3fb}-\u{1f3ff}]|\ufe0f)*`;
const EMOJI_ALONE = new RegExp(String.raw`^(?:\s*(?:${ONE}|\p{Regional_Indicator}{2})){1,3}\s*$`, 'u');

/** Whether a text is only one to three emoji, which are shown large and without a bubble. */
export function isEmojiAlone(text) {
  return !!text && text.length < 64 && EMOJI.test(text) && EMOJI_ALONE.test(text);
}

/** @param {(number: number, description: string) => Node | null} [place] returns the attachment that the text places, if there is one */
export function rich(text, place) {
  const made = (node, children) => (node.type === 'picture' ? place?.(node.number, children.textContent) : make(node, children));
  return el('div.rich', { dir: 'auto' }, buildNodes(parseMarkup(String(text ?? '')).children, { make: made }));
}

function make(node, children) {
  switch (node.type) {
    case 'text':
      return withEmoji(node.text);
    case 'mention':
      return el('a.mention', { href: mentionAddress(node.text.replace(/^@/, '')) }, node.text);
    case 'hashtag':
      return el('a.hashtag', { href: `/search?q=${encodeURIComponent(node.text)}` }, node.text);
    case 'codeBlock':
      return codeBlock(node.text.replace(/\n$/, ''), node.language);
    case 'item':
      return node.task === null ? null : task(node, children);
    case 'spoiler':
      return spoiler(children);
    case 'link':
      return link(node, children);
    default:
      return null;
  }
}

function link(node, children) {
  const isHere = new URL(node.href, location.origin).origin === location.origin;
  return el(
    'a',
    {
      href: node.href,
      title: node.title ?? (node.href.startsWith('http:') ? say('link.plain') : null),
      ...(isHere ? {} : { target: '_blank', rel: 'noopener noreferrer nofollow ugc' }),
    },
    children,
  );
}

/** Done or not is said, not only drawn. */
function task(node, children) {
  const isDone = node.task === 'done';
  const mark = el(
    'span.task',
    { role: 'img', aria: { label: say(isDone ? 'task.done' : 'task.open') } },
    isDone ? '☑' : '☐',
  );
  return el('li.task-item', null, mark, ' ', children);
}

function spoiler(children) {
  const node = el(
    'button.spoiler',
    { aria: { expanded: 'false', label: say('message.spoiler') } },
    el('span', { inert: true }, children),
  );
  node.addEventListener('click', (event) => {
    if (node.getAttribute('aria-expanded') === 'true') return;
    event.preventDefault();
    node.setAttribute('aria-expanded', 'true');
    node.removeAttribute('aria-label');
    node.firstChild.inert = false;
  });
  return node;
}

/** Names belong to a user or a group. */
const mentionAddress = (name) => (groupNamed(name) ? '/you/groups' : `/u/${encodeURIComponent(name)}`);
