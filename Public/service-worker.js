// Caches the app, so that it starts without a network. Each version has its own cache: a newer one is fetched beside it and
// replaces it when the user chooses to update. Responses of the API are not cached, except pictures of the site, of users
// and of forums. It also shows push messages.

/** The page of the app: every other address is a page for visitors without a session. */
const PAGE = '/sign-in';
/** The files of a version that its page does not name. */
const FILES = [PAGE, '/icon.svg', '/icon-full.svg'];
const PICTURE = /^\/api\/v1\/(icon|(users|forums)\/[^/]+\/(avatar|icon))$/;
const MAX_PICTURES = 400;
/** @type {Promise<any>} */
let last = Promise.resolve();

self.addEventListener('install', (event) => event.waitUntil((last = install())));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method === 'POST' && url.href === `${location.origin}/share`) return event.respondWith(takeShared(request));
  if (request.method !== 'GET' || url.origin !== location.origin || request.headers.has('range')) return;
  if (PICTURE.test(url.pathname)) event.respondWith(picture(request));
  else if (isAppRequest(url, request)) event.respondWith(respond(request, url));
});
self.addEventListener('message', (event) => {
  if (event.origin && event.origin !== location.origin) return;
  const work = { check, use, translate, forget, closeRead }[event.data?.do];
  if (!work) return;
  // One after another: each reads the state and writes it again.
  last = last.catch(() => {}).then(work);
  event.waitUntil(last.then((response) => (event.ports[0] ?? event.source)?.postMessage({ did: event.data.do, ...response })));
});
self.addEventListener('push', (event) => event.waitUntil(show(event.data)));
self.addEventListener('notificationclick', (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.address ?? '/'));
});
self.addEventListener('pushsubscriptionchange', (event) => event.waitUntil(subscribe(event)));

function isAppRequest(url, request) {
  if (request.mode === 'navigate') return !/^\/(api|dev|docs|oauth|oidc|healthz|readyz|metrics|sitemap|robots\.txt)([/.]|$)|\/feed\.(atom|json)$/.test(url.pathname);
  return /^\/app\//.test(url.pathname) || FILES.includes(url.pathname);
}

async function respond(request, url) {
  const cache = await current();
  const cached = await cache?.match(request.mode === 'navigate' ? PAGE : url.pathname);
  return cached ?? fetch(request);
}

/** Responds from the cache at once, and fetches the picture for the next time. A reload waits for the server. */
async function picture(request) {
  const cache = await caches.open('pictures');
  const cached = await cache.match(request);
  const fresh = fetch(request).then(async (response) => {
    if (response.ok) await cache.put(request, response.clone());
    else if (response.status === 404 || response.status === 410) await cache.delete(request);
    return response;
  });
  if (!cached || request.cache === 'reload') return fresh;
  fresh.then(() => trim(cache)).catch(() => {});
  return cached;
}

async function trim(cache) {
  const keys = await cache.keys();
  for (const key of keys.slice(0, Math.max(0, keys.length - MAX_PICTURES))) await cache.delete(key);
}

// MARK: Versions

async function names() {
  return (await caches.keys()).filter((it) => it.startsWith('app ')).sort();
}

async function state() {
  const cached = await (await caches.open('state')).match('/state');
  return cached ? cached.json() : { now: null, next: null };
}

async function keepState(value) {
  await (await caches.open('state')).put('/state', new Response(JSON.stringify(value)));
}

async function current() {
  const { now } = await state();
  return now && (await caches.has(now)) ? caches.open(now) : null;
}

/** Keeps the cached version, unless files are missing: an earlier worker may not have cached them. */
async function install() {
  const { now } = await state();
  if (!(await isWhole(now))) await keepState({ now: await fill(), next: null });
  await self.skipWaiting();
}

async function isWhole(name) {
  if (!name || !(await caches.has(name))) return false;
  const cache = await caches.open(name);
  const page = await cache.match(PAGE);
  if (!page) return false;
  const cached = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  try {
    const files = await filesOf(await page.text(), (path) => cache.match(path));
    return files.every((path) => cached.has(path));
  } catch {
    // The page of an earlier version, which named its files itself.
    return false;
  }
}

/** The paths of the texts, in the language of the page. They keep their names in each version. */
function textsOf(page) {
  const [, name] = /<link rel="preload" href="(\/app\/[\w-]+)\.json"/.exec(page);
  return [`${name}.json`, `${name}.more.json`];
}

/** The paths of a version's files, without its page. `load` resolves to the response of a path. */
async function filesOf(page, load) {
  const named = [...page.matchAll(/<(?:link rel="stylesheet" href|script type="module" src|meta name="rest" content)="([^"]+)"/g)].map((it) => it[1]);
  const rest = await load(named.find((it) => it.endsWith('.json')));
  return [...FILES.slice(1), ...textsOf(page), ...named, ...(await rest.json())];
}

