// A conversation: a room, a topic, a direct or a group one.

import { el, icon, isTyping, redraw, refill } from '../dom.js';
import { asItIs, attend, isIn, joinButton, looksAfter } from '../membership.js';
import { avatar, avatarPair } from '../parts/avatar.js';
import { iconButton } from '../parts/button.js';
import { banner } from '../parts/banner.js';
import { composer } from '../parts/composer.js';
import { typingLine } from '../parts/lines.js';
import { presenceWords } from '../parts/presence.js';
import { pageBar } from '../parts/sidebar.js';
import { toast } from '../parts/toast.js';
import { forumAddress, talkAddress } from '../router.js';
import { talkTitle } from '../titles.js';
import { findTags } from '../tags.js';
import { say, sayProblem } from '../text.js';
import { timelineOf } from '../timeline.js';
import { brief } from '../times.js';
import { topicRows } from '../topics.js';
import { onMessages } from '../touch.js';
import { MessageView } from '../view.js';

/** As many unread ones stand on the newest page in any case. */
const SHORT = 40;

export async function open(shell, { id, query }, restore) {
  const conversation = await shell.place.conversation(id);
  const forum = conversation.forum_id ? await shell.place.forum(conversation.forum_id) : null;
  return talkPage(shell, conversation, { forum, message: query?.get('m'), restore });
}

