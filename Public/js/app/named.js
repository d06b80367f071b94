import { say } from './text.js';

/** What somebody is called. Who has left has no name any longer; who is not known yet has none so far. */
export function nameOf(person) {
  return person?.display_name || person?.name || (person?.name === null ? say('person.gone') : '');
}
