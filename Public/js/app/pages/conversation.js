// A conversation: a room, a topic, a direct or a group one.

import { el, icon, isTyping, redraw, refill } from '../core/dom.js';
import { filterBar, forumTabs } from '../forum/forumhead.js';
import { asItIs, attend, canBeAmong, canManage, isMember } from '../forum/membership.js';
import { avatar, avatarPair } from '../parts/avatar.js';
import { iconButton } from '../parts/button.js';
import { banner } from '../parts/banner.js';
import { composer } from '../parts/composer.js';
import { typingLine } from '../parts/lines.js';
import { pageBar } from '../parts/sidebar.js';
import { toast } from '../parts/toast.js';
import { forumAddress, conversationAddress } from '../core/router.js';
import { conversationTitle } from '../core/titles.js';
import { findTags } from '../forum/tags.js';
import { list, say, sayProblem } from '../core/text.js';
import { followButton } from '../conversation/following.js';
import { presenceLine, showPresence } from '../conversation/presenceline.js';
import { quoteSelection } from '../conversation/quoting.js';
import { timelineOf } from '../conversation/topictimeline.js';
import { brief } from '../core/times.js';
import { topicRows } from '../forum/topicrows.js';
import { onMessages } from '../parts/touch.js';
import { MessageView } from '../conversation/messageview.js';
import { Stream } from '../state/stream.js';
import { VisitorStream } from '../state/visitorstream.js';

/** As many unread ones stand on the newest page in any case. */
const SHORT = 40;
/** Where there is room for a topic beside the list. */
const BESIDE = '(min-width: 1440px)';

export async function open(shell, { id, query }, restore) {
  const conversation = await shell.site.conversation(id);
  const forum = conversation.forum_id ? await shell.site.forum(conversation.forum_id) : null;
  return conversationPage(shell, conversation, { forum, message: query?.get('m'), restore });
}

