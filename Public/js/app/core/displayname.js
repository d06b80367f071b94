import { say } from './text.js';

/** What somebody is called. Who has left has no name any longer; who is not known, or not yet, is someone. */
export function displayName(person) {
  return person?.display_name || person?.name || (person ? say(person.name === null ? 'person.gone' : 'person.unknown') : '');
}
