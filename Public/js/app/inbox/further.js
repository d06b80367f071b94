// Further pages of the inbox: each is fetched when the end of the list is near.

/** The distance from the end, in heights of the view. */
const AHEAD = 1.5;
const LIMIT = 200;

/** Follows the end of the list. Returns a function to call after each drawing. @param {Element} body the part that scrolls */
export function followEnd(site, body) {
  const { overview } = site;
  let isLoading = false;
  const look = async () => {
    const rest = body.scrollHeight - body.scrollTop - body.clientHeight;
    if (isLoading || !overview.next || !body.isConnected || rest > AHEAD * body.clientHeight) return;
    isLoading = true;
    const { parley } = site;
    const { next } = overview;
    try {
      const found = await site.call('GET', '/unread', { query: { limit: LIMIT, next, include: 'users' } });
      // Another user may have signed in meanwhile, or a shorter list have come.
      if (parley === site.parley && next === overview.next) {
        site.keepUsers(found.included.users);
        overview.append(found);
      }
    } catch {
      // The next scroll tries again.
    }
    isLoading = false;
  };
  body.addEventListener('scroll', look, { passive: true });
  look();
  return look;
}