/** The whole page of a conversation; `tabs` stand under the head of a forum's room. */
export async function conversationPage(shell, conversation, { forum, message, tabs, restore } = {}) {
  const { site } = shell;
  const isTopic = conversation.kind === 'topic';
  // Each page has one of its own, and closes it: two pages of one conversation may follow one another.
  const stream = site.parley ? new Stream(site, conversation) : new VisitorStream(site, conversation);
  const unread = conversation.unread_count ?? 0;
  const readUpTo = site.me && unread > 0 ? (conversation.read_up_to ?? null) : null;
  const around = message ?? restore?.anchor?.id ?? null;
  try {
    if (!around && isTopic && !(unread > 0 && readUpTo > 0)) await stream.openAt(1);
    else if (!around && readUpTo !== null && unread > SHORT) await stream.openAt(readUpTo + 1);
    else await stream.open(around);
    if (!around && readUpTo !== null && !isTopic) await reach(stream, readUpTo);
  } catch (error) {
    stream.close?.();
    throw error;
  }

  const ended = new AbortController();
  const page = {
    shell, site, stream, conversation, isTopic,
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
      for (const name of names) target.addEventListener(name, listener, { signal: ended.signal });
    },
  };
  const unfollow = attend(site, forum);
  page.field = site.me ? messageField(page) : null;
  page.acts = site.me ? whenAsked(page) : null;
  const head = isTopic ? topicHead(page) : null;
  const view = (page.view = messageView(page, readUpTo, head));
  if (page.acts) for (const name of ['pointerover', 'focusin']) view.node.addEventListener(name, page.acts.load, { once: true });
  const line = isTopic ? timelineOf(view, stream, conversation) : null;
  view.moved = line?.moved;

  const title = conversationTitle(site, conversation);
  const node = el(
    'section.conversation',
    { class: `${isTopic ? 'is-topic' : ''} ${line ? 'has-timeline' : ''}`, aria: { label: title } },
    conversation.request && requestBanner(shell, conversation),
    conversation.kind === 'room' && shell.arrival && welcomeBanner(shell),
    conversation.kind === 'room' && site.me?.role === 'owner' && steps(page),
    view.node,
    line?.rail,
    foot(page, line, tabs),
  );
  dropFiles(node, page.field);
  view.node.addEventListener('click', (event) => openViewer(event, view.node));
  addTouch(page);
  const endQuotes = quoteSelection(view.node, () => (page.field?.hidden ? null : page.field));

  const isBeside = isTopic && !!forum && matchMedia(BESIDE).matches;
  const split = isBeside ? beside(shell, forum, conversation, node) : { node, close() {} };
  const top = tabs ?? (isBeside ? forumTabs(shell, forum, 'topics', null, detailsButton(page)) : bar(page, title));
  showPresence(page, top);
  const seeing = new IntersectionObserver(
    ([{ isIntersecting }]) => top.classList.toggle('is-told-below', isIntersecting),
    { root: view.node },
  );
  if (head && !isBeside) seeing.observe(head);
  const { field } = page;
  return {
    title,
    isTalk: true,
    keepsFocus: true,
    here: forum ? forumAddress(forum) : conversationAddress(conversation),
    node: [top, split.node],
    isWriting: () => !field?.hidden && field?.isWriting,
    shown(left) {
      view.begin({ message, anchor: left?.anchor });
      if (!message && !field?.hidden) field?.focusUnlessTouch();
      // An opened topic is not new any more, even if its first post is longer than the screen.
      const [first] = stream.messages;
      if (site.me && first && site.overview.isNew(conversation.id)) site.markRead(conversation, first).catch(() => {});
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
}

/** The composer of the page. */
function messageField(page) {
  const { site, stream, conversation, isTopic } = page;
  const { limits } = site.server;
  return composer({
    enterSends: !isTopic,
    placeholder: placeholder(page),
    maxScalars: limits.message_scalars,
    draft: site.draft(conversation.id),
    keep: (text, replyTo) => site.keepDraft(conversation.id, text, replyTo),
    users: (start) => site.findPeople(start),
    get rings() {
      return !!page.forum && isMember(site, page.forum, page.forum.room_mention);
    },
    tags: (start) => findTags(site, start),
    typing: () => site.parley?.typing(conversation.id),
    lastOwn: () =>
      stream.messages.findLast((it) => it.author_id === site.me.id && !it.deleted && it.kind !== 'system'),
    filesUpTo: limits.file_bytes ?? 0,
    share: async () => {
      const { shareLink } = await import('../conversation/sharelink.js');
      shareLink(site, (draft) => {
        stream.send(draft);
        page.view.newest();
      });
    },
    send: ({ text, replyTo, editing, files }) => {
      if (editing) return page.acts.run(editing, 'save', text);
      stream.send({ text, replyTo, files });
      return page.view.newest();
    },
  });
}

/** The words in the empty composer. They announce that writing joins the forum. */
function placeholder({ site, forum, isTopic }) {
  if (site.canJoin(forum)) return say('composer.joins', { title: forum.title });
  return say(isTopic ? 'composer.post' : 'composer.room');
}

/** The title of a topic with its signs, redrawn with it. */
function topicHead(page) {
  const { site, stream, conversation } = page;
  const node = el('header.stream-head');
  const draw = () => {
    const follow = site.me && followButton(site, conversation, page.now, draw);
    redraw(node, topicTitle(page.now(), page.forum, stream, follow));
  };
  draw();
  page.listen(site, ['conversations', 'forums'], draw);
  // The answer may have been deleted.
  page.listen(stream, ['change'], () => page.now().solved_by && draw());
  return node;
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
    person: (id) => site.person(id),
    file: (id) => site.file(id),
    act: (it, verb, detail) => page.acts?.run(it, verb, detail),
    fetch: (id) => site.call('GET', `/messages/${id}`),
    onRead: site.me ? (it) => site.markRead(conversation, it)?.catch(() => {}) : null,
    onStatus: showsReaders ? (it) => page.acts.run(it, 'status') : null,
    onFault: (error) => toast(sayProblem(error)),
    announce: (name) => shell.announce(name),
    head,
    emptyWords: say(conversation.kind === 'room' ? 'talk.emptyRoom' : 'talk.empty'),
  });
  page.listen(site, ['users', 'files'], () => view.draw());
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
function foot(page, line, tabs) {
  const { shell, site, conversation, view, field } = page;
  const typing = el('div.typing-place', { aria: { live: 'off' } }, typingLine([]));
  page.listen(site, ['typing'], ({ detail }) => {
    if (detail.conversation === conversation.id) typing.replaceChildren(typingLine(detail.names));
  });
  const note = el('p.stream-note', { role: 'status' });
  let shown;
  const draw = () => {
    const why = page.cannot();
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
    refill(note, why ?? el('a', { href: `/sign-in?back=${encodeURIComponent(conversationAddress(conversation))}` }, say('talk.signIn')));
  };
  draw();
  page.listen(site, ['conversations', 'forums'], () => {
    draw();
    tabs?.changed();
  });
  return el('footer.stream-foot', null, view.pillPlace, line?.pillPlace, site.me && typing, field, note);
}

