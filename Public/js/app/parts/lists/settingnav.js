import { el, icon } from '../../core/dom.js';
import { keepFocus } from '../../core/keepfocus.js';
import { loadSheet } from '../../core/sheet.js';

export const loadSettingsSheet = () => loadSheet('/css/parts/pages/settings.css');

/** @typedef {[address: string, picture: string, words: string]} Link */
/** @typedef {[title: string, links: Link[]]} Group */

export function settingLink(href, picture, words, second) {
  return el(
    'a.setting-link',
    { href },
    icon(picture),
    el('span', null, words),
    second && el('span.mark', null, second),
    el('i', null, icon('onward')),
  );
}

/** The list of all settings, as a page of its own. @param {string} label @param {Group[]} groups */
export function settingGroups(label, groups) {
  return el(
    'nav',
    { aria: { label }, data: { part: label } },
    groups.map(([title, links]) => el('section', { data: { part: title } }, heading(title, groups), el('div.setting-list', { data: { part: 'list' } }, links.map((it) => settingLink(...it))))),
  );
}

/** One group needs no heading. */
const heading = (title, groups) => groups.length > 1 && el('h2.section-title', null, title);

/**
 * A page of settings, with the list of all beside it where a window has room for both. Like a list of the system, it is
 * one stop of the Tab key: the arrow keys move in it.
 * @param {string} label of the list
 * @param {Group[]} groups
 * @param {string} here the address of the open page
 */
export function besideSettings(label, groups, here, column) {
  const all = [];
  const link = ([href, picture, words]) => {
    const isHere = href === here;
    const node = el('a.sidebar-link', { href, title: words, tabindex: isHere ? null : '-1', aria: { current: isHere ? 'page' : null } }, icon(picture), el('span.one-line', null, words));
    all.push(node);
    return node;
  };
  const list = el('nav.setting-nav', { aria: { label } }, groups.map(([title, links]) => [heading(title, groups), links.map(link)]));
  list.addEventListener('keydown', (event) => step(event, all));
  keepFocus(column);
  return el('div.setting-split', null, all.length > 1 && list, column);
}

/** Moves the focus with the arrow keys, Home and End. */
function step(event, links) {
  const { key, altKey, ctrlKey, metaKey } = event;
  if (altKey || ctrlKey || metaKey) return;
  const at = links.indexOf(document.activeElement);
  const next = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: links.length - 1 }[key];
  if (at < 0 || next === undefined) return;
  event.preventDefault();
  links[Math.max(0, Math.min(links.length - 1, next))].focus();
}
