// The order in which everybody sees the forums: by sections, moved step by step, so that keys and fingers do it alike. Each
// step is kept at once.

import { el, refill } from '../core/dom.js';
import { iconButton } from '../parts/forms/button.js';
import { ask } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { field } from '../parts/forms/field.js';
import { menu } from '../parts/overlays/menu.js';
import { toast } from '../parts/overlays/toast.js';
import { forumPicture } from '../parts/user/forumpicture.js';
import { loadSheet } from '../core/sheet.js';
import { say, sayProblem } from '../core/text/text.js';
import { forumSections, loadForums } from '../state/forums.js';
import { compare } from '../core/order.js';

/** The maximum position, and the distance of positions if there is room. */
const LAST_POSITION = 1_000_000;
const STEP = 1_000;
const SECTION_LONGEST = 120;

export async function orderForums(shell, column) {
  await Promise.all([loadForums(shell.site), loadSheet('/css/parts/lists/arrange.css')]);
  new ForumOrder(shell, column).draw();
}

class ForumOrder {
  constructor(shell, column) {
    this.shell = shell;
    this.site = shell.site;
    this.column = column;
    /** The displayed order, before the server has received it: [{title, forums}]. */
    this.sections = forumSections(this.site);
    this.last = Promise.resolve();
  }

  // MARK: Changes

  /** Redraws, announces the move, saves it and restores the focus. */
  moved(subject, keys, words) {
    this.draw();
    const found = keys.map((key) => this.column.querySelector(`[data-key="${CSS.escape(`${subject}:${key}`)}"]:not(:disabled)`));
    found.find(Boolean)?.focus();
    this.shell.live.node.textContent = words;
    const keep = () => this.keep();
    this.last = this.last.then(keep, keep);
    return this.last;
  }

  async keep() {
    try {
      for (const { forum, body } of changes(this.sections)) {
        const kept = await this.site.call('PATCH', `/forums/${forum.id}`, { body });
        Object.assign(forum, kept);
        this.site.keepForum({ ...this.site.forums.get(forum.id), ...kept });
      }
    } catch (error) {
      toast(sayProblem(error));
      await loadForums(this.site).catch(() => {});
      this.sections = forumSections(this.site);
      this.draw();
    }
  }

  moveForum(section, at, by) {
    const [forum] = section.forums.splice(at, 1);
    section.forums.splice(at + by, 0, forum);
    const words = say('arrange.moved', { title: forum.title, n: at + by + 1, of: section.forums.length });
    return this.moved(forum.id, [by, -by], words);
  }

  moveSection(at, by) {
    const [section] = this.sections.splice(at, 1);
    this.sections.splice(at + by, 0, section);
    const words = say('arrange.moved', { title: titleOf(section), n: at + by + 1, of: this.sections.length });
    return this.moved(keyOf(section), [by, -by], words);
  }

  into(section, forum, title) {
    section.forums.splice(section.forums.indexOf(forum), 1);
    if (!section.forums.length) this.sections.splice(this.sections.indexOf(section), 1);
    let other = this.sections.find((it) => it.title === title);
    if (!other) this.sections.push((other = { title, forums: [] }));
    other.forums.push(forum);
    return this.moved(forum.id, ['section'], say('arrange.movedTo', { title: forum.title, section: titleOf(other) }));
  }

  choose(anchor, section, forum) {
    const others = this.sections.filter((it) => it !== section);
    const add = async () => {
      const title = await askTitle(say('arrange.newSection'), '');
      if (title) await this.into(section, forum, title);
    };
    return menu(
      anchor,
      [
        ...others.map((it) => ({ words: titleOf(it), on: () => this.into(section, forum, it.title) })),
        { words: say('arrange.newSection'), picture: 'plus', on: add },
      ],
      say('arrange.sectionOf', { title: forum.title }),
    );
  }

  async rename(section) {
    const title = await askTitle(say('arrange.rename'), section.title ?? '');
    if (!title || title === section.title) return undefined;
    const other = this.sections.find((it) => it.title === title);
    if (!other) section.title = title;
    else {
      other.forums.push(...section.forums);
      this.sections.splice(this.sections.indexOf(section), 1);
    }
    return this.moved(keyOf({ title }), ['rename'], title);
  }

  // MARK: Drawing

