// Keeps the app so that it starts without a network. All of one version lies in one cache: a newer one is fetched beside
// it, and takes its place when the person asks for it. What the API answers is none of this worker's business, but for
// the pictures of the place, of people and forums.

/** The page of the app: every other address is a page for visitors without a session. */
const PAGE = '/sign-in';
/** Beside what the page itself names. */
const FILES = [PAGE, '/icon.svg', '/icon-full.svg', '/app.webmanifest', '/app/en.json', '/app/en.more.json'];
const PICTURE = /^\/api\/v1\/(icon|(users|forums)\/[^/]+\/(avatar|icon))$/;
const MOST_PICTURES = 400;

self.addEventListener('install', (event) => event.waitUntil(install()));
self.addEventListener('activate', (event) => event.waitUntil(self.clients.claim()));
self.addEventListener('fetch', (event) => {
  const { request } = event;
  const url = new URL(request.url);
  if (request.method !== 'GET' || url.origin !== location.origin || request.headers.has('range')) return;
  if (PICTURE.test(url.pathname)) event.respondWith(picture(request));
  else if (isOurs(url, request)) event.respondWith(own(request, url));
});
self.addEventListener('message', (event) => {
  if (event.origin && event.origin !== location.origin) return;
  const work = { check, use, forget }[event.data?.do];
  if (work) event.waitUntil(work().then((answer) => event.source?.postMessage({ did: event.data.do, ...answer })));
});

function isOurs(url, request) {
  if (request.mode === 'navigate') return !/^\/(api|dev|docs|healthz|readyz|metrics|sitemap|robots\.txt)([/.]|$)|\/feed\.(atom|json)$/.test(url.pathname);
  return /^\/app\//.test(url.pathname) || FILES.includes(url.pathname);
}

async function own(request, url) {
  const cache = await current();
  const held = await cache?.match(request.mode === 'navigate' ? PAGE : url.pathname);
  return held ?? fetch(request);
}

/** What is held at once, and what the server says for the next time; whoever asks for it anew has that. */
async function picture(request) {
  const cache = await caches.open('pictures');
  const held = await cache.match(request);
  const fresh = fetch(request).then(async (answer) => {
    if (answer.ok) await cache.put(request, answer.clone());
    return answer;
  });
  if (!held || request.cache === 'reload') return fresh;
  fresh.then(() => trim(cache)).catch(() => {});
  return held;
}

async function trim(cache) {
  const keys = await cache.keys();
  for (const key of keys.slice(0, Math.max(0, keys.length - MOST_PICTURES))) await cache.delete(key);
}

// MARK: Versions

async function names() {
  return (await caches.keys()).filter((it) => it.startsWith('app ')).sort();
}

async function state() {
  const held = await (await caches.open('state')).match('/state');
  return held ? held.json() : { now: null, next: null };
}

async function keepState(value) {
  await (await caches.open('state')).put('/state', new Response(JSON.stringify(value)));
}

async function current() {
  const { now } = await state();
  return now && (await caches.has(now)) ? caches.open(now) : null;
}

/** What is held stays in use, unless it lacks something: a worker before this one may have known of less. */
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
  const held = new Set((await cache.keys()).map(({ url }) => new URL(url).pathname));
  return belonging(await page.text()).every((path) => held.has(path));
}

/** All that belongs to a page, beside itself. */
function belonging(page) {
  const named = page.matchAll(/<(?:link rel="stylesheet" href|script type="module" src|meta name="rest" content)="([^"]+)"/g);
  return [...FILES.slice(1), ...[...named].flatMap((it) => it[1].split(' '))];
}

/** Fetches all that belongs to a version; it counts only when nothing is missing. */
async function fill() {
  const name = `app ${Date.now()}`;
  const cache = await caches.open(name);
  try {
    const page = await fetch(PAGE, { cache: 'no-cache' });
    if (!page.ok) throw new Error('no page');
    const paths = belonging(await page.clone().text());
    await cache.put(PAGE, page);
    await Promise.all(
      paths.map(async (path) => {
        const answer = await fetch(path, { cache: 'no-cache' });
        if (!answer.ok) throw new Error(`no ${path}`);
        await cache.put(path, answer);
      }),
    );
    return name;
  } catch (error) {
    await caches.delete(name);
    throw error;
  }
}

/** Whether the server has another version than the one in use. It is fetched then, and waits. */
async function check() {
  const { now, next } = await state();
  if (!now) return { isNew: false };
  const cache = await caches.open(now);
  for (const path of FILES) {
    const held = await cache.match(path);
    const answer = await fetch(path, { cache: 'no-cache' });
    if (!answer.ok) return { isNew: false };
    if (!held || held.headers.get('etag') !== answer.headers.get('etag')) {
      if (next) await caches.delete(next);
      await keepState({ now, next: await fill() });
      return { isNew: true };
    }
  }
  return { isNew: false };
}

/** From the next page on, the version that waits. */
async function use() {
  const { now, next } = await state();
  if (!next || !(await caches.has(next))) return { isNew: false };
  await keepState({ now: next, next: null });
  for (const name of await names()) if (name !== next) await caches.delete(name);
  return { was: now };
}

/** Nothing of what people see stays when they sign out. */
async function forget() {
  await caches.delete('pictures');
  return {};
}
