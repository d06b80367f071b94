import { el, icon } from '../../core/dom.js';
import { loadSheet } from '../../core/sheet.js';

export const loadSettingsSheet = () => loadSheet('/css/parts/pages/settings.css');

/**
 * A page of settings, with the list of all beside it where a window has room for both.
 * @param {string} label of the list
 * @param {[address: string, picture: string, words: string][]} links
 * @param {string} here the address of the open page
 */
export function besideSettings(label, links, here, column) {
  const link = ([href, picture, words]) =>
    el('a.sidebar-link', { href, title: words, aria: { current: href === here ? 'page' : null } }, icon(picture), el('span.one-line', null, words));
  return el('div.setting-split', null, links.length > 1 && el('nav.setting-nav', { aria: { label } }, links.map(link)), column);
}

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
