// The menus of the sidebar: pinned entries, own sections, moves, the order of forums; also its moves by drag and its folds.

import { loadMoreText, say, sayProblem } from '../core/text/text.js';
import { changePreferences } from '../account/settings/changeme.js';
import { ask, confirm } from '../parts/overlays/dialog.js';
import { field } from '../parts/forms/field.js';
import { menu } from '../parts/overlays/menu.js';
import { toast } from '../parts/overlays/toast.js';
import { loadForums } from '../state/forums.js';
import { arrangementOf } from '../state/sidebar.js';

const MAX_PINNED = 10;
const MAX_SECTIONS = 10;
/** Maximum number of links in a section of the user. The server limits the size of preferences. */
const MAX_ITEMS = 20;
const MAX_TITLE = 40;
/** Sections that are folded, or show unread entries only. Those that no longer exist are forgotten first. */
const MAX_FOLDED = 40;

let last = Promise.resolve();

/** Shows a change of the arrangement, and keeps it in the account. */
function keep(site, more) {
  const mine = (site.arranged = { ...arrangementOf(site), ...more });
  site.say('me');
  last = last.then(async () => {
    // A newer arrangement follows.
    if (site.arranged !== mine) return;
    try {
      await changePreferences(site, { sidebar: mine });
    } catch (error) {
      toast(sayProblem(error));
    }
    if (site.arranged === mine) site.arranged = null;
    site.say('me');
  });
}

/** The keys with another one, or without it. */
const toggled = (keys, key) => (keys.includes(key) ? keys.filter((it) => it !== key) : [...keys, key].slice(-MAX_FOLDED));

/** Folds a section, or unfolds it. */
export function fold(site, key) {
  keep(site, { folded: toggled(arrangementOf(site).folded, key) });
}

/** The arrangement as lists: the pinned entries at 0, then the own sections. */
const listsOf = ({ pinned, sections }) => [pinned, ...sections.map(({ items }) => items)];

/**
 * Moves an entry into a list of the user, before another entry or to its end; without a list, out of all of them.
 * @param {number | null} to the list: 0 are the pinned entries
 */
export function moveEntry(site, key, to, before = null) {
  const arrangement = arrangementOf(site);
  const lists = listsOf(arrangement).map((items, index) => {
    if (index !== to) return items.filter((it) => it !== key);
    if (before === key) return items;
    const others = items.filter((it) => it !== key);
    others.splice(before && others.includes(before) ? others.indexOf(before) : others.length, 0, key);
    return others;
  });
  const max = to === 0 ? MAX_PINNED : MAX_ITEMS;
  if (to !== null && lists[to].length > max) return void toast(say('sidebar.full', { n: max }));
  const [pinned, ...rest] = lists;
  return keep(site, { pinned, sections: arrangement.sections.map((it, index) => ({ ...it, items: rest[index] })) });
}

const swapped = (all, at, by) => {
  const moved = [...all];
  [moved[at], moved[at + by]] = [moved[at + by], moved[at]];
  return moved;
};

/** The menu of a forum or conversation. @param {Element} anchor its link or button */
export async function entryMenu(site, key, anchor) {
  await loadMoreText();
  const arrangement = arrangementOf(site);
  const lists = listsOf(arrangement);
  const at = lists.findIndex((it) => it.includes(key));
  const items = lists[at] ?? [];
  const index = items.indexOf(key);
  const step = (by) => moveEntry(site, key, at, by < 0 ? items[index - 1] : (items[index + 2] ?? null));
  menu(anchor, [
    at === 0
      ? { picture: 'pin', words: say('sidebar.unpin'), on: () => moveEntry(site, key, null) }
      : { picture: 'pin', words: say('sidebar.pin'), on: () => moveEntry(site, key, 0) },
    index > 0 && { picture: 'up', words: say('sidebar.up'), on: () => step(-1) },
    at >= 0 && index < items.length - 1 && { picture: 'down', words: say('sidebar.down'), on: () => step(1) },
    ...arrangement.sections.map(({ title }, number) =>
      number + 1 !== at && { words: say('sidebar.moveTo', { section: title }), on: () => moveEntry(site, key, number + 1) }),
    arrangement.sections.length < MAX_SECTIONS && { picture: 'plus', words: say('sidebar.moveToNew'), on: () => addSection(site, key) },
    at > 0 && { picture: 'undo', words: say('sidebar.takeOut', { section: arrangement.sections[at - 1].title }), on: () => moveEntry(site, key, null) },
  ].filter(Boolean), say('sidebar.entry'));
}

