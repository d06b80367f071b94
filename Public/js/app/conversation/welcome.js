// The banner after sign-up, with topics to read.

import { el } from '../core/dom.js';
import { list, say } from '../core/text/text.js';
import { fillWithLively } from '../forum/lively.js';
import { iconButton } from '../parts/forms/button.js';
import { banner } from '../parts/navigation/banner.js';

/** @param {{ site: string, forums: string[] }} arrival the name of the site, and the titles of the joined forums */
export async function fillWelcome({ site, listen }, arrival, node) {
  const link = (href, words) => el('a.text-button', { href }, words);
  const joined = arrival.forums.length && say('welcome.joined', { forums: list(arrival.forums) });
  const words = [say('welcome.title', { name: arrival.site }), joined].filter(Boolean).join('. ');
  const topics = el('div');
  const actions = [
    link('/forums', say('welcome.browse')),
    link('/you/notifications', say('welcome.notifications')),
    iconButton('close', say('act.close'), { on: () => node.remove() }),
  ];
  node.append(banner(words, { actions }), topics);
  listen(site, ['forums', 'users'], await fillWithLively(site, topics));
}
