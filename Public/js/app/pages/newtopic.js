// The composer of a topic: title, text with a toolbar and files, the preview beside the text, similar topics below.

import { upload } from '../../parley/upload.js';
import { el, refill } from '../core/dom.js';
import { rich } from '../parts/message/rich.js';
import { forumAddress, topicAddress } from '../core/router.js';
import { loadSheet } from '../core/sheet.js';
import { say, sayProblem } from '../core/text/text.js';
import { watchSubject } from '../conversation/subject.js';
import { isMember } from '../forum/membership.js';
import { draftKey, forumChoiceOf, titleKey } from '../forum/draftforum.js';
import { similarTopics } from '../forum/similartopics.js';
import { findTags } from '../forum/tags.js';
import { composer } from '../parts/composer/composer.js';
import { field } from '../parts/forms/field.js';
import { pictureGrid, placing } from '../parts/media/pictures.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';
import { findUsers } from '../state/users.js';
import { canJoin } from '../state/forums.js';
import { draftFilesOf, draftOf, keepDraft } from '../state/drafts.js';

/** The preview follows the text after this pause, in milliseconds. */
const PAUSE = 150;

export async function newTopic(shell, forum) {
  const { site } = shell;
  await loadSheet('/css/parts/composer/topic-composer.css');
  const [key, keyOfTitle] = [draftKey(forum), titleKey(forum)];
  const others = similarTopics(site, forum);
  const preview = topicPreview();
  const { saved, keep, whole } = draftState(site);
  const fault = el('p.form-fault', { role: 'alert', hidden: true });
  const title = field(say('topic.title'), {
    value: draftOf(site, keyOfTitle)?.text,
    required: true,
    limit: site.server.limits.title_scalars,
    on: {
      input: () => {
        keep(keyOfTitle, title.input.value);
        others.for(title.input.value);
      },
      keydown: (event) => {
        if (event.key !== 'Enter' || event.isComposing) return;
        event.preventDefault();
        if (event.ctrlKey || event.metaKey) text.submit();
        else text.input.focus();
      },
    },
  });
  const text = composer({
    enterSends: false,
    toolbar: true,
    places: true,
    place: preview.place,
    rows: 8,
    placeholder: say('topic.text'),
    draft: draftOf(site, key),
    maxScalars: site.server.limits.message_scalars,
    filesUpTo: site.server.limits.file_bytes ?? 0,
    draftFiles: draftFilesOf(site, key),
    keep: (words, _, poll, files) => {
      if (files) preview.show(words, files);
      return keep(key, words, poll, files);
    },
    polls: true,
    users: (start) => findUsers(site, start),
    mentionsRoom: isMember(site, forum, forum.room_mention),
    tags: (start) => findTags(site, start),
    verb: say('topic.begin'),
    send: (draft) => post(shell, forum, { title, text, fault, draft }),
  });
  const forums = forumChoiceOf(site, forum, { whole, on: (other) => shell.go(forumAddress(other, 'new'), { replace: true }) });
  const endSubject = watchSubject(shell, 'forums', forum.id);
  text.input.addEventListener('input', () => preview.soon(text.input));
  preview.show(text.input.value);
  return {
    title: say('act.newTopic'),
    here: forumAddress(forum),
    keepsFocus: true,
    isConversation: true,
    node: [
      pageBar(say('act.newTopic'), {
        second: forums ? null : forum.title,
        back: () => shell.router.back(forumAddress(forum)),
        search: null,
        state: site.state,
        actions: [saved],
      }),
      el(
        'div.page-body',
        null,
        el('div.page-column.is-wide.topic-composer', null, fault, el('div.topic-form', null, forums, title), el('div.topic-sides', null, text, preview.node), others),
      ),
    ],
    shown: () => {
      title.input.focus();
      others.for(title.input.value);
    },
    close: () => (endSubject(), preview.close()),
    isWriting: () => text.isWriting,
  };
}