/** Fetches all files of a version, or fails. */
async function fill() {
  const name = `app ${Date.now()}`;
  const cache = await caches.open(name);
  try {
    const page = await fetch(PAGE, { cache: 'no-cache' });
    if (!page.ok) throw new Error('no page');
    const paths = await filesOf(await page.clone().text(), fetch);
    await cache.put(PAGE, page);
    await Promise.all(
      paths.map(async (path) => {
        const response = await fetch(path, { cache: 'no-cache' });
        if (!response.ok) throw new Error(`no ${path}`);
        await cache.put(path, response);
      }),
    );
    return name;
  } catch (error) {
    await caches.delete(name);
    throw error;
  }
}

/** Whether the server has a newer version. It is fetched and waits for `use`. */
async function check() {
  const { now, next } = await state();
  if (!now) return { isNew: false };
  const cache = await caches.open(now);
  const page = await (await cache.match(PAGE)).text();
  for (const path of [...FILES, ...textsOf(page)]) {
    const cached = await cache.match(path);
    const response = await fetch(path, { cache: 'no-cache' });
    if (!response.ok) return { isNew: false };
    if (!cached || cached.headers.get('etag') !== response.headers.get('etag')) {
      if (next) await caches.delete(next);
      await keepState({ now, next: await fill() });
      return { isNew: true };
    }
  }
  return { isNew: false };
}

/** Switches to the waiting version, from the next page on. */
async function use() {
  const { now, next } = await state();
  if (!next || !(await caches.has(next))) return { isNew: false };
  await keepState({ now: next, next: null });
  for (const name of await names()) if (name !== next) await caches.delete(name);
  return { was: now };
}

/** Fetches the page and its texts in the language that the user has chosen, and switches to it. */
async function translate() {
  try {
    const next = await fill();
    await keepState({ ...(await state()), next });
    await use();
    return { isDone: true };
  } catch {
    return { isDone: false };
  }
}

/** Erases the user's data at the end of the session. */
async function forget() {
  await caches.delete('pictures');
  await (await caches.open('state')).delete('/shared');
  return {};
}

// MARK: Shared content

/** The maximum size of shared content, in bytes: any site can send a form to this address. */
const MAX_SHARED = 64 * 1024 * 1024;

/** Keeps the content that another app shares, until the user has chosen a conversation on the page. */
async function takeShared(request) {
  const content = await request.blob();
  const headers = { 'Content-Type': request.headers.get('content-type'), Date: new Date().toUTCString() };
  if (content.size <= MAX_SHARED) await (await caches.open('state')).put('/shared', new Response(content, { headers }));
  return Response.redirect('/share', 303);
}

// MARK: Push messages

/** Shows a notification for each message: browsers end the subscription of a worker that stays silent. */
async function show(data) {
  /** @type {any} */
  let message;
  try {
    message = data.json().notification;
  } catch {
    // The push message is empty or from another sender.
  }
  const { title = location.host, body = '', tag = 'push', navigate, app_badge: badge, data: about } = message ?? {};
  if (Number.isInteger(badge)) await Promise.resolve(self.navigator.setAppBadge?.(badge)).catch(() => {});
  const target = { address: addressOnSite(navigate), id: about?.notification_id };
  await self.registration.showNotification(title, { body, tag, icon: '/icon.svg', data: target });
  await closeRead(tag).catch(() => {});
}

/**
 * Closes the notifications that were read elsewhere, except for the one just shown: its event would end without any, as if the worker had
 * been silent. Without a network, or signed out, all of them stay.
 */
async function closeRead(kept) {
  const shown = (await self.registration.getNotifications()).filter((it) => it.data?.id && it.tag !== kept);
  if (!shown.length) return;
  const response = await fetch('/api/v1/inbox?unread=true&limit=100');
  if (!response.ok) return;
  const { data, next } = await response.json();
  const unread = new Set(data.map((it) => it.id));
  // Older ones than those of the page may be unread, too. Ids grow.
  const first = next ? data.at(-1) : null;
  for (const it of shown) if (!unread.has(it.data.id) && (!first || isLater(it.data.id, first.id))) it.close();
}

const isLater = (id, other) => id.length > other.length || (id.length === other.length && id > other);

/** The path of an address of this site; of other sites, and for another text, the home page. */
function addressOnSite(address) {
  const text = typeof address === 'string' && URL.canParse(address, location.origin) ? address : '/';
  const url = new URL(text, location.origin);
  return url.origin === location.origin ? url.pathname + url.search : '/';
}

/** Opens an address in a window of the app, or in a new one. */
async function open(address) {
  const windows = await self.clients.matchAll({ type: 'window' });
  const found = windows.find((it) => it.visibilityState === 'visible') ?? windows[0];
  if (!found) return self.clients.openWindow(address);
  found.postMessage({ did: 'open', address });
  return found.focus();
}

/** The browser has ended a subscription or made another one: the server learns the new one. */
async function subscribe({ oldSubscription, newSubscription }) {
  const kept = await (await caches.open('state')).match('/push');
  const options = oldSubscription?.options;
  if (!kept || !(newSubscription || options)) return;
  const { endpoint, keys } = (newSubscription ?? (await self.registration.pushManager.subscribe(options))).toJSON();
  await fetch('/api/v1/me/push-subscriptions', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ endpoint, keys, ...(await kept.json()) }),
  });
}