/** Long press and swipe on a message. */
function addTouch({ stream, acts, view }) {
  const messageOf = (id) => {
    const found = stream.shown.find((it) => it.id === id);
    return found?.kind === 'system' ? null : found;
  };
  onMessages(view.node, {
    held: (id, anchor) => {
      const message = messageOf(id);
      if (message) acts?.run(message, 'more', anchor);
    },
    drawn: (id) => {
      const message = messageOf(id);
      if (message && !message.deleted && !message.state) acts?.run(message, 'reply');
    },
  });
}

/** On a wide screen a topic stands beside the list of all, under the head of the forum. */
function beside(shell, forum, conversation, node) {
  const { site } = shell;
  const rows = el('nav', { aria: { label: forum.title } });
  const list = el('div.split-list', null, filterBar(site, forum, null), rows);
  let listed = [];
  const draw = () => redraw(rows, topicRows(site, listed, conversation.id));
  site.call('GET', `/forums/${forum.id}/conversations`, { query: { include: 'users' }, tries: 1 }).then(
    ({ data, included }) => {
      site.keepUsers(included.users);
      listed = data;
      draw();
    },
    () => {},
  );
  const unlisten = site.listen(['users', 'conversations', 'overview'], draw);
  return {
    node: el('div.split.has-list', null, list, node),
    close: unlisten,
  };
}

/** Older pages until the first unread is among them; a few, then the newest has to do. */
async function reach(stream, readUpTo) {
  for (let pages = 0; pages < 2 && stream.hasOlder && (stream.messages[0]?.seq ?? 0) > readUpTo + 1; pages++)
    await stream.older();
}

function bar(page, title) {
  const { shell, site, conversation, forum } = page;
  const others = site.othersIn(conversation);
  const second = forum ? el('a', { href: forumAddress(forum) }, forum.title) : presenceLine(site, conversation);
  return pageBar(title, {
    second,
    state: site.state,
    back: () => shell.router.back(forum ? forumAddress(forum) : '/messages'),
    picture: forum ? null : others.length > 1 ? avatarPair(others) : avatar(others[0]),
    actions: detailsButton(page),
  });
}

function detailsButton(page) {
  const { shell, site } = page;
  if (!site.me) return [];
  const open = async () => (await import('../conversation/details.js')).details(shell, page.now(), page.forum, !page.cannot());
  return [iconButton(page.isTopic ? 'more' : 'panel', say('talk.details'), { on: open, data: { act: 'details' } })];
}

/** The cached conversation, unless the fetched one is newer. */
function latest(site, conversation) {
  const held = site.parley?.conversation(conversation.id);
  return held?.revision >= conversation.revision ? held : conversation;
}

function topicTitle(conversation, forum, stream, follow) {
  const { solved_by: answer } = conversation;
  const isGone = stream.shown.some((it) => it.id === answer && it.deleted);
  return [
    el('h2.page-title', null, conversation.title),
    el(
      'div.stream-head-line',
      null,
      el(
        'p.second',
        null,
        forum ? el('a', { href: forumAddress(forum) }, forum.title) : '',
        ' · ',
        brief(new Date(conversation.created_at)),
      ),
      follow,
    ),
    (answer || conversation.locked) &&
      el(
        'p.topic-signs',
        null,
        answer &&
          (isGone
            ? el('span.topic-solved', null, icon('check'), say('topic.solved'))
            : el('a.topic-solved', { href: `/m/${answer}` }, icon('check'), say('topic.toAnswer'))),
        conversation.locked && el('span', null, icon('lock'), say('topic.locked')),
      ),
  ];
}

function cannotWrite(site, conversation, forum) {
  if (!site.me) return null;
  if (site.isTooOld) return say('version.tooOld');
  if (forum?.archived) return say('talk.archived');
  const keeps = forum ? canManage(site, forum) : conversation.role === 'admin';
  if ((conversation.locked || forum?.locked) && !keeps) return say('talk.locked');
  if (!forum || canBeAmong(site, forum, forum.write)) return null;
  if (forum.write === 'moderators') return say('talk.hostsWrite');
  // Guests are added by others.
  return say('talk.guestsRead');
}

