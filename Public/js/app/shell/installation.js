// The app kept for when there is no network; and newer versions of it, offered and never forced.

import { toast } from '../parts/overlays/toast.js';
import { restAddress } from '../core/bundle.js';
import { el } from '../core/dom.js';
import { say } from '../core/text/text.js';

const AGAIN = 60 * 60_000;

/** Registers the service worker, except with `--dev`, where edited files must show at once. */
export async function keepApp(shell) {
  const rest = restAddress();
  if (!rest) return;
  if (!('serviceWorker' in navigator)) return preload(await (await fetch(rest)).json());
  await signedIn(shell.site);
  if (localStorage.unsaved) (await import('../account/settings/changeme.js')).saveAgain(shell.site).catch(() => {});
  const registration = await navigator.serviceWorker.register('/service-worker.js');
  navigator.serviceWorker.addEventListener('message', (event) => heard(shell, event.data));
  const ask = (work) => registration.active?.postMessage({ do: work });
  const check = () => ask('check');
  await navigator.serviceWorker.ready;
  check();
  ask('closeRead');
  // Also what this device or another one has read since.
  shell.site.addEventListener('event', ({ detail }) => detail.event === 'notification.read' && ask('closeRead'));
  setInterval(check, AGAIN);
  // After a reconnect the server may have a newer version.
  shell.site.addEventListener('state', () => shell.site.state === 'online' && check());
  if (shell.site.me) navigator.storage?.persist?.().catch(() => {});
  if (localStorage.push) (await import('../account/notifications/push.js')).heal(shell.site);
}

/** Loads the scripts of the other pages now: after an upgrade the server has others in their place. */
function preload(scripts) {
  const isSheet = (href) => href.endsWith('.css');
  document.head.append(...scripts.map((href) => el('link', isSheet(href) ? { rel: 'preload', as: 'style', href } : { rel: 'modulepreload', href })));
}

/** Visitors have no service worker: it would show them the app in place of the server's pages. */
const signedIn = (site) =>
  new Promise((resolve) => {
    const look = () => {
      if (!site.me) return;
      site.removeEventListener('state', look);
      resolve();
    };
    site.addEventListener('state', look);
    look();
  });

async function heard(shell, data) {
  if (data?.did === 'use') return location.reload();
  // A notification was clicked.
  if (data?.did === 'open') return shell.go(data.address);
  if (data?.did !== 'check' || !data.isNew || heard.isOffered) return undefined;
  heard.isOffered = true;
  while (shell.page?.isWriting?.())
    await new Promise((resolve) => {
      setTimeout(resolve, 5_000);
    });
  return toast(say('version.ready'), {
    stays: true,
    action: say('act.reload'),
    act: () => navigator.serviceWorker.controller?.postMessage({ do: 'use' }),
  });
}
