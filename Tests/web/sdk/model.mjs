// A small server as a model: two conversations, an event log, and copies of its data that can be put back. Its answers are
// in the server's format.

import { digestOf } from '../../../Public/js/parley/verify.js';
import { me, positions } from './peer.mjs';

/** Random numbers from a seed (mulberry32). */
export const drawing = (seed) => (below) => {
  seed = (seed + 0x6d2b79f5) | 0;
  let mixed = Math.imul(seed ^ (seed >>> 15), 1 | seed);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
};

const refusal = (status, code) => Response.json({ status, code }, { status });

export class Model {
  /** What a copy of the data folder contains. */
  data = { log: [], offsets: {}, starts: [], conversations: {} };
  copies = [];
  /** The `client_id` of each message that was ever deleted. */
  deleted = new Set();
  /** Unique in all histories, as are the times. */
  nextId = 100;
  count = 0;

  constructor(draw) {
    this.draw = draw;
    for (const id of ['12', '13']) this.data.conversations[id] = { id, messages: [], read: 0, revision: 1, title: 'garden' };
    this.begin();
  }

  get log() { return this.data.log; }
  get conversations() { return this.data.conversations; }
  get start() { return this.data.starts.at(-1).name; }
  get cursor() { return `aa.${this.start}.${this.log.length}`; }

  begin() {
    this.data.starts.push({ name: `s${++this.count}`, first: this.log.length + 1 });
  }

  copy() {
    this.copies.push(structuredClone(this.data));
  }

  /** Restarts the server, with a copy of its data or with all of it. */
  restart(copy = this.data) {
    this.data = structuredClone(copy);
    this.begin();
  }

  /** What the server says about a cursor: `current`, `restarted`, or `rewound`. */
  standing(cursor) {
    const [, name, event] = cursor.split('.');
    const index = this.data.starts.findIndex((one) => one.name === name);
    const end = index < 0 ? -1 : (this.data.starts[index + 1]?.first ?? Infinity) - 1;
    if (Number(event) > end) return 'rewound';
    return name === this.start ? 'current' : 'restarted';
  }

  /** Performs a random action of another client. */
  act() {
    const conversation = this.conversations[this.draw(2) ? '12' : '13'];
    const { messages } = conversation;
    const message = messages[this.draw(messages.length || 1)];
    switch (message ? this.draw(8) : 0) {
      case 0: case 1: case 2: return this.post(conversation, this.draw(3) ? '8' : '7');
      case 3: return message.deleted ? undefined : this.change(message, 'edited', { text: `edited ${this.draw(1000)}` });
      case 4: return this.delete(message);
      case 5: {
        if (message.deleted) return undefined;
        message.likes = this.draw(4);
        return this.tell(`conversation:${conversation.id}`, message.likes ? 'action.added' : 'action.removed', message, '8');
      }
      case 6: return this.read(conversation, message.seq);
      default:
        conversation.title = `title ${this.draw(1000)}`;
        conversation.revision++;
        return this.tell(`conversation:${conversation.id}`, 'conversation.updated', conversation, '8');
    }
  }

  post(conversation, author = '8', { client_id: name = null, text = `said ${this.draw(1000)}` } = {}) {
    const { messages } = conversation;
    const message = {
      id: String(this.nextId++), conversation_id: conversation.id, author_id: author, client_id: name,
      created_at: String(this.count++), seq: messages.length + 1, previous_message: messages.at(-1)?.id ?? null, text, likes: 0, mine: false,
      attachments: [], reply_to: null, machine_only: name === null && this.draw(10) === 0, revision: 1, deleted: false,
    };
    messages.push(message);
    this.tell(`conversation:${conversation.id}`, 'message.created', message, author);
    return message;
  }

  change(message, how, fields) {
    Object.assign(message, fields, { revision: message.revision + 1 });
    this.tell(`conversation:${message.conversation_id}`, `message.${how}`, message, message.author_id);
  }

  delete(message) {
    this.deleted.add(message.client_id);
    if (!message.deleted) this.change(message, 'deleted', { deleted: true, text: undefined, likes: 0, mine: false });
  }

  read(conversation, seq) {
    conversation.read = Math.max(conversation.read, seq);
    this.tell('user:7', 'read_position.updated', conversation, '7');
  }

  tell(stream, event, thing, actor) {
    const { offsets, log } = this.data;
    offsets[stream] = (offsets[stream] ?? 0) + 1;
    const row = { id: String(log.length + 1), stream, offset: offsets[stream], event, thing, actor };
    log.push(row);
    this.onEvent?.(row);
  }

  /** An event as the server delivers it, with the current state of its object. */
  delivered({ id, stream, offset, event, thing, actor }) {
    const [kind] = event.split('.');
    const position = { conversation_id: thing.id, read_up_to: thing.read, delivered_up_to: thing.read };
    const data = {
      message: () => this.written(thing, { isEvent: true }),
      action: () => ({ message_id: thing.id, actions: this.written(thing, { isEvent: true }).actions }),
      read_position: () => position,
      conversation: () => ({ id: thing.id, kind: 'group', title: thing.title, revision: thing.revision, last_seq: thing.messages.length }),
    }[kind]();
    return { id, stream, offset, event, actor_id: actor, at: '', data };
  }

  /** Events do not have the user's own action. */
  written({ likes, mine, ...message }, { isEvent = false } = {}) {
    const count = likes + (mine ? 1 : 0);
    return { ...message, actions: count ? { like: { count, ...(mine && !isEvent ? { mine } : {}) } } : {} };
  }

