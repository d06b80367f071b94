// Banners that few pages have: the welcome after sign-up, a message request, the pauses of a raid.

import { el, redraw } from '../core/dom.js';
import { list, loadMoreText, say, sayProblem } from '../core/text/text.js';
import { moment } from '../core/text/times.js';
import { button, iconButton } from '../parts/forms/button.js';
import { banner } from '../parts/navigation/banner.js';
import { toast } from '../parts/overlays/toast.js';

const PAUSES = { newcomers_paused_until: 'pause.newcomersUntil', sign_ups_paused_until: 'pause.signUpsUntil' };

const verb = (words, click) => el('button.text-button', { on: { click } }, words);

/** With topics to read. @param {{ site: string, forums: string[] }} arrival the name of the site, and the titles of the joined forums */
export async function fillWelcome({ site, listen }, arrival, node) {
  await loadMoreText();
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
  const { fillWithLively } = await import('../forum/lively.js');
  listen(site, ['forums', 'users'], await fillWithLively(site, topics));
}

/** Until the request is accepted, here or on another device. */
export async function fillRequest(page, node) {
  await loadMoreText();
  const { shell, site, conversation } = page;
  const answer = (words, method, kind) =>
    button(words, { kind, on: async () => {
      const go = shell.fromHere();
      try {
        const kept = await site.call(method, `/conversations/${conversation.id}/request`);
        if (kept) site.keepConversation(kept);
        go(kept ? location.pathname : '/messages', { replace: true });
      } catch (error) {
        toast(sayProblem(error));
      }
    } });
  const draw = () => {
    if (!page.now().request) return node.remove();
    if (!node.firstChild) node.append(banner(say('conversation.request'), { actions: [answer(say('conversation.take'), 'PUT', 'primary'), answer(say('conversation.refuse'), 'DELETE')] }));
    return undefined;
  };
  draw();
  page.listen(site, ['conversations'], draw);
}

/** A line for each pause while it lasts. */
export async function fillPauses({ site, listen, signal }, node) {
  await loadMoreText();
  let timer;
  const end = (field) => () => site.call('PATCH', '/settings', { body: { [field]: null } }).catch((error) => toast(sayProblem(error)));
  const draw = () => {
    clearTimeout(timer);
    const now = Date.now();
    const lasting = Object.keys(PAUSES).map((field) => [field, Date.parse(site.parley?.settings?.[field])]).filter(([, until]) => until > now);
    redraw(
      node,
      lasting.map(([field, until]) => banner(say(PAUSES[field], { time: moment(new Date(until)) }), { kind: 'warn', actions: [verb(say('pause.end'), end(field))] })),
    );
    if (lasting.length) timer = setTimeout(draw, Math.min(...lasting.map(([, until]) => until)) - now + 1);
  };
  draw();
  listen(site, ['me'], draw);
  signal.addEventListener('abort', () => clearTimeout(timer));
}