/** The text and the pictures as the post will show them. `place` returns a picture for the text. */
function topicPreview() {
  const node = el('section.topic-preview.rich', { aria: { label: say('composer.preview') } });
  let attached = [];
  let timer;
  /** The address of each file, and the size of its picture once it was shown. */
  const known = new Map();
  const shown = (file) => {
    if (!known.has(file)) known.set(file, { href: URL.createObjectURL(file) });
    const { href, ...size } = known.get(file);
    return { id: '', name: file.name, description: file.description, picture: href, href, ...size };
  };
  /** Pictures take their own shape. @param {{ target: HTMLImageElement }} event */
  const resize = ({ target }) => {
    const { naturalWidth: width, naturalHeight: height, src } = target;
    for (const it of known.values()) if (it.href === src) Object.assign(it, { width, height });
    Object.assign(target, { className: '', width, height });
  };
  node.addEventListener('load', (event) => resize(event), true);
  return {
    node,
    /** Without files the pictures stay. @param {string} words @param {File[]} [files] */
    show(words, files) {
      if (files) attached = files.map((it) => (it.type.startsWith('image/') ? shown(it) : { ...shown(it), picture: null }));
      const placed = new Set();
      const text = words.trim() && rich(words, placing(attached, placed));
      const grid = pictureGrid(attached.filter((it) => it.picture && !placed.has(it)));
      // They lead nowhere.
      for (const it of [grid, ...(text ? text.querySelectorAll('a.picture') : [])]) if (it) it.inert = true;
      refill(node, text || (!grid && el('p.second', null, say('composer.nothing'))), grid);
    },
    place: (number, description) => placing(attached, new Set())(number, description),
    soon(input) {
      clearTimeout(timer);
      timer = setTimeout(() => this.show(input.value), PAUSE);
    },
    close() {
      clearTimeout(timer);
      for (const it of known.values()) URL.revokeObjectURL(it.href);
    },
  };
}

/** Keeps drafts, and says so. `whole` resolves to whether the draft is stored with all its files. */
function draftState(site) {
  const saved = el('span.mark.draft-state', { role: 'status' });
  /** Whether all files fit into the limit of drafts. */
  let isWhole = true;
  let last = null;
  const keep = async (name, words, poll, files) => {
    const keeping = keepDraft(site, name, words, null, poll, files);
    last = keeping;
    if (files) isWhole = (await keeping) !== false;
    saved.textContent = !isWhole ? say('composer.filesNotKept') : words || poll || files?.length ? say('topic.draftSaved') : '';
  };
  const whole = async () => {
    await last;
    if (!isWhole) toast(say('composer.filesNotKept'));
    return isWhole;
  };
  return { saved, keep, whole };
}

/** Sends the files, then the topic. A refusal leaves all of it in the fields. */
async function post(shell, forum, { title, text, fault, draft }) {
  const { site } = shell;
  const restore = () => {
    text.input.value = draft.text;
    text.input.dispatchEvent(new Event('input'));
    if (draft.files.length) text.take(draft.files.map(({ file }) => file));
    if (draft.poll) text.addPoll(draft.poll);
  };
  fault.hidden = true;
  if (!title.input.value.trim()) {
    // The composer takes the focus after it has sent.
    await null;
    restore();
    title.setFault(say('topic.titleMissing'));
    return title.input.focus();
  }
  const go = shell.fromHere();
  text.inert = true;
  try {
    const sent = await Promise.all(draft.files.map(({ file }) => upload(site.client, file, { clientId: idOf(file) })));
    const body = { title: title.input.value.trim(), client_id: idOf(text), ...(draft.text ? { text: draft.text } : {}), ...(draft.poll ? { poll: draft.poll } : {}), ...(sent.length ? { attachments: sent.map(({ id }) => id), descriptions: draft.descriptions } : {}) };
    const { calls } = site.client;
    if (canJoin(site, forum)) {
      await calls.setForumMember({ id: forum.id, user: 'me' });
      site.parley?.renew(`forum:${forum.id}`);
    }
    const topic = await calls.createTopic({ id: forum.id, body });
    keepDraft(site, titleKey(forum), '');
    return go(topicAddress(topic), { replace: true });
  } catch (error) {
    if (error.code === 'held_for_review') {
      keepDraft(site, titleKey(forum), '');
      toast(sayProblem(error));
      return go(forumAddress(forum), { replace: true });
    }
    fault.hidden = false;
    fault.textContent = sayProblem(error);
    return restore();
  } finally {
    text.inert = false;
  }
}

/** The same for the same thing, so that a repeated request creates nothing twice. */
function idOf(thing) {
  idOf.ids ??= new WeakMap();
  if (!idOf.ids.has(thing)) idOf.ids.set(thing, crypto.randomUUID());
  return idOf.ids.get(thing);
}
