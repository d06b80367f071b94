/** Stands for a status without an emoji. */
const PLAIN = '💬';

/** Whether the user's status is shown. The server clears an ended one a little later. */
function hasStatus(user, now) {
  if (!user?.status_text && !user?.status_emoji) return false;
  return !user.status_expires_at || Date.parse(user.status_expires_at) > now;
}

/** The status of a user as one line; empty without one. */
export function statusLine(user, now = Date.now()) {
  return hasStatus(user, now) ? [user.status_emoji, user.status_text].filter(Boolean).join(' ') : '';
}

/** The emoji beside a name; empty without a status. */
export function statusEmoji(user, now = Date.now()) {
  return hasStatus(user, now) ? (user.status_emoji ?? PLAIN) : '';
}
