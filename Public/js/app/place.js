// What the app knows of the place it is in: who I am, the forums, my conversations, people; and how to ask for more.
// Pages read it and listen: "me", "forums", "conversations", "people", "state".

import { Client } from "../parley/client.js";
import { Stream } from "./stream.js";

const AGAIN = 4_000;

export class Place extends EventTarget {
  constructor() {
    super();
    this.client = new Client();
    this.client.onSignedOut = () => { if (this.me) this.#signedOut(); };
    this.server = null;
    this.me = null;
    this.state = "connecting";
    this.forums = new Map();
    this.conversations = new Map();
    this.people = new Map();
    this.asked = new Map();
    this.streams = new Map();
    /** Conversations that are not mine but were met, by id. */
    this.others = new Map();
    this.isHost = false;
  }

  call(method, path, options) {
    return this.client.call(method, path, options);
  }

  async open() {
    const [server, me] = await Promise.all([this.call("GET", "/server"), this.call("GET", "/users/me").catch((error) => {
      if (error.isSignedOut) return null;
      throw error;
    })]);
    this.server = server;
    if (me) await this.enter(me);
  }

  /** From here on this person is in. */
  async enter(me) {
    this.me = me;
    this.isHost = ["owner", "admin"].includes(me.role);
    this.isModerator = this.isHost || me.role === "moderator";
    this.people.set(me.id, me);
    this.setState("online");
    await Promise.all([this.loadForums(), this.loadConversations()]);
    this.say("me");
    this.#again();
  }

  say(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }));
  }

  setState(state) {
    if (this.state === state) return;
    this.state = state;
    this.say("state");
  }

  #signedOut() {
    this.me = null;
    clearTimeout(this.timer);
    this.say("out");
  }

  #again() {
    clearTimeout(this.timer);
    this.timer = setTimeout(async () => {
      if (!this.me) return;
      try {
        if (!document.hidden) {
          await this.loadConversations();
          for (const stream of this.streams.values()) await stream.refresh();
        }
        this.setState("online");
      } catch (error) {
        if (error.code === "network") this.setState("offline");
      }
      this.#again();
    }, AGAIN);
  }

  // MARK: Forums and conversations

  async loadForums() {
    const forums = new Map();
    let next;
    do {
      const page = await this.call("GET", "/forums", { query: { next } });
      for (const it of page.data) forums.set(it.id, it);
      next = page.more ? page.next : null;
    } while (next && forums.size < 500);
    this.forums = forums;
    this.say("forums");
  }

  async forum(id) {
    if (!this.forums.has(id)) this.keepForum(await this.call("GET", `/forums/${encodeURIComponent(id)}`));
    return this.forums.get(id);
  }

  keepForum(forum) {
    this.forums.set(forum.id, forum);
    this.say("forums");
    return forum;
  }

  /** By the host's sections, in the host's order. */
  sections() {
    const sections = new Map();
    const inOrder = [...this.forums.values()].sort((a, b) => a.position - b.position || compare(a.id, b.id));
    for (const it of inOrder) {
      const title = it.section ?? null;
      if (!sections.has(title)) sections.set(title, []);
      sections.get(title).push(it);
    }
    return [...sections].map(([title, forums]) => ({ title, forums }));
  }

  async loadConversations() {
    const page = await this.call("GET", "/conversations", { query: { limit: 200 } });
    const before = JSON.stringify([...this.conversations.values()].map((it) => [it.id, it.unread_count, it.last_seq, it.title]));
    this.conversations = new Map(page.data.map((it) => [it.id, it]));
    const now = JSON.stringify(page.data.map((it) => [it.id, it.unread_count, it.last_seq, it.title]));
    if (before !== now) this.say("conversations");
  }

  async conversation(id) {
    const known = this.conversations.get(id);
    if (known) return known;
    return this.call("GET", `/conversations/${encodeURIComponent(id)}`);
  }

  keepConversation(conversation) {
    this.conversations.set(conversation.id, conversation);
    this.say("conversations");
    return conversation;
  }

  /** Those that are no part of a forum, last active first. */
  talks() {
    return [...this.conversations.values()].filter((it) => !it.forum_id && it.kind !== "feed" && !it.type);
  }

  unreadOf(forum) {
    let unread = 0;
    for (const it of this.conversations.values()) if (it.forum_id === forum.id && it.level !== "nothing") unread += it.unread_count;
    return unread;
  }

  // MARK: People

  /** Whoever it is, as far as is known now; "people" says when more is. */
  person(id) {
    const known = this.people.get(id);
    if (known) return known;
    if (id && !this.asked.has(id)) {
      this.asked.set(id, this.call("GET", `/users/${encodeURIComponent(id)}`).then(
        (it) => { this.people.set(it.id, it); this.say("people", { id: it.id }); return it; },
        () => null));
    }
    return { id, name: "", display_name: "", avatar: id ? `/api/v1/users/${id}/avatar` : "/icon.svg" };
  }

  async personNamed(name) {
    for (const it of this.people.values()) if (it.name === name) return it;
    const found = await this.call("GET", `/users/${/^\d+$/.test(name) ? name : `@${encodeURIComponent(name)}`}`);
    this.people.set(found.id, found);
    return found;
  }

  async findPeople(start) {
    const page = await this.call("GET", "/users", { query: { query: start || undefined, limit: 20 } });
    for (const it of page.data) this.people.set(it.id, it);
    return page.data;
  }

  othersIn(conversation) {
    const ids = (conversation.participants ?? []).map((it) => it.user_id).filter((id) => id !== this.me?.id);
    return ids.map((id) => this.person(id));
  }

  // MARK: Messages

  stream(conversation) {
    let stream = this.streams.get(conversation.id);
    if (!stream) {
      stream = new Stream(this, conversation);
      this.streams.set(conversation.id, stream);
    }
    return stream;
  }

  leaveStream(stream) {
    this.streams.delete(stream.conversation.id);
  }

  async markRead(conversation, message) {
    const mark = await this.call("PUT", `/conversations/${conversation.id}/read`, { body: { message_id: message.id } });
    const known = this.conversations.get(conversation.id);
    if (!known) return;
    Object.assign(known, { read_up_to: mark.read_up_to, unread_count: mark.unread_count });
    this.say("conversations");
  }

  /** What was begun and not sent, by conversation. */
  draft(id) {
    try {
      return JSON.parse(localStorage.getItem(`draft:${id}`) ?? "null");
    } catch {
      return null;
    }
  }

  keepDraft(id, text, replyTo) {
    if (text || replyTo) localStorage.setItem(`draft:${id}`, JSON.stringify({ text, replyTo }));
    else localStorage.removeItem(`draft:${id}`);
  }

  /** Ends the session and forgets everything that this device holds. */
  async signOut() {
    await this.call("DELETE", "/sessions/current").catch((error) => { if (error.code !== "network") throw error; });
    localStorage.clear();
    (await import("./worker.js")).forgetPictures();
    this.#signedOut();
  }
}

/** Ids: by length, then as text. */
export function compare(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