/** The whole page of a conversation; `tabs` stand under the head of a forum's room. */
export async function talkPage(shell, conversation, { forum, message, tabs, restore } = {}) {
  const { place } = shell;
  const isTopic = conversation.kind === 'topic';
  const stream = await place.stream(conversation);
  const unread = conversation.unread_count ?? 0;
  const readUpTo = place.me && unread > 0 ? (conversation.read_up_to ?? null) : null;
  const around = message ?? restore?.anchor?.id ?? null;
  try {
    if (!around && readUpTo !== null && unread > SHORT) await stream.openAt(readUpTo + 1);
    else await stream.open(around);
    if (!around && readUpTo !== null) await reach(stream, readUpTo);
  } catch (error) {
    stream.close?.();
    throw error;
  }

  /** As it is by now: what others change comes by itself. */
  const now = () => latest(place, conversation);
  const ground = () => asItIs(place, forum);
  const cannot = () => cannotWrite(place, now(), ground());
  const unfollow = attend(place, forum);
  const { limits } = place.server;
  let acts = null;
  const field =
    place.me
      ? composer({
          enterSends: !isTopic,
          placeholder: say(isTopic ? 'composer.post' : 'composer.room'),
          most: limits.message_scalars,
          draft: place.draft(conversation.id),
          keep: (text, replyTo) => place.keepDraft(conversation.id, text, replyTo),
          people: (start) => place.findPeople(start),
          get rings() {
            return !!forum && isIn(place, ground(), ground().ring);
          },
          tags: (start) => findTags(place, start),
          typing: () => place.parley?.typing(conversation.id),
          lastOwn: () =>
            [...stream.messages]
              .reverse()
              .find((it) => it.author_id === place.me.id && !it.deleted && it.kind !== 'system'),
          filesUpTo: limits.file_bytes ?? 0,
          share: async () => {
            const { shareLink } = await import('../share.js');
            shareLink(place, (draft) => {
              stream.send(draft);
              view.newest();
            });
          },
          send: ({ text, replyTo, editing, files }) => {
            if (editing) return acts.run(editing, 'save', text);
            stream.send({ text, replyTo, files });
            return view.newest();
          },
        })
      : null;
  const about = {
    shell, place, stream, conversation, now, field, cannot,
    get forum() {
      return ground();
    },
    get canModerate() {
      return !!forum && (looksAfter(place, ground()) || conversation.role === 'admin');
    },
  };
  acts = place.me ? whenAsked(about) : null;

  const head = isTopic ? el('header.stream-head') : null;
  const drawHead = () => head && redraw(head, topicHead(now(), forum, stream));
  drawHead();
  const hidesGone = () => place.me?.preferences?.tombstones === false;
  const view = new MessageView({
    stream,
    shape: isTopic ? 'post' : 'bubble',
    me: place.me,
    readUpTo,
    solvedBy: () => (isTopic ? now().solved_by : null),
    hidesGone,
    person: (id) => place.person(id),
    file: (id) => place.file(id),
    act: (it, verb, detail) => acts?.run(it, verb, detail),
    fetch: (id) => place.call('GET', `/messages/${id}`),
    onRead: place.me ? (it) => place.markRead(conversation, it)?.catch(() => {}) : null,
    onStatus: !forum && (conversation.participant_count ?? 0) <= 50 ? (it) => acts.run(it, 'status') : null,
    onFault: (error) => toast(sayProblem(error)),
    announce: (name) => shell.announce(name),
    head,
    emptyWords: say(conversation.kind === 'room' ? 'talk.emptyRoom' : 'talk.empty'),
  });
  const line = isTopic ? timelineOf(view, stream, conversation) : null;
  view.moved = line?.moved;
  const onKnown = () => view.draw();
  for (const name of ['people', 'files']) place.addEventListener(name, onKnown);
  let hid = hidesGone();
  const onMe = () => {
    if (hid === hidesGone()) return;
    hid = hidesGone();
    view.draw();
  };
  place.addEventListener('me', onMe);
  const typing = el('div.typing-place', { aria: { live: 'off' } }, typingLine([]));
  const onTyping = (event) => {
    if (event.detail.conversation === conversation.id) typing.replaceChildren(typingLine(event.detail.names));
  };
  place.addEventListener('typing', onTyping);
  const onPresence = () => {
    const second = top.querySelector('.page-bar-second');
    const words = conversation.kind === 'topic' ? null : whoIsHere(place, conversation);
    // Where the way to the forum stands, it stays.
    if (second && words && !second.querySelector('a')) second.textContent = words;
  };
  place.addEventListener('presence', onPresence);

  const note = el('p.stream-note', { role: 'status' });
  let told;
  const drawFoot = () => {
    const why = cannot();
    note.hidden = !!field && !why;
    const wasHere = field?.contains(document.activeElement);
    if (field) field.hidden = typing.hidden = !!why;
    if (wasHere && why) view.node.focus({ preventScroll: true });
    // It is spoken when it changes, and only then.
    if (told === why) return;
    told = why;
    const join = isTopic && why === say('talk.membersWrite') && [' ', joinButton(shell, ground())];
    refill(note, why ?? el('a', { href: '/sign-in' }, say('talk.signIn')), join);
  };
  drawFoot();
  let solvedBy = now().solved_by;
  const onChanged = () => {
    drawHead();
    drawFoot();
    tabs?.changed();
    if (solvedBy === now().solved_by) return;
    solvedBy = now().solved_by;
    view.soon();
  };
  for (const name of ['conversations', 'forums']) place.addEventListener(name, onChanged);
  // The answer may have been deleted.
  const onStream = () => now().solved_by && drawHead();
  if (head) stream.addEventListener('change', onStream);

  const foot = el(
    'footer.stream-foot',
    null,
    view.pillPlace,
    line?.pillPlace,
    place.me && typing,
    field,
    note,
  );
  const node = el(
    'section.conversation',
    { class: `${isTopic ? 'is-topic' : ''} ${line ? 'has-timeline' : ''}`, aria: { label: talkTitle(place, conversation) } },
    conversation.request && requestBanner(shell, conversation),
    view.node,
    line?.rail,
    foot,
  );
  dropFiles(node, field);
  view.node.addEventListener('click', (event) => openViewer(event, view.node));
  onMessages(view.node, {
    held: (id, anchor) => {
      const it = stream.shown.find((one) => one.id === id);
      if (it && it.kind !== 'system') acts?.run(it, 'more', anchor);
    },
    drawn: (id) => {
      const it = stream.shown.find((one) => one.id === id);
      if (it && it.kind !== 'system' && !it.deleted && !it.state) acts?.run(it, 'reply');
    },
  });

  const title = talkTitle(place, conversation);
  const split = isTopic ? beside(shell, forum, conversation, node) : { node, close() {} };
  const top = tabs ?? bar(shell, conversation, ground, cannot, title);
  const seeing = new IntersectionObserver(
    ([{ isIntersecting }]) => top.classList.toggle('is-told-below', isIntersecting),
    { root: view.node },
  );
  if (head) seeing.observe(head);
  if (conversation.kind === 'room' && place.me) place.loadPeople(conversation).then(onPresence, () => {});
  return {
    title,
    isTalk: true,
    keepsFocus: true,
    here: forum ? forumAddress(forum) : talkAddress(conversation),
    node: [top, split.node],
    isWriting: () => !field?.hidden && field?.isWriting,
    shown(left) {
      view.begin({ message, anchor: left?.anchor });
      if (!message && !field?.hidden) field?.focusUnlessTouch();
    },
    leave: () => ({ anchor: view.isStuck ? null : view.anchor() }),
    close() {
      unfollow();
      seeing.disconnect();
      line?.close();
      split.close();
      view.close();
      for (const name of ['people', 'files']) place.removeEventListener(name, onKnown);
      place.removeEventListener('me', onMe);
      place.removeEventListener('typing', onTyping);
      place.removeEventListener('presence', onPresence);
      for (const name of ['conversations', 'forums']) place.removeEventListener(name, onChanged);
      stream.removeEventListener('change', onStream);
      stream.close?.();
    },
    pressed: (event) => keys(event, { view, acts, field, search: () => shell.go(`/search?in=${conversation.id}`) }),
  };
}

/** On a wide screen a topic stands beside the list of all. */
function beside(shell, forum, conversation, node) {
  if (!forum || !matchMedia('(min-width: 1440px)').matches) return { node, close() {} };
  const { place } = shell;
  const list = el('nav.split-list', { aria: { label: forum.title } });
  let listed = [];
  const draw = () => redraw(list, topicRows(place, listed, conversation.id));
  place.call('GET', `/forums/${forum.id}/conversations`, { tries: 1 }).then(
    ({ data }) => {
      listed = data;
      draw();
    },
    () => {},
  );
  const listen = ['people', 'conversations'];
  for (const name of listen) place.addEventListener(name, draw);
  return {
    node: el('div.split.has-list', null, list, node),
    close: () => listen.forEach((name) => place.removeEventListener(name, draw)),
  };
}

