/** Stands for a status without an emoji. */
const PLAIN = '💬';

/** Whether the user's status is shown. The server clears an ended one a little later. */
function hasStatus(person, now) {
  if (!person?.status_text && !person?.status_emoji) return false;
  return !person.status_expires_at || Date.parse(person.status_expires_at) > now;
}

/** The status of a user as one line; empty without one. */
export function statusLine(person, now = Date.now()) {
  return hasStatus(person, now) ? [person.status_emoji, person.status_text].filter(Boolean).join(' ') : '';
}

/** The emoji beside a name; empty without a status. */
export function statusEmoji(person, now = Date.now()) {
  return hasStatus(person, now) ? (person.status_emoji ?? PLAIN) : '';
}