  draw() {
    refill(
      this.column,
      el('p.second', null, say('arrange.lead')),
      this.sections.length ? null : empty(say('forum.noneHost'), { picture: 'forums' }),
      this.sections.map((section, at) => this.drawSection(section, at)),
    );
  }

  drawSection(section, at) {
    const title = titleOf(section);
    const key = keyOf(section);
    return el(
      'section.arrange',
      { aria: { label: title } },
      el(
        'div.section-head',
        null,
        el('h2.section-title', null, title),
        el(
          'span.arrange-steps',
          null,
          step(`${key}:rename`, 'edit', say('arrange.renameOf', { title }), false, () => this.rename(section)),
          step(`${key}:-1`, 'up', say('arrange.up', { title }), at === 0, () => this.moveSection(at, -1)),
          step(`${key}:1`, 'down', say('arrange.down', { title }), at === this.sections.length - 1, () => this.moveSection(at, 1)),
        ),
      ),
      el('ol.setting-list', null, section.forums.map((forum, index) => this.drawForum(section, forum, index))),
    );
  }

  drawForum(section, forum, at) {
    const { id, title } = forum;
    return el(
      'li.setting-row.arrange-row',
      null,
      el('span.arrange-forum', null, forumPicture(forum, 32), el('span.one-line', { dir: 'auto' }, title)),
      el(
        'span.arrange-steps',
        null,
        step(`${id}:section`, 'forums', say('arrange.sectionOf', { title }), false, (event) => this.choose(event.currentTarget, section, forum)),
        step(`${id}:-1`, 'up', say('arrange.up', { title }), at === 0, () => this.moveForum(section, at, -1)),
        step(`${id}:1`, 'down', say('arrange.down', { title }), at === section.forums.length - 1, () => this.moveForum(section, at, 1)),
      ),
    );
  }
}

const askTitle = (words, value) => ask(words, field(say('forum.section'), { value, required: true, limit: SECTION_LONGEST }), say('act.save'));

const step = (key, picture, label, isOver, on) => iconButton(picture, label, { on, disabled: isOver, data: { key } });

const keyOf = (section) => `section ${section.title ?? ''}`;
const titleOf = (section) => section.title ?? say('forum.noSection');

/** The changes to send to the server. */
function changes(sections) {
  const inOrder = sections.flatMap(({ title, forums }) => forums.map((forum) => ({ title, forum })));
  const positions = positionsFor(inOrder.map(({ forum }) => forum));
  return inOrder.flatMap(({ title, forum }, at) => {
    const body = {
      ...(forum.position === positions[at] ? {} : { position: positions[at] }),
      ...((forum.section ?? null) === title ? {} : { section: title }),
    };
    return Object.keys(body).length ? [{ forum, body }] : [];
  });
}

/**
 * Positions for this order of forums. Keeps as many existing positions as possible and puts the others in the gaps;
 * renumbers all forums if a gap is too small.
 */
export function positionsFor(forums) {
  const staying = longestInOrder(forums);
  const positions = forums.map((it, at) => (staying.has(at) ? it.position : null));
  for (let at = 0; at < forums.length; at++) {
    if (positions[at] !== null) continue;
    let end = at;
    while (end < forums.length && positions[end] === null) end++;
    const before = at > 0 ? positions[at - 1] : -1;
    const room = end < forums.length ? positions[end] - before : Math.min(STEP * (end - at + 1), LAST_POSITION + 1 - before);
    if (room <= end - at) return evenly(forums.length);
    for (let index = at; index < end; index++)
      positions[index] = before + Math.floor((room * (index - at + 1)) / (end - at + 1));
  }
  return positions;
}

const evenly = (count) => {
  const step = Math.min(STEP, Math.floor(LAST_POSITION / count));
  return Array.from({ length: count }, (_, at) => (at + 1) * step);
};

/** The indices of the most forums that are in order already; those of the same position are by id. */
function longestInOrder(forums) {
  const isBefore = (one, other) => one.position - other.position || compare(one.id, other.id);
  /** Patience sorting: the best subsequence of each length so far. */
  const lasts = [];
  const before = [];
  forums.forEach((it, at) => {
    let length = lasts.findIndex((last) => isBefore(it, forums[last]) < 0);
    if (length < 0) length = lasts.length;
    before[at] = lasts[length - 1] ?? null;
    lasts[length] = at;
  });
  const found = new Set();
  for (let at = lasts.at(-1) ?? null; at !== null; at = before[at]) found.add(at);
  return found;
}
