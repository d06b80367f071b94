// The files of messages: name, type, size. Files that are drawn together are fetched together. The content of a file never
// changes, and neither do these.

/** Ids per request of `GET /files`. */
const MAX = 200;

export class Files {
  #site;
  /** Null while a file is fetched, and for one that the user can't read. */
  #known = new Map();
  #wanted = [];

  constructor(site) {
    this.#site = site;
  }

  /** A file by its id, as far as is known now; the event "files" announces more. */
  get(id) {
    if (this.#known.has(id)) return this.#known.get(id);
    this.#known.set(id, null);
    if (!this.#wanted.length) queueMicrotask(() => this.#loadWanted());
    this.#wanted.push(id);
    return null;
  }

  clear() {
    this.#known.clear();
  }

  #loadWanted() {
    const ids = this.#wanted.splice(0);
    for (let at = 0; at < ids.length; at += MAX) this.#load(ids.slice(at, at + MAX));
  }

  async #load(ids) {
    try {
      const { data } = await this.#site.call('GET', '/files', { query: { ids: ids.join(',') } });
      for (const it of data) this.#known.set(it.id, it);
      if (data.length) this.#site.say('files', {});
      await this.#keep(data);
    } catch (error) {
      if (error.isTemporary) await this.#takeKept(ids);
    }
  }

  /** Keeps facts for use offline. */
  async #keep(data) {
    const { parley } = this.#site;
    if (parley && data.length) await (await import('./keptfiles.js')).keepFiles(parley, data);
  }

  /** Shows kept facts. The others are fetched with the next drawing. */
  async #takeKept(ids) {
    const { parley } = this.#site;
    const none = new Map();
    const kept = parley ? await import('./keptfiles.js').then((it) => it.keptFiles(parley), () => none) : none;
    for (const id of ids) {
      if (kept.has(id)) this.#known.set(id, kept.get(id));
      else this.#known.delete(id);
    }
    if (ids.some((id) => kept.has(id))) this.#site.say('files', {});
  }
}
