// Keeps the app so that it starts without a network. All of one version lies in one cache: a newer one is fetched beside
// it, and takes its place when the person asks for it. What the API answers is none of this worker's business, but for
// the pictures of people and forums.

const FILES = [
  '/',
  '/icon.svg',
  '/icon-full.svg',
  '/app.webmanifest',
  '/js/app/acts.js',
  '/js/app/commands.js',
  '/js/app/details.js',
  '/js/app/dom.js',
  '/js/app/hue.js',
  '/js/app/icons.js',
  '/js/app/look.js',
  '/js/app/main.js',
  '/js/app/pages/admin.js',
  '/js/app/pages/door.js',
  '/js/app/pages/forum.js',
  '/js/app/pages/forumabout.js',
  '/js/app/pages/forums.js',
  '/js/app/pages/gone.js',
  '/js/app/pages/inbox.js',
  '/js/app/pages/message.js',
  '/js/app/pages/messages.js',
  '/js/app/pages/newforum.js',
  '/js/app/pages/person.js',
  '/js/app/pages/search.js',
  '/js/app/pages/talk.js',
  '/js/app/pages/you.js',
  '/js/app/parts/attachment.js',
  '/js/app/parts/avatar.js',
  '/js/app/parts/badge.js',
  '/js/app/parts/banner.js',
  '/js/app/parts/button.js',
  '/js/app/parts/code.js',
  '/js/app/parts/commands.js',
  '/js/app/parts/completion.js',
  '/js/app/parts/composer.js',
  '/js/app/parts/dialog.js',
  '/js/app/parts/emoji.js',
  '/js/app/parts/empty.js',
  '/js/app/parts/field.js',
  '/js/app/parts/lines.js',
  '/js/app/parts/menu.js',
  '/js/app/parts/message.js',
  '/js/app/parts/person.js',
  '/js/app/parts/preview.js',
  '/js/app/parts/reaction.js',
  '/js/app/parts/report.js',
  '/js/app/parts/sheet.js',
  '/js/app/parts/sidebar.js',
  '/js/app/parts/sign.js',
  '/js/app/parts/switch.js',
  '/js/app/parts/tabs.js',
  '/js/app/parts/tile.js',
  '/js/app/parts/toast.js',
  '/js/app/parts/tombstone.js',
  '/js/app/parts/topicrow.js',
  '/js/app/parts/viewer.js',
  '/js/app/place.js',
  '/js/app/qr.js',
  '/js/app/rich.js',
  '/js/app/router.js',
  '/js/app/shell.js',
  '/js/app/stream.js',
  '/js/app/text.js',
  '/js/app/times.js',
  '/js/app/view.js',
  '/js/app/visitorstream.js',
  '/js/app/worker.js',
  '/js/parley/client.js',
  '/js/parley/endpoints.js',
  '/js/parley/history.js',
  '/js/parley/ids.js',
  '/js/parley/live.js',
  '/js/parley/markup.js',
  '/js/parley/markup/blocks.js',
  '/js/parley/markup/delimiters.js',
  '/js/parley/markup/inlines.js',
  '/js/parley/markup/links.js',
  '/js/parley/markup/scalars.js',
  '/js/parley/mirror.js',
  '/js/parley/outbox.js',
  '/js/parley/pages.js',
  '/js/parley/parley.js',
  '/js/parley/problem.js',
  '/js/parley/reducer.js',
  '/js/parley/search.js',
  '/js/parley/sha256.js',
  '/js/parley/store.js',
  '/js/parley/sync.js',
  '/js/parley/tabs.js',
  '/js/parley/time.js',
  '/js/parley/upload.js',
  '/js/parley/verify.js',
  '/js/parley/window.js',
  '/lang/en.json',
];
const PICTURE = /^\/api\/v1\/(users|forums)\/[^/]+\/(avatar|icon)$/;
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
  if (request.mode === 'navigate') return !/^\/(api|dev|healthz|readyz|metrics)(\/|$)/.test(url.pathname);
  return /^\/(css|js|lang)\//.test(url.pathname) || FILES.includes(url.pathname);
}

async function own(request, url) {
  const cache = await current();
  const held = await cache?.match(request.mode === 'navigate' ? '/' : url.pathname);
  return held ?? fetch(request);
}

/** What is held at once, and what the server says for the next time. */
async function picture(request) {
  const cache = await caches.open('pictures');
  const held = await cache.match(request);
  const fresh = fetch(request).then(async (answer) => {
    if (answer.ok) await cache.put(request, answer.clone());
    return answer;
  });
  if (!held) return fresh;
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

async function install() {
  const { now } = await state();
  if (!now || !(await caches.has(now))) await keepState({ now: await fill(), next: null });
  await self.skipWaiting();
}

/** Fetches all that belongs to a version; it counts only when nothing is missing. */
async function fill() {
  const name = `app ${Date.now()}`;
  const cache = await caches.open(name);
  try {
    const page = await fetch('/', { cache: 'no-cache' });
    if (!page.ok) throw new Error('no page');
    const styles = [...(await page.clone().text()).matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(
      (it) => it[1],
    );
    await cache.put('/', page);
    const wanted = [...FILES.slice(1), ...styles];
    for (let at = 0; at < wanted.length; at += 6) {
      await Promise.all(
        wanted.slice(at, at + 6).map(async (path) => {
          const answer = await fetch(path, { cache: 'no-cache' });
          if (!answer.ok) throw new Error(`no ${path}`);
          await cache.put(path, answer);
        }),
      );
    }
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
