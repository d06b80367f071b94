// The steps after a right password or a sign-up: the second factor, the address to return to, the first room.

import { el, refill } from '../../core/dom.js';
import { forumAddress } from '../../core/router.js';
import { compare } from '../../core/order.js';
import { say } from '../../core/text/text.js';
import { newestByForum } from '../../state/forums.js';
import { codeField } from '../security/codefield.js';
import { signInForm } from './form.js';
import { takeLanguage } from '../settings/language.js';
import { device } from './newcomer.js';

/** The address to return to after signing in: a path of this origin, otherwise the front page. */
function backAddress(text) {
  if (!text || !/^\/(?!\/)[^\\\u0000-\u001f]*$/u.test(text)) return '/';
  const url = new URL(text, location.origin);
  const isOurs = url.origin === location.origin && !url.pathname.startsWith('//') && url.pathname !== '/sign-in';
  return isOurs ? url.pathname + url.search + url.hash : '/';
}

/** The address to return to: the page that asked for a session, or `?back=` of the address, with its fragment. */
export const returnAddress = (back, query) => backAddress(back ?? (query?.get('back') ?? '/') + location.hash);

/** The sign-in page or the sign-up page, with the address to return to. */
export const signInAddress = (back, isNew = false) =>
  `/sign-in?${isNew ? 'new&' : ''}${new URLSearchParams(back === '/' ? {} : { back })}`.replace(/[?&]$/, '');

/** The second step of a sign-in whose password was right; `error` has the challenge. Throws another error. */
export function askCode(shell, page, error, address) {
  if (error.code !== 'second_factor_required') throw error;
  const { site } = shell;
  const code = codeField();
  const next = signInForm({
    site,
    title: site.server.name,
    lead: say('signIn.codeLead'),
    controls: [code],
    verb: say('act.signIn'),
    foot: el('p', null, el('a', { href: signInAddress(address), on: { click: () => location.assign(signInAddress(address)) } }, say('signIn.again'))),
    work: async () => {
      const { user } = await site.call('POST', '/sessions/second-factor', {
        body: { challenge: error.params.challenge, code: code.input.value.trim(), cookie: true, device: device() },
      });
      await goIn(shell, user, address);
    },
  });
  refill(page.node, ...next.node.childNodes);
  code.input.focus();
}

export async function goIn(shell, me, address) {
  await shell.site.enter(me);
  if (takeLanguage(me.preferences?.language)) return location.replace(address);
  shell.entered();
  return returnTo(shell, address);
}

/** The server makes the page on which an app asks for access. */
export const returnTo = (shell, address) =>
  address.startsWith('/oauth/') ? location.replace(address) : shell.go(address, { replace: true });

/** Into the room of the invite's forum, the site's arrival room, or the liveliest default room, where the first message is one press away. */
export async function arrive(shell, me, forumID = null) {
  const { site } = shell;
  await site.enter(me);
  const newest = newestByForum(site);
  const joined = [...site.forums.values()].filter((it) => it.role).sort((a, b) => compare(newest(b), newest(a)) || compare(b.id, a.id));
  const forum = joined.find(({ id }) => id === forumID) ?? joined.find(({ id }) => id === site.parley.settings?.arrival_forum) ?? joined.find((it) => it.is_default) ?? joined[0];
  shell.arrival = { site: site.server.name, forums: joined.map(({ title }) => title) };
  shell.entered();
  shell.go(forum ? forumAddress(forum, 'room') : '/', { replace: true });
}
