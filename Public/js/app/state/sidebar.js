// The user's arrangement of the sidebar: pinned entries, own sections, folded ones, those that show unread entries only, the order of forums. The preferences of the
// account keep it. An entry is `f` or `c` and the id of a forum or conversation.

const texts = (it) => (Array.isArray(it) ? it.filter((key) => typeof key === 'string') : []);

/** The arrangement; a change shows before the account has it. Other programs may have stored anything. */
export function arrangementOf(site) {
  const { pinned, sections, folded, unread, order } = site.arranged ?? site.me?.preferences?.sidebar ?? {};
  return {
    pinned: texts(pinned),
    sections: (Array.isArray(sections) ? sections : []).flatMap((it) => (typeof it?.title === 'string' ? [{ title: it.title, items: texts(it.items) }] : [])),
    folded: texts(folded),
    unread: texts(unread),
    order: order === 'activity' ? order : undefined,
  };
}
