// The conversation for content of another app: the composer of the chosen one opens with it.

import { el, redraw } from '../core/dom.js';
import { fits } from '../core/text/fold.js';
import { conversationAddress, forumAddress } from '../core/router.js';
import { conversationTitle, othersIn, ownConversations } from '../core/titles.js';
import { isolate, say } from '../core/text/text.js';
import { field } from '../parts/forms/field.js';
import { attachment } from '../parts/media/attachment.js';
import { empty } from '../parts/lists/empty.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';
import { avatar } from '../parts/user/avatar.js';
import { forumPicture } from '../parts/user/forumpicture.js';
import { draftFilesOf, draftOf, keepDraft } from '../state/drafts.js';
import { canJoin } from '../state/forums.js';

/** Conversations of the list; the search finds the others. */
const MAX = 30;
/** The service worker keeps the request here. */
const KEPT = '/shared';
/** Content waits this long for the user, in milliseconds. */
const MAX_WAIT = 3_600_000;
const state = () => globalThis.caches?.open('state');
const forget = async () => {
  await (await state())?.delete(KEPT);
  return null;
};

export async function open(shell) {
  const { site } = shell;
  const shared = await read().catch(() => {
    toast(say('composer.filesNotKept'));
    return forget();
  });
  const list = el('div');
  // A second click adds nothing.
  let chosen;
  const search = field(say('shareTarget.find'), { type: 'search', autocomplete: 'off', on: { input: () => draw() } });
  const draw = () => {
    const found = targets(site).filter((it) => fits(it.title, search.input.value)).slice(0, MAX);
    redraw(list, found.length ? found.map((it) => choice(it, () => (chosen ??= choose(shell, it, shared)))) : el('p.second', null, say('shareTarget.none')));
  };
  draw();
  return {
    title: say('shareTarget.title'),
    here: '/messages',
    keepsFocus: true,
    node: [
      pageBar(say('shareTarget.title'), { back: () => shell.router.back('/'), state: site.state }),
      el('div.page-body', null, el('div.page-column', null, shared ? [preview(shared), search, list] : empty(say('shareTarget.nothing'), { picture: 'send' }))),
    ],
    close: site.listen(['conversations', 'forums', 'users'], draw),
  };
}

/** @returns {Promise<{ text: string, files: File[] } | null>} */
async function read() {
  const kept = await (await state())?.match(KEPT);
  if (!kept || !(Date.now() - Date.parse(kept.headers.get('date')) < MAX_WAIT)) return forget();
  const form = await kept.formData().catch(() => null);
  if (!form) return null;
  const parts = ['title', 'text', 'url'].map((name) => `${form.get(name) ?? ''}`.trim());
  // Some apps share the title or the address within the text, too.
  const text = parts.filter((it, at) => it && !parts.some((other, index) => index !== at && other.includes(it) && (other !== it || index < at)));
  // In memory: the kept ones end with the request.
  const copy = async (it) => new File([await it.arrayBuffer()], it.name, { type: it.type });
  const files = await Promise.all(form.getAll('files').filter((it) => it.size > 0).map(copy));
  return text.length || files.length ? { text: text.join('\n'), files } : null;
}

const preview = ({ text, files }) =>
  el(
    'div.panel-block',
    null,
    text && el('p.shared-text', { dir: 'auto' }, text),
    files.map((it) => attachment({ name: it.name, size: it.size, picture: it.type.startsWith('image/') && URL.createObjectURL(it) })),
  );

/** Direct and group conversations, rooms, those of the user's forums first, and topics. Writing joins a forum. */
function targets(site) {
  const room = (forum) => ({ id: forum.room_id, title: forum.title, second: say('forum.room'), forum, address: forumAddress(forum, 'room') });
  const topic = (it) => ({ id: it.id, title: it.title, second: site.forums.get(it.forum_id)?.title ?? '', forum: site.forums.get(it.forum_id), address: conversationAddress(it) });
  const own = (it) => ({ id: it.id, title: conversationTitle(site, it), user: othersIn(site, it)[0], address: conversationAddress(it) });
  const rooms = [...site.forums.values()].filter((it) => !it.archived);
  return [
    ...ownConversations(site).map(own),
    ...rooms.filter((it) => it.role).map(room),
    ...rooms.filter((it) => canJoin(site, it)).map(room),
    ...[...site.conversations.values()].filter((it) => it.kind === 'topic' && !it.locked).map(topic),
  ];
}

const choice = ({ title, second, forum, user }, on) =>
  el(
    'button.user-choice.share-choice',
    { on: { click: on } },
    user ? avatar(user, { size: 2 }) : forum ? forumPicture(forum, 32) : el('img.page-bar-picture', { src: '/api/v1/icon', alt: '', width: 32, height: 32, loading: 'lazy' }),
    el('span.one-line', { dir: 'auto' }, title, second && el('span.second', null, ` · ${isolate(second)}`)),
  );

/** Adds it to the draft of the conversation. */
async function choose(shell, { id, address }, { text, files }) {
  const { site } = shell;
  const go = shell.fromHere();
  const before = draftOf(site, id);
  const earlier = (await draftFilesOf(site, id)?.()) ?? [];
  const words = [before?.text, text].filter(Boolean).join('\n');
  const isWhole = await keepDraft(site, id, words, before?.replyTo, before?.poll, files.length ? [...earlier, ...files] : undefined);
  if (isWhole === false) toast(say('composer.filesNotKept'));
  await forget();
  go(address, { replace: true });
}
