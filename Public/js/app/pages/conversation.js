// A conversation: a room, a topic, a direct or a group one.

import { el, refill } from '../core/dom.js';
import { forumTabs } from '../forum/forumhead.js';
import { asItIs, attend, canManage, silenceIn } from '../forum/membership.js';
import { avatar, avatarPair } from '../parts/user/avatar.js';
import { iconButton } from '../parts/forms/button.js';
import { typingLine } from '../parts/message/lines.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';
import { forumAddress, conversationAddress } from '../core/router.js';
import { conversationTitle, othersIn } from '../core/titles.js';
import { loadMoreText, say, sayProblem } from '../core/text/text.js';
import { banners } from '../conversation/banners.js';
import { keys } from '../conversation/keys.js';
import { cannotWrite, dropFiles, messageField, placeholder } from '../conversation/messagefield.js';
import { openStream } from '../conversation/opening.js';
import { presenceLine, showPresence } from '../conversation/presenceline.js';
import { watchSubject } from '../conversation/subject.js';
import { quoteSelection } from '../conversation/messages/quoting.js';
import { MessageView } from '../conversation/messages/view.js';
import { markRead, messageWith } from '../state/messages.js';

/** The width with room for a topic beside the list. */
const BESIDE = '(min-width: 90rem)';

/** Browsers run longer timers at once, in milliseconds. */
const MAX_TIMER = 2 ** 31 - 2;

export async function open(shell, { id, query }, restore) {
  const conversation = await shell.site.conversation(id);
  // The posts of a feed stand on the page of its owner.
  if (conversation.kind === 'feed') return void shell.go(`/u/${conversation.owner_id}`, { replace: true });
  const forum = conversation.forum_id ? await shell.site.forum(conversation.forum_id) : null;
  return conversationPage(shell, conversation, { forum, message: query?.get('m'), restore });
}

/** The whole page of a conversation; `tabs` stand under the head of a forum's room. */
export async function conversationPage(shell, conversation, { forum, message, tabs, restore } = {}) {
  const { site } = shell;
  const loading = conversation.kind === 'topic' ? import('../conversation/topic/parts.js') : null;
  const gestures = navigator.maxTouchPoints ? import('../conversation/messages/gestures.js') : null;
  // Errors of these modules are reported later, after those of the stream.
  for (const it of [loading, gestures]) it?.catch(() => {});
  const { stream, readUpTo } = await openStream(site, conversation, message ?? restore?.anchor?.id ?? null);
  const [parts, touch] = await Promise.all([loading, gestures]).catch((error) => {
    stream.close?.();
    throw error;
  });
  const ended = new AbortController();
  const page = pageOf(shell, conversation, forum, stream, ended.signal);
  const { isTopic } = page;
  const unfollow = attend(site, forum);
  page.field = site.me ? messageField(page) : null;
  page.acts = site.me ? whenAsked(page) : null;
  const head = parts?.topicHead(page) ?? null;
  const view = (page.view = messageView(page, readUpTo, head));
  if (page.acts) for (const name of ['pointerover', 'focusin']) view.node.addEventListener(name, page.acts.load, { once: true });
  const line = parts?.timelineOf(view, stream, conversation) ?? null;
  view.moved = line?.moved;

  const title = conversationTitle(site, conversation);
  const node = el(
    'section.conversation',
    { class: isTopic ? 'is-topic' : '', aria: { label: title } },
    banners(page),
    view.node,
    foot(page),
  );
  line?.show();
  dropFiles(node, page.field);
  view.node.addEventListener('click', (event) => openViewer(event, view.node));
  touch?.addGestures(page);
  const endQuotes = quoteSelection(view.node, () => (page.field?.hidden ? null : page.field));

  const isBeside = isTopic && !!forum && matchMedia(BESIDE).matches;
  const split = isBeside ? parts.besideTopics(shell, forum, conversation, node) : { node, close() {} };
  const top = tabs ?? (isBeside ? forumTabs(shell, forum, 'topics', null, detailsButton(page)) : bar(page, title));
  showPresence(page, top);
  // The counts of the tabs.
  page.listen(site, ['conversations', 'forums', 'overview', 'me'], () => top.changed?.());
  const seeing = new IntersectionObserver(
    ([{ isIntersecting }]) => top.classList.toggle('is-repeated-below', isIntersecting),
    { root: view.node },
  );
  if (head && !isBeside) seeing.observe(head);
  const { field } = page;
  const shown = {
    title,
    isConversation: true,
    keepsFocus: true,
    get here() { return forum ? forumAddress(page.forum) : conversationAddress(conversation); },
    forum: forum?.id,
    node: [top, split.node],
    isWriting: () => !field?.hidden && field?.isWriting,
    shown(left) {
      view.begin({ message, anchor: left?.anchor });
      if (!message && !field?.hidden) field?.focusUnlessTouch();
      parts?.endNew(page);
    },
    leave: () => ({ anchor: view.isStuck ? null : view.anchor() }),
    close() {
      unfollow();
      ended.abort();
      seeing.disconnect();
      endQuotes();
      line?.close();
      split.close();
      view.close();
      stream.close?.();
    },
    pressed: (event) => keys(event, page),
  };
  followTitle(page, shown, node, isBeside ? null : top);
  return shown;
}