/** Older pages until the first unread is among them; a few, then the newest has to do. */
async function reach(stream, readUpTo) {
  for (let pages = 0; pages < 2 && stream.hasOlder && (stream.messages[0]?.seq ?? 0) > readUpTo + 1; pages++)
    await stream.older();
}

function bar(shell, conversation, ground, cannot, title) {
  const { place } = shell;
  const forum = ground();
  const others = place.othersIn(conversation);
  const second = forum ? el('a', { href: forumAddress(forum) }, forum.title) : whoIsHere(place, conversation);
  return pageBar(title, {
    second,
    state: place.state,
    back: () => shell.router.back(forum ? forumAddress(forum) : '/messages'),
    picture: forum ? null : others.length > 1 ? avatarPair(others) : avatar(others[0]),
    actions: place.me
      ? [
          iconButton('panel', say('talk.details'), {
            on: async () => (await import('../details.js')).details(shell, latest(place, conversation), ground(), !cannot()),
            data: { act: 'details' },
          }),
        ]
      : [],
  });
}

/**
 * In the second line of the head: the other one and how they are here; or how many people, and how many of them now. Nothing of
 * a room, as long as it is not known who belongs to it.
 */
export function whoIsHere(place, conversation) {
  if (conversation.kind === 'room') {
    const ids = place.peopleIn(conversation);
    return ids && counted(place, ids.length, ids);
  }
  const others = place.othersIn(conversation);
  if (conversation.kind === 'group') {
    const ids = (conversation.participants ?? []).map((it) => it.user_id);
    return counted(place, conversation.participant_count ?? others.length + 1, ids);
  }
  const name = others[0]?.name && `@${others[0].name}`;
  return [name, presenceWords(place.presenceOf(others[0]?.id))].filter(Boolean).join(' · ') || null;
}

function counted(place, n, ids) {
  const people = say('talk.people', { n });
  const online = place.onlineAmong(ids);
  return online > 1 ? `${people} · ${say('presence.count', { n: online })}` : people;
}

/** What is held of it by now, unless what was answered here is newer. */
function latest(place, conversation) {
  const held = place.parley?.conversation(conversation.id);
  return held?.revision >= conversation.revision ? held : conversation;
}

function topicHead(conversation, forum, stream) {
  const { solved_by: answer } = conversation;
  const isGone = stream.shown.some((it) => it.id === answer && it.deleted);
  return [
    el('h2.page-title', null, conversation.title),
    el(
      'p.second',
      null,
      forum ? el('a', { href: forumAddress(forum) }, forum.title) : '',
      ' · ',
      brief(new Date(conversation.created_at)),
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

function cannotWrite(place, conversation, forum) {
  if (!place.me) return null;
  if (place.isTooOld) return say('version.tooOld');
  if (forum?.archived) return say('talk.archived');
  const keeps = forum ? looksAfter(place, forum) : conversation.role === 'admin';
  if ((conversation.locked || forum?.locked) && !keeps) return say('talk.locked');
  if (!forum || isIn(place, forum, forum.write)) return null;
  if (forum.write === 'moderators') return say('talk.hostsWrite');
  // Guests are brought: they can't join.
  return say(place.me.role === 'guest' ? 'talk.guestsRead' : 'talk.membersWrite');
}

function requestBanner(shell, conversation) {
  const { place } = shell;
  const answer = (words, method) =>
    el(
      'button.text-button',
      {
        on: {
          click: async () => {
            const go = shell.fromHere();
            try {
              const kept = await place.call(method, `/conversations/${conversation.id}/request`);
              if (kept) place.keepConversation(kept);
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

/** What can be done with messages, fetched once the page stands. */
function whenAsked(about) {
  const load = () => import('../acts.js').then(({ Acts }) => (load.acts ??= new Acts(about)));
  (window.requestIdleCallback ?? ((work) => setTimeout(work, 500)))(() => load().catch(() => {}));
  return {
    run: async (message, verb, detail) => (await load()).run(message, verb, detail),
    async press(message, verb) {
      const acts = await load();
      if (verb === 'pick' || acts.items(message).some((it) => it?.act === verb)) await acts.run(message, verb);
    },
  };
}

function keys(event, { view, acts, field, search }) {
  const isIn = isTyping(event.target);
  // Pressed again, where one searches, it is the browser's own.
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && event.key.toLowerCase() === 'f') {
    search();
    return true;
  }
  if (event.key === 'Escape' && !event.shiftKey) {
    if (isIn) view.node.focus({ preventScroll: true });
    view.newest();
    return true;
  }
  if (isIn || event.ctrlKey || event.metaKey || event.altKey) return false;
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
