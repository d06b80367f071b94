/** The forums that the user moderates, also without being a moderator of the site. */
export const moderatedForums = (site) => [...site.forums.values()].filter(({ role }) => ['moderator', 'admin'].includes(role));
