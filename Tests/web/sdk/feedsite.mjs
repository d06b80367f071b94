// A site for tests of the feeds: two users with a feed each, a server with messages, and a cache that tells of its changes.

export const ADA = '1';
export const GRACE = '2';
export const FEEDS = { [ADA]: '11', [GRACE]: '12' };

/** A stored value for each name, as in a browser. */
export const stored = new Map();
globalThis.localStorage = { getItem: (name) => stored.get(name) ?? null, setItem: (name, value) => stored.set(name, value) };

let at = 0;
/** Each post is newer than the one before. */
export function post(text, author = GRACE, more = {}) {
  at += 1;
  return { id: String(100 + at), seq: at, text, author_id: author, conversation_id: FEEDS[author], reply_to: null, created_at: new Date(at * 1_000).toISOString(), ...more };
}

/** A site with what the timeline uses. `server` has the posts, newest first. */
export function site(server, { page = 30 } = {}) {
  const cache = new Map();
  const listeners = new Set();
  const target = new EventTarget();
  const feeds = Object.entries(FEEDS).map(([owner, id]) => [id, { id, kind: 'feed', owner_id: owner }]);
  const relations = new Map([[GRACE, { follow: true }]]);
  const outbox = [];
  const change = (rows) => {
    for (const row of rows) cache.set(row.id, row);
    for (const listener of listeners) listener(rows.map((row) => ({ table: 'messages', key: [row.conversation_id, row.seq], row })));
  };
  const made = {
    me: { id: ADA },
    state: 'online',
    parley: {
      mirror: { conversations: new Map(feeds), relations, cursor: 'a.b.5', lastEvent: 5 },
      store: { get: async (_, id) => cache.get(id) },
      pages: {
        now: () => ({}),
        held: async (id, from, to) => [...cache.values()].filter((it) => it.conversation_id === id && it.seq >= from && it.seq <= to),
        keep: async (_, { data }) => {
          change(data);
          return data;
        },
      },
      conversation: (id) => made.parley.mirror.conversations.get(id),
      on: (kind, listener) => {
        if (kind === 'change') listeners.add(listener);
        return () => listeners.delete(listener);
      },
      subscribe: (topic) => {
        made.topics.push(topic);
        return () => made.topics.splice(made.topics.indexOf(topic), 1);
      },
      operations: ({ kind } = {}) => outbox.filter((it) => !kind || it.kind === kind),
      renew() {},
      statusOf: () => 'delivered',
    },
    topics: [],
    /** The replies of `GET /messages/{id}/replies`, oldest first. */
    replies: [],
    asked: [],
    /** The posts of reposts that the user may read. */
    originals: [],
    client: {
      calls: {
        getMessages: async ({ query }) => {
          made.asked.push(query.ids);
          if (made.fault) throw made.fault;
          return { data: made.originals.filter(({ id }) => query.ids.split(',').includes(id)) };
        },
        listReplyCounts: async ({ query }) => {
          made.asked.push(query.ids);
          if (made.fault) throw made.fault;
          const count = (id) => made.replies.filter((it) => it.reply_to === id && !it.deleted).length;
          return { data: query.ids.split(',').map((id) => ({ message_id: id, count: count(id) })) };
        },
        listReplies: async ({ id, query }) => {
          made.asked.push(id);
          if (made.fault) throw made.fault;
          const all = made.replies.filter((it) => it.reply_to === id);
          const start = Number(query.next ?? 0);
          return { data: all.slice(start, start + page), next: start + page < all.length ? String(start + page) : null };
        },
      },
    },
    keepUsers() {},
    conversation: async (id) => made.parley.mirror.conversations.get(id),
    call: async (_, path, { query }) => {
      made.path = path;
      if (made.fault) throw made.fault;
      const start = Number(query.next ?? 0);
      const data = server.slice(start, start + page);
      const messages = made.originals.filter(({ id }) => data.some((it) => it.repost_of === id));
      return { data, next: start + page < server.length ? String(start + page) : null, included: { users: [], messages } };
    },
    listen(names, listener) {
      for (const name of names) target.addEventListener(name, listener);
      return () => names.forEach((name) => target.removeEventListener(name, listener));
    },
    /** An event of the server, as the library announces it: the cache has the row. */
    async hear(event, data) {
      if (event === 'message.created') change([data]);
      target.dispatchEvent(Object.assign(new Event('event'), { detail: { event, data } }));
      await settled();
    },
    async reconnect() {
      made.state = 'offline';
      target.dispatchEvent(new Event('state'));
      made.state = 'online';
      target.dispatchEvent(new Event('state'));
      await settled();
    },
    change, relations, outbox,
  };
  return made;
}

export const settled = () => new Promise((done) => setTimeout(done, 5));
