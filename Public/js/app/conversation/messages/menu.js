// The menu of a message: one list for the menu, the sheet, the keyboard and the toolbar.

import { displayName } from '../../core/displayname.js';
import { loadMoreText, say } from '../../core/text/text.js';
import { report } from '../../account/security/stepup.js';
import { menu } from '../../parts/overlays/menu.js';
import { messageSheet } from '../../parts/message/sheet.js';

/** A menu at the message, or a sheet on a phone. @param {object} acts the actions of the conversation */
export function showMessageMenu(acts, message, anchor) {
  const items = messageItems(acts, message);
  if (!items.length) return undefined;
  if (matchMedia('(pointer: coarse), (max-width: 43.6875rem)').matches) {
    return messageSheet(
      items,
      message.deleted || message.state
        ? null
        : (emoji) => (emoji ? acts.run(message, 'react', { emoji, on: true }) : acts.run(message, 'pick')),
    );
  }
  return menu(anchor, items, say('sheet.title'));
}

/** Silence and ban for the author of a message: in the forum for its moderators, everywhere for those of the site. */
function sanctions(acts, message, mine) {
  const { isModerator } = acts.site;
  const author = acts.site.user(message.author_id);
  if (mine || !acts.canModerate || (!isModerator && !acts.forum) || ['owner', 'admin'].includes(author.role)) return [];
  const impose = (name) => async () => {
    const [{ sanctionsFor }] = await Promise.all([import('../../moderation/sanctions.js'), loadMoreText()]);
    await sanctionsFor(acts.site, author, () => {}, name === 'silence' && !isModerator ? acts.forum.id : null)[name]();
  };
  const entry = (name, picture) => ({
    act: name,
    picture,
    words: say(name === 'ban' ? 'moderation.banAuthor' : 'moderation.silenceAuthor', { name: displayName(author) }),
    danger: name === 'ban',
    on: () => impose(name)().catch(report),
  });
  return [entry('silence', 'bell-off'), isModerator && entry('ban', 'lock')];
}

export function messageItems(acts, message) {
  const mine = acts.isMine(message);
  const item = (act, picture, words, more) => ({ act, picture, words, on: () => acts.run(message, act), ...more });
  if (message.state) {
    return [
      item('retry', 'again', say('act.retry')),
      acts.composer && item('edit', 'edit', say('act.edit')),
      item('discard', 'delete', say('act.discard'), { danger: true }),
    ].filter(Boolean);
  }
  const isAnswer = acts.solves(message);
  const solve = item('solve', 'check', say(isAnswer ? 'topic.unsolve' : 'topic.solve'), {
    on: () => acts.run(message, 'solve', !isAnswer),
  });
  const destroy = acts.site.me.role === 'owner' && item('destroy', 'delete', say('destroy.menu'), { danger: true });
  if (message.deleted) {
    return [
      isAnswer && acts.maySolve && solve,
      acts.canModerate && message.deletion === 'moderator' && item('restore', 'undo', say('act.restore')),
      message.deletion !== 'erased' && destroy,
    ].filter(Boolean);
  }
  const inForum = !!acts.conversation.forum_id;
  return [
    acts.composer && item('reply', 'reply', say('act.reply'), { keys: 'r' }),
    item('copy', 'copy', say('act.copy')),
    item('link', 'link', say('act.link'), { keys: 'l' }),
    item('star', 'star', say(message.actions?.star?.mine ? 'act.unstar' : 'act.star'), { keys: 's' }),
    mine && acts.composer && item('edit', 'edit', say('act.editMessage'), { keys: 'e' }),
    mine && acts.composer && message.attachments?.some((id) => acts.site.file(id)?.kind === 'image') && item('describe', 'image', say('picture.describe')),
    message.edited_at &&
      (mine || acts.canModerate || acts.forum?.shows_revisions) &&
      item('history', 'clock', say('act.history')),
    mine && !inForum && item('status', 'checks', say('act.status')),
    acts.canModerate && item('pin', 'pin', say(message.actions?.pin?.count ? 'act.unpin' : 'act.pin')),
    acts.conversation.kind === 'topic' &&
      acts.maySolve &&
      (isAnswer || (acts.forum?.solvable && message.seq > 1)) &&
      solve,
    inForum &&
      acts.conversation.kind === 'room' &&
      (mine || acts.canModerate) &&
      item('toTopic', 'topic', say('act.toTopic'), { keys: 't' }),
    !mine && item('report', 'flag', say('act.report')),
    null,
    mine && item('delete', 'delete', say('delete.menu'), { danger: true }),
    !mine && acts.canModerate && item('remove', 'delete', say('act.remove'), { danger: true }),
    ...sanctions(acts, message, mine),
    destroy,
  ].filter((it, index, all) => it || (it === null && all.slice(index + 1).some(Boolean)));
}
