// The draft of a field, kept as it is written.

import { say } from '../core/text/text.js';
import { toast } from '../parts/overlays/toast.js';
import { keepDraft } from '../state/drafts.js';

/** Keeps a draft, and says once that not all files fit into it. */
export function draftKeeper(site, id) {
  let isWhole = true;
  return async (text, replyTo, poll, files) => {
    const keeping = keepDraft(site, id, text, replyTo, poll, files);
    if (!files) return;
    const wasWhole = isWhole;
    isWhole = (await keeping) !== false;
    if (wasWhole && !isWhole) toast(say('composer.filesNotKept'));
  };
}
