// Visibility and permissions.

import { el } from '../../core/dom.js';
import { allGroups } from '../../core/groups.js';
import { say } from '../../core/text/text.js';
import { choice } from '../../parts/forms/field.js';

/** The roles that a permission is given to. */
export const roleChoice = (forum, name, hint) =>
  choice(
    say(`forum.${name}`),
    ['readers', 'members', 'moderators'].map((it) => [it, say(`forum.circle.${it}`)]),
    { value: forum?.[name] ?? 'readers', hint },
  );

/** The access of each group that the user may name: staff all, others their own and those of the forum. */
function groupChoices({ me, isModerator }, forum) {
  const accessOf = ({ id }) => (forum?.write_groups?.includes(id) ? 'write' : forum?.read_groups?.includes(id) ? 'read' : 'none');
  const groups = allGroups().filter((it) => isModerator || me.groups?.includes(it.id) || accessOf(it) !== 'none');
  const choices = groups.map((group) => [
    group.id,
    choice(group.name, ['none', 'read', 'write'].map((it) => [it, say(`forum.groupAccess.${it}`)]), { value: accessOf(group) }),
  ]);
  if (!choices.length) return { node: null, values: () => ({}) };
  const withAccess = (access) => choices.filter(([, { input }]) => input.value === access).map(([id]) => id);
  return {
    node: el(
      'div.field',
      { role: 'group', aria: { label: say('forum.groups') } },
      el('span.field-label', null, say('forum.groups')),
      el('p.field-hint', null, say('forum.groupsHint')),
      choices.map(([, it]) => it),
    ),
    values: () => ({ read_groups: withAccess('read'), write_groups: withAccess('write') }),
  };
}

export function accessFields(site, forum) {
  const visibility = choice(
    say('forum.visibility'),
    ['members', 'public', 'private'].map((it) => [it, say(`forum.visibility.${it}`)]),
    { value: forum?.visibility ?? 'members' },
  );
  const write = roleChoice(forum, 'write');
  const start = roleChoice(forum, 'start_topics');
  const groups = groupChoices(site, forum);
  return {
    nodes: [visibility, write, start, groups.node],
    values: () => ({ visibility: visibility.input.value, write: write.input.value, start_topics: start.input.value, ...groups.values() }),
  };
}
