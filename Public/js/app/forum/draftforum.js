// The forum of a new topic: its choice moves the draft.

import { say } from '../core/text/text.js';
import { choice } from '../parts/forms/field.js';
import { confirm } from '../parts/overlays/dialog.js';
import { draftFilesOf, draftOf, keepDraft } from '../state/drafts.js';
import { forumSections } from '../state/forums.js';
import { mayStart } from './forumhead.js';

/** The key of a draft's text; that of its title follows. */
export const draftKey = (forum) => `new-topic-${forum.id}`;
export const titleKey = (forum) => `${draftKey(forum)}-title`;
const keysOf = (forum) => [draftKey(forum), titleKey(forum)];

/**
 * A choice of the forums in which the user may start topics; null if there is one.
 * @param {() => Promise<boolean>} options.whole resolves to whether the draft is stored with all its files
 * @param {(forum: object) => void} options.on called after the draft has moved
 */
export function forumChoiceOf(site, forum, { whole, on }) {
  const forums = forumSections(site).flatMap((it) => it.forums).filter((it) => it.id === forum.id || mayStart(site, it));
  if (forums.length < 2) return null;
  const field = choice(say('topic.forum'), forums.map(({ id, title }) => [id, title]), {
    value: forum.id,
    on: async (id) => {
      const other = site.forums.get(id);
      if ((await whole()) && (await moveDraft(site, forum, other))) on(other);
      else field.input.value = forum.id;
    },
  });
  return field;
}

const copyOf = (file) => Object.assign(new File([file], file.name, { type: file.type }), file.description && { description: file.description });

/** Whether the draft has moved, or there was none. */
async function moveDraft(site, from, to) {
  if (!keysOf(from).some((it) => draftOf(site, it))) return true;
  const isTaken = keysOf(to).some((it) => draftOf(site, it));
  if (isTaken && !(await confirm(say('topic.replaceDraft', { title: to.title }), say('topic.replaceDraftSentence'), say('topic.replaceDraftVerb')))) return false;
  for (const [at, key] of keysOf(from).entries()) {
    const draft = draftOf(site, key);
    // The draft deletes its files with itself.
    const files = ((await draftFilesOf(site, key)?.()) ?? []).map(copyOf);
    await keepDraft(site, keysOf(to)[at], draft?.text ?? '', null, draft?.poll, files);
    await keepDraft(site, key, '', null, null, []);
  }
  return true;
}
