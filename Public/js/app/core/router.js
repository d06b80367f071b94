// Addresses to pages. The number in an address decides; the words after it may change. Back goes where the user came
// from, at the same scroll.

/** [pattern, page module, name of its export]; the first match wins. */
const routes = [
  [/^\/$/, 'inbox'],
  [/^\/forums$/, 'forums'],
  [/^\/forums\/new$/, 'forumform'],
  [/^\/f\/(?<id>\d+)(?:-[^/]*)?$/, 'forum'],
  [/^\/f\/(?<id>\d+)(?:-[^/]*)?\/(?<tab>room|topics|new|about|settings)$/, 'forum'],
  [/^\/t\/(?<id>\d+)(?:-[^/]*)?$/, 'conversation'],
  [/^\/c\/(?<id>\d+)(?:-[^/]*)?$/, 'conversation'],
  [/^\/m\/(?<message>\d+)$/, 'message'],
  [/^\/feed$/, 'feed'],
  [/^\/messages$/, 'messages'],
  [/^\/messages\/new$/, 'newconversation'],
  [/^\/members$/, 'members'],
  [/^\/search$/, 'search'],
  [/^\/share$/, 'share'],
  [/^\/u\/(?<name>[^/]+)$/, 'user'],
  [/^\/you(?:\/(?<part>[a-z]+))?$/, 'settings'],
  [/^\/admin(?:\/(?<part>[a-z]+))?$/, 'admin'],
  [/^\/i\/(?<code>[^/]+)$/, 'signin', 'invite'],
  [/^\/setup\/(?<code>[^/]+)$/, 'signin', 'setUp'],
  [/^\/reset\/(?<code>[^/]+)$/, 'signin', 'reset'],
  [/^\/email\/(?<code>[^/]+)$/, 'signin', 'confirmAddress'],
  [/^\/forgot$/, 'signin', 'forgot'],
  [/^\/sign-in$/, 'signin', 'signIn'],
];

/** Pages for visitors; other pages show the sign-in page. */
const open = new Set(['forums', 'forum', 'conversation', 'message', 'user', 'signin']);

export function match(address, isMember) {
  const { pathname, search, searchParams, hash } = new URL(address, location.origin);
  for (const [pattern, module, name = 'open'] of routes) {
    const found = pattern.exec(pathname);
    if (!found) continue;
    const groups = Object.fromEntries(
      Object.entries(found.groups ?? {}).map(([key, value]) => [key, value && decodeURIComponent(value)]),
    );
    if (!isMember && module === 'inbox') return { module: 'signin', name: 'front', params: {} };
    if (!isMember && !open.has(module)) return { module: 'signin', name: 'signIn', params: { back: pathname + search + hash } };
    // Permalinks of visitor pages: `/t/431-title#m1042`.
    const message = ['conversation', 'forum', 'user'].includes(module) && /^#m(\d+)$/.exec(hash)?.[1];
    if (message) return { module: 'message', name: 'open', params: { message, query: searchParams } };
    return { module, name, params: { ...groups, query: searchParams } };
  }
  return { module: 'notfound', name: 'open', params: {} };
}

export class Router {
  /** @param {(found: object, restore: object|null) => void} show */
  constructor(show) {
    this.show = show;
    this.depth = history.state?.depth ?? 0;
    history.scrollRestoration = 'manual';
    addEventListener('popstate', (event) => {
      this.depth = event.state?.depth ?? 0;
      this.show(location.href, event.state?.left ?? null);
    });
    document.addEventListener('click', (event) => {
      const link = event.target.closest?.('a[href]');
      if (
        !link ||
        event.defaultPrevented ||
        event.button !== 0 ||
        event.metaKey ||
        event.ctrlKey ||
        event.shiftKey ||
        event.altKey
      )
        return;
      const url = new URL(link.href, location.origin);
      if (
        url.origin !== location.origin ||
        link.target === '_blank' ||
        link.hasAttribute('download') ||
        // The server answers these.
        /^\/(api|oidc)\//.test(url.pathname)
      )
        return;
      event.preventDefault();
      this.go(url.pathname + url.search + url.hash);
    });
  }

  go(address, { replace = false } = {}) {
    if (address === location.pathname + location.search) replace = true;
    if (!replace) {
      history.replaceState({ ...history.state, depth: this.depth, left: this.leave?.() ?? null }, '');
      this.depth += 1;
    }
    history[replace ? 'replaceState' : 'pushState']({ depth: this.depth }, '', address);
    this.show(location.href, null);
  }

  /** The previous address, or `otherwise` when they came from outside. */
  back(otherwise = '/') {
    if (this.depth > 0) history.back();
    else this.go(otherwise, { replace: true });
  }

  start() {
    this.show(location.href, history.state?.left ?? null);
  }
}

/** `12-garden`: an id with words that make an address readable. */
export function slug(id, title) {
  const words = (title ?? '')
    .toLowerCase()
    .normalize('NFKD')
    .replace(/[^\p{L}\p{N}]+/gu, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, 60);
  return words ? `${id}-${words}` : id;
}

export const forumAddress = (forum, tab) => `/f/${slug(forum.id, forum.title)}${tab ? `/${tab}` : ''}`;
export const topicAddress = (topic) => `/t/${slug(topic.id, topic.title)}`;

export function conversationAddress(conversation) {
  if (conversation.kind === 'topic') return topicAddress(conversation);
  if (conversation.kind === 'room') return `/f/${conversation.forum_id}/room`;
  return `/c/${conversation.id}`;
}
