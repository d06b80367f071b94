import { say } from './text.js';

/** Returns a user's name for display. Deleted and unknown users have a generic one. */
export function displayName(person) {
  return person?.display_name || person?.name || (person ? say(person.name === null ? 'person.gone' : 'person.unknown') : '');
}
