// The modules of the pages, and the page of an error.

import { el } from '../core/dom.js';
import { loadSheet } from '../core/sheet.js';
import { knows, loadMoreText, say } from '../core/text/text.js';
import { conversationTitle } from '../core/titles.js';
import { skeleton, unreachable } from '../parts/lists/empty.js';
import { pageBar } from '../parts/navigation/sidebar.js';

/** Named one by one, so that the bundler makes a script of each. */
export const pages = {
  admin: () => later(import('../pages/admin.js')),
  signin: () => later(import('../pages/signin.js'), loadSheet('/css/parts/pages/signin.css')),
  feed: () => later(import('../pages/feed.js')),
  forum: () => styled(import('../pages/forum.js')),
  forums: () => later(import('../pages/forums.js')),
  notfound: () => later(import('../pages/notfound.js')),
  inbox: () => import('../pages/inbox.js'),
  message: () => styled(import('../pages/message.js')),
  members: () => later(import('../pages/members.js')),
  messages: () => styled(import('../pages/messages.js')),
  newconversation: () => styled(import('../pages/newconversation.js')),
  forumform: () => later(import('../pages/forumform.js')),
  user: () => later(import('../pages/user.js')),
  search: () => later(import('../pages/search.js')),
  share: () => later(import('../pages/share.js'), loadSheet('/css/parts/pages/share.css')),
  conversation: () => styled(import('../pages/conversation.js')),
  settings: () => later(import('../pages/settings.js')),
};

/** A page with the styles that the first view does not need. @param {Promise} page @param {Promise[]} more what it waits for, too */
async function styled(page, ...more) {
  await Promise.all([page, loadSheet('/css/later.css'), ...more]);
  return page;
}

/** A page whose texts are not in the first file: the pages that `Tests/tools/webapp` names. @param {Promise} [sheet] its style */
const later = (page, sheet) => styled(page, loadMoreText(), sheet);

/** Placeholder of a slow page: its title, as far as it is known, the sign, and the shape of a list. */
export function loadingPage({ site }, { module, params }) {
  const known = module === 'conversation' && site.knownConversation(params.id);
  const title = module === 'forum' ? site.forums.get(params.id)?.title : known ? conversationTitle(site, known) : knows(`navigation.${module}`) && say(`navigation.${module}`);
  return [pageBar(title || '', { state: site.state }), el('div.page-column', null, skeleton())];
}

/** The page in place of a failed one; `again` shows that one. */
export async function faultPage(error, { site }, again) {
  if (['not_found', 'forbidden', 'gone'].includes(error?.code)) {
    const found = await pages.notfound().catch(() => null);
    if (found) return found.gonePage(site);
  }
  const isNetwork = error?.code === 'network';
  if (!isNetwork) console.error(error);
  const title = say('fault.title');
  // Without a start there is nothing to return to.
  const retry = site.fault ? () => location.reload() : again;
  return { title, node: [pageBar(title, { state: site.state }), el('div.page-body', null, unreachable(retry, isNetwork))] };
}