/** The menu of a section. @param {number} own its position among the sections of the user */
export async function sectionMenu(site, key, own, anchor) {
  await loadMoreText();
  const { sections, order, unread } = arrangementOf(site);
  const section = sections[own];
  const move = (by) => keep(site, { sections: swapped(sections, own, by) });
  menu(anchor, [
    section && { picture: 'edit', words: say('sidebar.rename'), on: () => rename(site, own) },
    section && own > 0 && { picture: 'up', words: say('sidebar.up'), on: () => move(-1) },
    section && own < sections.length - 1 && { picture: 'down', words: say('sidebar.down'), on: () => move(1) },
    section && { picture: 'delete', words: say('sidebar.delete'), danger: true, on: () => remove(site, own) },
    section && null,
    { words: say(unread.includes(key) ? 'sidebar.showAll' : 'sidebar.unreadOnly'), picture: 'eye', on: () => keep(site, { unread: toggled(unread, key) }) },
    null,
    sections.length < MAX_SECTIONS && { picture: 'plus', words: say('sidebar.newSection'), on: () => addSection(site) },
    sections.length < MAX_SECTIONS && null,
    { words: say('sidebar.byStaff'), isChosen: !order, on: () => keep(site, { order: undefined }) },
    { words: say('sidebar.byActivity'), isChosen: !!order, on: () => byActivity(site) },
  ].filter((it) => it !== undefined && it !== false), say('sidebar.section'));
}

function byActivity(site) {
  keep(site, { order: 'activity' });
  // The cache has messages of joined forums alone.
  loadForums(site).catch(() => {});
}

const askTitle = (title, value) => ask(title, field(say('sidebar.title'), { value, required: true, limit: MAX_TITLE }), say('act.save'));

/** Adds a section, with an entry if there is one. */
async function addSection(site, key) {
  const title = await askTitle(say('sidebar.newSection'));
  if (!title) return;
  const { sections } = arrangementOf(site);
  keep(site, { sections: [...sections, { title, items: [] }] });
  if (key) moveEntry(site, key, sections.length + 1);
}

async function rename(site, own) {
  const title = await askTitle(say('sidebar.rename'), arrangementOf(site).sections[own].title);
  if (title) keep(site, { sections: arrangementOf(site).sections.map((it, index) => (index === own ? { ...it, title } : it)) });
}

/** Deletes a section; its entries return to where they were. */
async function remove(site, own) {
  const { sections } = arrangementOf(site);
  if (sections[own].items.length && !(await confirm(say('sidebar.deleteTitle', { section: sections[own].title }), say('sidebar.deleteSentence'), say('sidebar.delete')))) return;
  keep(site, { sections: arrangementOf(site).sections.filter((_, index) => index !== own) });
}

/**
 * Moves the dragged entry: onto an entry of the user's lists, or onto the heading of one.
 * @param {AbortSignal} end of the drag
 */
export function drag(shell, entry, end) {
  const listAt = (event) => event.target.closest?.('[data-list]');
  const mark = (node) => {
    for (const it of shell.node.querySelectorAll('[data-list]')) it.classList.toggle('is-target', it === node);
  };
  shell.node.addEventListener('dragover', (event) => {
    const node = listAt(event);
    mark(node);
    if (node) event.preventDefault();
  }, { signal: end });
  shell.node.addEventListener('drop', (event) => {
    const node = listAt(event);
    if (!node) return;
    event.preventDefault();
    const before = node.dataset.entry;
    Promise.resolve(loadMoreText()).then(() => moveEntry(shell.site, entry, Number(node.dataset.list), before));
  }, { signal: end });
  end.addEventListener('abort', () => mark(null));
}
