import { say } from './text/text.js';

/** Returns a user's name for display. Deleted and unknown users have a generic one. */
export function displayName(user) {
  return user?.display_name || user?.name || (user ? say(user.name === null ? 'user.gone' : 'user.unknown') : '');
}
