// The drafts of this device.

/** @param {string} id a conversation, or the key of a topic's draft */
export function draftOf(site, id) {
  return site.parley?.draft(id) ?? null;
}

/** Reads the files of a draft; null if it has none. */
export function draftFilesOf(site, id) {
  return site.parley?.mirror.drafts.get(id)?.files ? () => site.parley.draftFiles(id) : null;
}

/** Without `files` those of the draft stay. Resolves to whether all files are stored. */
export async function keepDraft(site, id, text, replyTo, poll, files) {
  const hasFiles = (files ?? site.parley?.mirror.drafts.get(id)?.files)?.length > 0;
  return site.parley?.setDraft(id, text || replyTo || poll || hasFiles ? { text, replyTo, poll, at: new Date().toISOString() } : null, files);
}
