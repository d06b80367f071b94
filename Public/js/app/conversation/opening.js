// The stream of a conversation, opened where reading starts.

import { Stream } from '../state/stream.js';

/** Number of unread messages that are on the newest page in any case. */
const SHORT = 40;

/** Opens at a message, else at the first unread one, else at the start of a topic or the end of other conversations. */
export async function openStream(site, conversation, around) {
  const isTopic = conversation.kind === 'topic';
  // Each page has one of its own, and closes it: two pages of one conversation may follow one another.
  const stream = site.parley ? new Stream(site, conversation) : await visitorStream(site, conversation);
  const unread = conversation.unread_count ?? 0;
  const readUpTo = site.me && unread > 0 ? (conversation.read_up_to ?? null) : null;
  try {
    if (!around && isTopic && !(unread > 0 && readUpTo > 0)) await stream.openAt(1);
    else if (!around && readUpTo !== null && unread > SHORT) await stream.openAt(readUpTo + 1);
    else await stream.open(around);
    if (!around && readUpTo !== null && !isTopic) await reach(stream, readUpTo);
  } catch (error) {
    stream.close?.();
    throw error;
  }
  return { stream, readUpTo };
}

/** The stream of a visitor. Users need no script for it. */
async function visitorStream(site, conversation) {
  const { loadMarks, VisitorStream } = await import('../state/visitorstream.js');
  loadMarks(site);
  return new VisitorStream(site, conversation);
}

/** Loads up to two older pages until the first unread message is loaded. */
async function reach(stream, readUpTo) {
  for (let pages = 0; pages < 2 && stream.hasOlder && (stream.messages[0]?.seq ?? 0) > readUpTo + 1; pages++)
    await stream.older();
}
