// The composer of a conversation, and why the user can't write.

import { canBeAmong, canManage, isMember, silenceIn } from '../forum/membership.js';
import { allGroups } from '../core/groups.js';
import { findTags } from '../forum/tags.js';
import { composer } from '../parts/composer/composer.js';
import { say, sayProblem } from '../core/text/text.js';
import { draftKeeper } from './draftkeeper.js';
import { findUsers } from '../state/users.js';
import { canJoin } from '../state/forums.js';
import { draftFilesOf, draftOf } from '../state/drafts.js';

const slashCommands = () => import('./slashcommands.js');

/** The composer of the page. */
export function messageField(page) {
  const { site, stream, conversation, isTopic } = page;
  const { limits } = site.server;
  const field = composer({
    enterSends: !isTopic,
    // The name stays; the placeholder changes when the user joins.
    label: emptyWords(page),
    placeholder: placeholder(page),
    maxScalars: limits.message_scalars,
    draft: draftOf(site, conversation.id),
    draftFiles: draftFilesOf(site, conversation.id),
    keep: draftKeeper(site, conversation.id),
    polls: true,
    users: (start) => findUsers(site, start),
    groups: () => mentionableGroups(site),
    get mentionsRoom() {
      return !!page.forum && isMember(site, page.forum, page.forum.room_mention);
    },
    tags: (start) => findTags(site, start),
    commands: (start) => slashCommands().then((it) => it.complete(page, start)),
    typing: () => site.parley?.typing(conversation.id),
    lastOwn: () =>
      stream.messages.findLast((it) => it.author_id === site.me.id && !it.deleted && it.kind !== 'system'),
    filesUpTo: limits.file_bytes ?? 0,
    share: async () => {
      const { shareLink } = await import('./sharelink.js');
      shareLink(site, (draft) => {
        stream.send(draft);
        page.view.newest();
      });
    },
    send: ({ text, editing, ...draft }) => {
      if (editing) return page.acts.run(editing, 'save', text);
      const post = (words) => {
        stream.send({ text: words, ...draft });
        if (globalThis.Notification?.permission === 'default') import('./offernotifications.js').then((it) => it.offer(page, field)).catch(() => {});
        return page.view.newest();
      };
      if (draft.replyTo || draft.files[0] || draft.poll || text[0] !== '/') return post(text);
      return slashCommands().then((it) => it.use(page, text, post), () => field.insert(text));
    },
  });
  // Only replies have this member.
  page.listen(site, ['event'], ({ detail: { data } }) => data?.invocation_id && slashCommands().then((it) => it.show(page, data)));
  page.listen(site, ['drafts'], () => field.follow(draftOf(site, conversation.id)));
  return field;
}

/** The groups whose members the user may notify. */
const mentionableGroups = ({ me, isStaff }) =>
  allGroups().filter((it) =>
    isStaff || (it.mentionable_by === 'users' && me.role !== 'guest') || (it.mentionable_by !== 'staff' && me.groups?.includes(it.id)));

/** The words in the empty composer. They announce that writing joins the forum. */
export function placeholder(page) {
  const { site, forum } = page;
  return canJoin(site, forum) ? say('composer.joins', { title: forum.title }) : emptyWords(page);
}

const emptyWords = ({ isTopic }) => say(isTopic ? 'composer.post' : 'composer.room');

/** Why the user can't write; null if they can. */
export function cannotWrite(site, conversation, forum) {
  if (!site.me) return null;
  if (site.isTooOld) return say('version.tooOld');
  const silence = silenceIn(site, forum);
  if (silence) return sayProblem({ code: 'silenced', params: silence });
  if (forum?.archived) return say('conversation.archived');
  const keeps = forum ? canManage(site, forum) : conversation.role === 'admin';
  if (conversation.locked && !keeps) return say('conversation.locked');
  if (!forum || (keeps || !forum.locked) && canBeAmong(site, forum, forum.write)) return null;
  if (forum.locked || forum.write === 'moderators') return say('conversation.moderatorsWrite');
  // Guests are added by others.
  return say('conversation.guestsRead');
}

/** Files that are dropped on the page are attached. */
export function dropFiles(node, field) {
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
