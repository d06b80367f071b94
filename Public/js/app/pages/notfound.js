// The page of an address without a page, or whose subject is gone or not for the caller.

import { el } from '../core/dom.js';
import { say } from '../core/text/text.js';
import { empty } from '../parts/lists/empty.js';
import { pageBar } from '../parts/navigation/sidebar.js';

/** The fault of an address without a page. */
export const notFound = () => Object.assign(new Error('No such page'), { code: 'not_found' });

export async function open() {
  throw notFound();
}

/** The page in place of one that is gone. Without an account it offers to sign in and come back. */
export function gonePage(site) {
  const back = encodeURIComponent(location.pathname + location.search + location.hash);
  return {
    title: say('fault.title'),
    node: [
      pageBar(say('fault.title'), { state: site.state }),
      el(
        'div.page-body',
        null,
        empty(say('fault.gone'), {
          picture: 'search',
          actions: [
            !site.me && el('a.button.button-primary', { href: `/sign-in?back=${back}` }, say('act.signIn')),
            el('a.button.button-plain', { href: '/' }, say('fault.home')),
          ].filter(Boolean),
        }),
      ),
    ],
  };
}
