// The groups of the site, whose names and colours its settings list.

let groups = [];

/** Sets the groups of the site. Returns whether they have changed. @param {{ id: string, name: string, hue: number }[]} list */
export function useGroups(list) {
  const hasChanged = JSON.stringify(groups) !== JSON.stringify(list);
  groups = list;
  return hasChanged;
}

export const allGroups = () => groups;

/** The group that a mention names. */
export const groupNamed = (name) => groups.find((it) => it.name.toLowerCase() === name.toLowerCase());

/** The groups of a user. A group that the settings do not list was deleted. */
export const groupsOf = (user) => groups.filter((it) => user?.groups?.includes(it.id));

/** Whether a message mentions the user or one of the user's groups. */
export const isMentioned = (me, { entities }) =>
  !!entities?.mentions?.some((it) => it.user_id === me.id || me.groups?.includes(it.group_id));