/** Shows a new title, or the name of a participant that was unknown. `top`: the head, if it has the title. */
function followTitle(page, shown, node, top) {
  const { shell, site, conversation } = page;
  page.listen(site, ['users', 'conversations', 'forums'], () => {
    const now = conversationTitle(site, page.now());
    if (now === shown.title) return;
    shown.title = now;
    node.setAttribute('aria-label', now);
    if (top) top.querySelector('h1').textContent = now;
    if (!conversation.forum_id) top.querySelector('.page-bar-words').previousElementSibling.replaceWith(pictureOf(page));
    if (shell.page === shown) shell.entitle();
  });
}

/** The state that the parts of the page share. `signal` ends its listeners. */
function pageOf(shell, conversation, forum, stream, signal) {
  const { site } = shell;
  const page = {
    shell, site, stream, conversation, signal,
    isTopic: conversation.kind === 'topic',
    /** The current state, updated by events. */
    now: () => latest(site, conversation),
    get forum() {
      return asItIs(site, forum);
    },
    /** Why the user can't write; null if they can. */
    cannot: () => cannotWrite(site, page.now(), page.forum),
    get canModerate() {
      return !!forum && (canManage(site, page.forum) || conversation.role === 'admin');
    },
    /** Listens until the page closes. */
    listen(target, names, listener) {
      for (const name of names) target.addEventListener(name, listener, { signal });
    },
  };
  signal.addEventListener('abort', watchSubject(shell, 'conversations', conversation.id));
  return page;
}

function messageView(page, readUpTo, head) {
  const { shell, site, stream, conversation, isTopic } = page;
  const hidesGone = () => site.me?.preferences?.tombstones === false;
  const showsReaders = !conversation.forum_id && (conversation.participant_count ?? 0) <= 50;
  const view = new MessageView({
    stream,
    shape: isTopic ? 'post' : 'bubble',
    me: site.me,
    readUpTo,
    solvedBy: () => (isTopic ? page.now().solved_by : null),
    hidesGone,
    mayModerate: () => page.canModerate,
    user: (id) => site.user(id),
    file: (id) => site.file(id),
    act: (it, verb, detail) => page.acts?.run(it, verb, detail),
    fetch: (id) => messageWith(site, id),
    onRead: site.me ? (it) => markRead(site, conversation, it)?.catch(() => {}) : null,
    onStatus: showsReaders ? (it) => page.acts.run(it, 'status') : null,
    onFault: (error) => toast(sayProblem(error)),
    announce: (name) => shell.announce(name),
    head,
    emptyActions: conversation.kind === 'room' && site.mayInvite ? [el('a.button.button-plain', { href: '/admin/invites' }, say('invite.people'))] : [],
    emptyWords: say(conversation.kind === 'room' ? 'conversation.emptyRoom' : 'conversation.empty'),
  });
  page.listen(site, ['users', 'files'], () => view.draw());
  const unlisten = site.parley?.on('change', (changes) => view.rows.renewQuotes(changes) && view.soon());
  if (unlisten) page.signal.addEventListener('abort', unlisten);
  let hid = hidesGone();
  page.listen(site, ['me'], () => {
    if (hid === hidesGone()) return;
    hid = hidesGone();
    view.draw();
  });
  let solvedBy = page.now().solved_by;
  page.listen(site, ['conversations', 'forums'], () => {
    if (solvedBy === page.now().solved_by) return;
    solvedBy = page.now().solved_by;
    view.soon();
  });
  return view;
}

