// The field of posts and replies.

import { draftKeeper } from '../conversation/draftkeeper.js';
import { findTags } from '../forum/tags.js';
import { composer } from '../parts/composer/composer.js';
import { toast } from '../parts/overlays/toast.js';
import { say, sayProblem } from '../core/text/text.js';
import { draftFilesOf, draftOf } from '../state/drafts.js';
import { findUsers } from '../state/users.js';

/**
 * @param {object} site
 * @param {object} options `key` of the draft, `placeholder`, `verb`, `acts` of `feedActions`, `lastOwn()`: the message that ↑ edits
 * @param {(draft: { text: string, files: object[], poll?: object, annotations?: object[] }) => Promise<any>} options.send
 */
export function postField(site, { key, placeholder, verb, rows, acts, lastOwn, send }) {
  const { limits } = site.server;
  const post = async (draft) => {
    try {
      await send(draft);
    } catch (error) {
      // Puts the post back into the field, as a draft.
      field.insert(draft.text);
      field.take((draft.files ?? []).map(({ file }) => file));
      if (draft.poll) field.addPoll(draft.poll);
      toast(error.code === 'network' ? say('feed.firstOffline') : sayProblem(error));
    }
  };
  const field = composer({
    enterSends: false,
    placeholder,
    verb,
    rows,
    maxScalars: limits.message_scalars,
    draft: draftOf(site, key),
    draftFiles: draftFilesOf(site, key),
    keep: draftKeeper(site, key),
    users: (start) => findUsers(site, start),
    tags: (start) => findTags(site, start),
    lastOwn,
    filesUpTo: limits.file_bytes ?? 0,
    polls: true,
    share: async () => (await import('../conversation/sharelink.js')).shareLink(site, post),
    send: ({ text, editing, files, poll, descriptions }) =>
      editing ? acts().run(editing, 'save', text) : post({ text, files, ...(poll && { poll }), ...(descriptions && { descriptions }) }),
  });
  return Object.assign(field, {
    /** Fits the height to the text, once the field is in the page. */
    fit() {
      field.input.style.height = 'auto';
      field.input.style.height = `${field.input.scrollHeight}px`;
    },
  });
}

/** Puts a post or reply into the outbox. @param {object} [more] fields of the message */
export function sendTo(parley, conversation, { files = [], ...draft }, more = {}) {
  return parley.send(conversation, { ...draft, ...more }, files.map(({ file }) => file));
}
