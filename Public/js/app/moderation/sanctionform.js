// Durations, reasons and numbers that the moderation dialogs share.

import { displayName } from '../core/displayname.js';
import { field } from '../parts/forms/field.js';
import { say } from '../core/text/text.js';

const HOUR = 3_600_000;
const SPANS = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR, month: 30 * 24 * HOUR };
/** Maximum number of counted messages; above it the form says that there are more. */
const COUNTED = 200;
const REASON = 500;

export const reasonField = (user, required = false) =>
  field(say('remove.reason'), { limit: REASON, required, hint: say('moderation.reasonHint', { name: displayName(user) }) });

const options = [...Object.keys(SPANS), 'ever'];

/** The options of a choice of a duration, and of the time from which messages are removed. */
export const durations = () => options.map((it) => [it, say(`moderation.for.${it}`)]);
export const starts = () => options.map((it) => [it, say(`moderation.since.${it}`)]);

/** The end of a sanction that begins now; null without one. */
export const until = (span) => (SPANS[span] ? new Date(Date.now() + SPANS[span]).toISOString() : null);

/** The time from which messages are removed. */
export const startOf = (span) => new Date(Date.now() - (SPANS[span] ?? Date.now())).toISOString();

/** Counts the messages of a user since a time. @param {string | null} [forum] in this forum alone */
export async function countMessages(site, user, since, forum = null) {
  const query = { author: user.id, after_time: since, limit: COUNTED, forum: forum ?? undefined };
  const page = await site.call('GET', '/messages/search', { query });
  return { n: page.data.length, isMore: !!page.next };
}