/** What an owner does first; empty until it is known what is left. The preference may come after the first run's last page. */
function steps({ shell, site, listen }) {
  const node = el('section.steps-place', { hidden: true, aria: { label: say('steps.title') } });
  let isOn = false;
  const draw = () => {
    if (isOn === !!site.me?.preferences?.first_steps) return;
    isOn = !isOn;
    if (isOn) import('../account/firststeps.js').then(({ firstSteps }) => firstSteps(shell, node)).catch(() => {});
    else node.hidden = true;
  };
  draw();
  listen(site, ['me'], draw);
  return node;
}

/** Once, after sign-up. */
function welcomeBanner(shell) {
  const { site, forums } = shell.arrival;
  shell.arrival = null;
  const link = (href, words) => el('a.text-button', { href }, words);
  const words = [say('welcome.title', { name: site }), forums.length && say('welcome.joined', { forums: list(forums) })].filter(Boolean).join('. ');
  const node = banner(words, {
    actions: [
      link('/forums', say('welcome.browse')),
      link('/you/look', say('welcome.notifications')),
      iconButton('close', say('act.close'), { on: () => node.remove() }),
    ],
  });
  return node;
}

function requestBanner(shell, conversation) {
  const { site } = shell;
  const answer = (words, method) =>
    el(
      'button.text-button',
      {
        on: {
          click: async () => {
            const go = shell.fromHere();
            try {
              const kept = await site.call(method, `/conversations/${conversation.id}/request`);
              if (kept) site.keepConversation(kept);
              go(kept ? location.pathname : '/messages', { replace: true });
            } catch (error) {
              toast(sayProblem(error));
            }
          },
        },
      },
      words,
    );
  return banner(say('talk.request'), {
    actions: [answer(say('talk.take'), 'PUT'), answer(say('talk.refuse'), 'DELETE')],
  });
}

function dropFiles(node, field) {
  if (!field) return;
  const show = (on) => node.classList.toggle('file-drop', on);
  node.addEventListener('dragover', (event) => {
    if (field.hidden || !event.dataTransfer?.types.includes('Files')) return;
    event.preventDefault();
    show(true);
  });
  node.addEventListener('dragleave', () => show(false));
  node.addEventListener('drop', (event) => {
    show(false);
    if (field.hidden || event.defaultPrevented || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    field.take([...event.dataTransfer.files]);
  });
}

async function openViewer(event, node) {
  const link = event.target.closest?.('a.picture');
  if (!link) return;
  event.preventDefault();
  const all = [...node.querySelectorAll('a.picture')];
  const { viewer } = await import('../parts/viewer.js');
  viewer(
    all.map((it) => ({ href: it.getAttribute('href'), name: it.querySelector('img').alt })),
    all.indexOf(link),
  );
}

/** The message actions, loaded when the user comes near a message. */
function whenAsked(page) {
  const load = () => import('../conversation/messageactions.js').then(({ MessageActions }) => (load.acts ??= new MessageActions(page)));
  return {
    load: () => load().catch(() => {}),
    run: async (message, verb, detail) => (await load()).run(message, verb, detail),
    async press(message, verb) {
      const acts = await load();
      if (verb === 'pick' || acts.items(message).some((it) => it?.act === verb)) await acts.run(message, verb);
    },
  };
}

function keys(event, { shell, conversation, view, acts, field }) {
  const isMember = isTyping(event.target);
  // Pressed again, where one searches, it is the browser's own.
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'f') {
    shell.go(`/search?in=${conversation.id}`);
    return true;
  }
  if (event.key === 'Escape' && !event.shiftKey) {
    if (isMember) view.node.focus({ preventScroll: true });
    view.newest();
    return true;
  }
  if (isMember || event.ctrlKey || event.metaKey || event.altKey) return false;
  const message = view.focused;
  const by = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
  if (by && (event.key.length === 1 || message)) {
    view.step(by);
    return true;
  }
  if (event.key === 'c' && field && !field.hidden) {
    field.input.focus();
    return true;
  }
  const verb = { r: 'reply', e: 'edit', '+': 'pick', s: 'star', t: 'toTopic', l: 'link' }[event.key];
  if (!verb || !message || !acts) return false;
  acts.press(message, verb);
  return true;
}
