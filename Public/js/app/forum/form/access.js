// Visibility and permissions.

import { say } from '../../core/text.js';
import { choice } from '../../parts/field.js';

/** The roles that a permission is given to. */
export const roleChoice = (forum, name, hint) =>
  choice(
    say(`forum.${name}`),
    ['readers', 'members', 'moderators'].map((it) => [it, say(`forum.circle.${it}`)]),
    { value: forum?.[name] ?? 'readers', hint },
  );

export function accessFields(forum) {
  const visibility = choice(
    say('forum.visibility'),
    ['members', 'public', 'private'].map((it) => [it, say(`forum.visibility.${it}`)]),
    { value: forum?.visibility ?? 'members' },
  );
  const write = roleChoice(forum, 'write');
  const start = roleChoice(forum, 'start_topics');
  return {
    nodes: [visibility, write, start],
    values: () => ({ visibility: visibility.input.value, write: write.input.value, start_topics: start.input.value }),
  };
}