/** Below the messages: typing users, the composer, or why the user can't write. */
function foot(page) {
  const { shell, site, conversation, view, field } = page;
  const typing = el('div.typing-slot', { aria: { live: 'off' } }, typingLine([]));
  page.listen(site, ['typing'], ({ detail }) => {
    if (detail.conversation === conversation.id) typing.replaceChildren(typingLine(detail.names));
  });
  const note = el('p.stream-note', { role: 'status' });
  let shown;
  let timer;
  const draw = () => {
    const why = page.cannot();
    const rest = Date.parse(silenceIn(site, page.forum)?.until) - Date.now();
    clearTimeout(timer);
    if (rest < MAX_TIMER) timer = setTimeout(draw, rest + 1);
    note.hidden = !!field && !why;
    const hadFocus = field?.contains(document.activeElement);
    if (field) {
      field.hidden = typing.hidden = !!why;
      field.input.placeholder = placeholder(page);
    }
    if (hadFocus && why) view.node.focus({ preventScroll: true });
    // Screen readers speak it when it changes, and only then.
    if (shown === why) return;
    shown = why;
    refill(note, why ?? el('a', { href: `/sign-in?back=${encodeURIComponent(conversationAddress(conversation))}` }, say('conversation.signIn')));
  };
  draw();
  page.signal.addEventListener('abort', () => clearTimeout(timer));
  page.listen(site, ['conversations', 'forums', 'me'], draw);
  return el('footer.stream-foot', null, view.pillBox, site.me && typing, field, note);
}

function bar(page, title) {
  const { shell, site, conversation, forum } = page;
  const second = forum ? el('a', { href: forumAddress(forum) }, forum.title) : presenceLine(site, conversation);
  return pageBar(title, {
    second,
    state: site.state,
    back: () => shell.router.back(forum ? forumAddress(forum) : '/messages'),
    picture: forum ? null : pictureOf(page),
    search: forum ? `/search?from=${forum.id}` : `/search?in=${conversation.id}`,
    actions: detailsButton(page),
  });
}

function pictureOf({ site, now }) {
  const others = othersIn(site, now());
  return others.length > 1 ? avatarPair(others) : avatar(others[0]);
}

function detailsButton(page) {
  const { shell, site } = page;
  if (!site.me) return [];
  const open = async () => {
    const [{ details }] = await Promise.all([import('../conversation/details.js'), loadMoreText()]);
    return details(shell, page.now(), page.forum, !page.cannot());
  };
  return [iconButton(page.isTopic ? 'more' : 'panel', say('conversation.details'), { on: open, data: { act: 'details' } })];
}

/** The cached conversation, unless the fetched one is newer. */
function latest(site, conversation) {
  const held = site.parley?.conversation(conversation.id);
  return held?.revision >= conversation.revision ? held : conversation;
}

async function openViewer(event, node) {
  const link = event.target.closest?.('a.picture');
  if (!link) return;
  event.preventDefault();
  const all = [...node.querySelectorAll('a.picture')];
  const { viewLinks } = await import('../parts/media/viewer.js');
  viewLinks(all, link);
}

/** The message actions, loaded when the user comes near a message. */
function whenAsked(page) {
  const load = () => import('../conversation/messages/actions.js').then(({ MessageActions }) => (load.acts ??= new MessageActions(page)));
  return {
    load: () => load().catch(() => {}),
    run: async (message, verb, detail) => (await load()).run(message, verb, detail),
    async press(message, verb) {
      const acts = await load();
      if (verb === 'pick' || acts.items(message).some((it) => it?.act === verb)) await acts.run(message, verb);
    },
  };
}