  own({ id, title, revision, messages, read }) {
    const unread = messages.filter((one) => !one.deleted && !one.machine_only && one.author_id !== '7' && one.seq > read);
    return {
      id, kind: 'group', role: 'member', from_seq: 1, title, revision, last_seq: messages.length, read_up_to: read,
      delivered_up_to: read, unread_count: unread.length, last_message_id: messages.at(-1)?.id ?? null,
      last_message: messages.length ? this.written(messages.at(-1)) : null, last_offset: this.data.offsets[`conversation:${id}`] ?? 0,
    };
  }

  find(id) {
    return Object.values(this.conversations).flatMap(({ messages }) => messages).find((one) => one.id === id);
  }

  /** The answers by method and path; `body` is the request's. */
  answers() {
    const answers = {
      'GET /users/me': () => me,
      'GET /messages': ({ ids }) => ({ data: ids.split(',').map((id) => this.find(id)).filter(Boolean).map((one) => this.written(one)) }),
      'GET /inbox': () => ({ data: [], unread: { total: 0 }, next: null, previous: null }),
      'GET /snapshot': () => ({
        cursor: this.cursor, me, settings: { revision: 1 }, forums: [], people: [], levels: [], relations: {},
        offsets: { 'user:7': this.data.offsets['user:7'] ?? 0 }, conversations: Object.values(this.conversations).map((one) => this.own(one)),
      }),
      'GET /streams/user:7/events': (query) => this.page('user:7', query),
    };
    for (const id of Object.keys(this.conversations)) Object.assign(answers, this.#answersOf(id));
    return answers;
  }

  #answersOf(id) {
    const path = `/conversations/${id}`;
    const conversation = () => this.conversations[id];
    return {
      [`GET ${path}`]: () => this.own(conversation()),
      [`GET ${path}/messages`]: (query) => this.#messages(conversation().messages, query),
      [`GET ${path}/digest`]: (query) => this.#digest(conversation().messages, query),
      [`GET /streams/conversation:${id}/events`]: (query) => this.page(`conversation:${id}`, query),
      [`POST ${path}/messages`]: (_, body) => {
        const earlier = conversation().messages.find((one) => one.author_id === '7' && one.client_id === body.client_id);
        return this.written(earlier ?? this.post(conversation(), '7', body));
      },
      [`PUT ${path}/read`]: (_, body) => {
        const message = this.find(body.message_id);
        if (!message) return refusal(404, 'not_found');
        if (message.seq > conversation().read) this.read(conversation(), message.seq);
        const { read_up_to, delivered_up_to, unread_count } = this.own(conversation());
        return { conversation_id: id, read_up_to, delivered_up_to, unread_count };
      },
    };
  }

  /** The answer to a request for one message. */
  answerOf(method, path, body) {
    const [, id, , type] = /^\/messages\/(\d+)(\/actions\/(.*))?$/.exec(path) ?? [];
    if (id === undefined) return undefined;
    const message = this.find(id);
    if (!message) return refusal(404, 'not_found');
    if (method !== 'GET' && message.deleted && method !== 'DELETE') return refusal(410, 'gone');
    if (type !== undefined && message.mine !== (method === 'PUT')) {
      message.mine = method === 'PUT';
      this.tell(`conversation:${message.conversation_id}`, message.mine ? 'action.added' : 'action.removed', message, '7');
    }
    if (type === undefined && method === 'PATCH') this.change(message, 'edited', { text: body.text });
    if (type === undefined && method === 'DELETE') this.delete(message);
    return this.written(message);
  }

  #messages(messages, { before, after, around, limit = 50, order = 'desc' }) {
    const indexOf = (wanted) => messages.findIndex((one) => one.id === wanted);
    if ([before, after, around].some((id) => id !== undefined && indexOf(id) < 0)) return refusal(400, 'invalid');
    let window = messages.slice(after ? indexOf(after) + 1 : 0, before ? indexOf(before) : undefined);
    if (around) window = messages.slice(Math.max(0, indexOf(around) - Math.floor(limit / 2)), indexOf(around) + Math.ceil(limit / 2));
    const data = order === 'asc' ? window.slice(0, limit) : window.slice(-limit).reverse();
    const seqs = data.map(({ seq }) => seq);
    return {
      data: data.map((one) => this.written(one)), cursor: this.cursor, latest_seq: messages.length, skipped: [],
      ...positions(order, Math.min(...seqs) > 1, Math.max(...seqs) < messages.length),
    };
  }

  #digest(messages, { from_seq: first = '1', to_seq: last = String(messages.length), parts: count = '1' }) {
    const [from, to] = [Number(first), Number(last)];
    if (to > messages.length || to < from - 1) return refusal(400, 'invalid');
    const size = Math.ceil((to - from + 1) / Number(count));
    const parts = [];
    for (let seq = from; seq <= to; seq += size) {
      const end = Math.min(to, seq + size - 1);
      parts.push({ from_seq: seq, to_seq: end, digest: digestOf(messages.slice(seq - 1, end)) });
    }
    return { cursor: this.cursor, digest: digestOf(messages.slice(from - 1, to)), parts };
  }

  page(stream, { after_offset: after, next }) {
    const all = this.log.filter((row) => row.stream === stream && row.offset > Number(next ?? after));
    const data = all.slice(0, 5).map((row) => this.delivered(row));
    return { data, next: all.length > 5 ? String(data[4].offset) : null, previous: null, cursor: this.cursor };
  }
}
