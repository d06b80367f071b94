// A line at the top of the window while requests are in progress. Loaded with the first click: the first view has no room for it.

import { el } from '../core/dom.js';
import { loadSheet } from '../core/sheet.js';

/** Shorter work shows no line, in milliseconds. */
const DELAY = 400;

/** Follows the requests of the session, or of the visitor. @param {object} site */
export function showActivity(site) {
  // Screen readers hear of a busy part by its `aria-busy`.
  const line = el('div.activity-line', { hidden: true, aria: { hidden: 'true' } });
  let timer = null;
  let followed = null;

  const changed = (underWay) => {
    if (underWay > 0) {
      timer ??= setTimeout(() => (line.hidden = false), DELAY);
    } else {
      clearTimeout(timer);
      timer = null;
      line.hidden = true;
    }
  };
  const follow = () => {
    const { client, parley } = site;
    if (client === followed) return;
    followed = client;
    const isFollowed = (underWay) => client === followed && changed(underWay);
    if (parley?.client === client) parley.on('activity', isFollowed);
    else client.onActivity = isFollowed;
    changed(client.underWay);
  };

  loadSheet('/css/parts/navigation/activity.css').then(() => document.body.append(line));
  site.listen(['me'], follow);
  site.addEventListener('out', follow);
  follow();
}
