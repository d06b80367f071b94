// A scripted server: it drops, repeats and delays messages as a test says. Its WebSocket and `fetch` run in the test's
// process.

export class Peer {
  /** Sockets in the order of their creation. */
  sockets = [];
  /** Responses by `GET /path`; a function gets the query. */
  answers = {};
  calls = [];

  constructor() {
    const peer = this;
    this.WebSocket = class {
      readyState = 0;
      commands = [];

      constructor(url, protocols) {
        Object.assign(this, { url, protocols });
        peer.sockets.push(this);
      }

      send(text) {
        const command = JSON.parse(text);
        this.commands.push(command);
        peer.onCommand?.(command, this);
      }

      close() {
        this.readyState = 3;
      }

      // Called by the test.

      open() {
        this.readyState = 1;
        return this.onopen();
      }

      tell(...frames) {
        for (const frame of frames) this.onmessage({ data: JSON.stringify(frame) });
      }

      drop(code = 1006, reason = '') {
        this.readyState = 3;
        this.onclose({ code, reason });
      }
    };
  }

  get socket() {
    return this.sockets.at(-1);
  }

  fetch = async (address, { method, body: sent }) => {
    const url = new URL(address);
    const name = `${method} ${url.pathname.replace('/api/v1', '')}`;
    this.calls.push(name);
    const answer = this.answers[name];
    if (answer === undefined) return Response.json({ status: 404, code: 'not_found' }, { status: 404 });
    const query = { ...Object.fromEntries(url.searchParams), ...(typeof sent === 'string' ? { body: JSON.parse(sent) } : {}) };
    const body = typeof answer === 'function' ? await answer(query) : answer;
    return body instanceof Response ? body : Response.json(body);
  };
}

export const me = { id: '7', name: 'ada', revision: 1 };

export const say = (seq, over = {}) => ({
  id: String(100 + seq), conversation_id: '12', author_id: '8', client_id: null, seq,
  previous_message: seq === 1 ? null : String(99 + seq), text: `message ${seq}`, entities: {}, annotations: [],
  attachments: [], reply_to: null, machine_only: false, created_at: '', sent_at: null, edited_at: null, revision: 1,
  deleted: false, actions: {}, ...over,
});

/** The `message.created` event of message `seq`; event id, offset and `seq` are the same number. */
export const created = (seq, over = {}) => ({
  event: 'message.created', id: String(seq), stream: 'conversation:12', offset: seq, actor_id: '8', at: '',
  data: say(seq, over),
});

export const snapshot = (event = 0, over = {}) => ({
  cursor: `aa.${event}`, me, settings: { name: 'Garden', revision: 1 }, forums: [], people: [], levels: [],
  relations: { follow: [], mute: [], block: [] }, offsets: { site: 0, 'user:7': 0 },
  conversations: [{
    id: '12', kind: 'group', role: 'member', from_seq: 1, revision: 1, last_seq: event, last_offset: event,
    last_message_id: event ? String(100 + event) : null, last_message: event ? say(event) : null, read_up_to: event,
    delivered_up_to: event, unread_count: 0, participants: [{ user_id: '7', role: 'member' }, { user_id: '8', role: 'member' }],
  }],
  ...over,
});

/** `next` and `previous` of a page of messages. */
export const positions = (order, hasOlder, hasNewer) => {
  const [next, previous] = order === 'asc' ? [hasNewer, hasOlder] : [hasOlder, hasNewer];
  return { next: next ? 'next' : null, previous: previous ? 'previous' : null };
};

/** A page in the server's format, of messages 1 to `last`. */
export const page = (last, asOf = last, over = {}) => ({ before, after, limit = 50, order = 'desc' }) => {
  const seqs = Array.from({ length: last }, (_, index) => index + 1).filter(
    (seq) => (!before || seq < Number(before) - 100) && (!after || seq > Number(after) - 100),
  );
  const chosen = order === 'asc' ? seqs.slice(0, limit) : seqs.slice(-limit).reverse();
  const [first, final] = [Math.min(...chosen), Math.max(...chosen)];
  return {
    data: chosen.map((seq) => say(seq, over)), cursor: `aa.${asOf}`, latest_seq: last, skipped: [],
    ...positions(order, first > 1, final < last),
  };
};
