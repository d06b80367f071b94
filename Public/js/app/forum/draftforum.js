// The forum of a new topic: its choice moves the draft.

import { say, sayProblem } from '../core/text/text.js';
import { choice } from '../parts/forms/field.js';
import { confirm } from '../parts/overlays/dialog.js';
import { toast } from '../parts/overlays/toast.js';
import { draftOf } from '../state/drafts.js';
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

/** Whether the draft has moved, or there was none. */
async function moveDraft(site, from, to) {
  if (!keysOf(from).some((it) => draftOf(site, it))) return true;
  const isTaken = keysOf(to).some((it) => draftOf(site, it));
  if (isTaken && !(await confirm(say('topic.replaceDraft', { title: to.title }), say('topic.replaceDraftSentence'), say('topic.replaceDraftVerb')))) return false;
  const keys = keysOf(to);
  try {
    await site.parley.moveDrafts(keysOf(from).map((key, at) => [key, keys[at]]));
    return true;
  } catch (error) {
    toast(sayProblem(error));
    return false;
  }
}
