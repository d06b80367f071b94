// The part of the service worker for push messages, with stand-ins for the browser.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import vm from 'node:vm';

const code = readFileSync(new URL('../../../Public/service-worker.js', import.meta.url), 'utf8');

/** A worker: `send` dispatches an event and waits for its work. */
function worker({ windows = [], kept, screen = [], inbox } = {}) {
  const handlers = {};
  const done = { shown: [], opened: [], badges: [], fetched: [], told: [] };
  const self = {
    addEventListener: (name, handler) => (handlers[name] = handler),
    registration: {
      showNotification: async (title, options) => done.shown.push({ title, ...options }),
      getNotifications: async () => screen,
      pushManager: { subscribe: async (options) => ({ toJSON: () => ({ endpoint: 'made', keys: {}, options }) }) },
    },
    navigator: { setAppBadge: async (count) => done.badges.push(count) },
    clients: { matchAll: async () => windows, openWindow: async (address) => done.opened.push(address) },
  };
  const location = new URL('https://chat.example.org/service-worker.js');
  const caches = { open: async () => ({ match: async () => kept && new Response(JSON.stringify(kept)) }) };
  const fetch = async (path, { body } = {}) => {
    done.fetched.push([path, body && JSON.parse(body)]);
    return { ok: !!inbox, json: async () => inbox };
  };
  vm.runInNewContext(code, { self, location, caches, fetch, URL, Response });
  const send = async (name, event) => {
    let work;
    handlers[name]({ ...event, waitUntil: (promise) => (work = promise) });
    await work;
  };
  return { send, done };
}

const message = (notification) => ({ data: { json: () => ({ web_push: 8030, notification }) } });

test('a message shows a notification and the badge', async () => {
  const { send, done } = worker();
  await send('push', message({ title: 'Ada', body: 'hello', tag: 'c7', navigate: 'https://chat.example.org/m/12?a=1', app_badge: 3, data: { notification_id: '13' } }));
  const data = { address: '/m/12?a=1', id: '13' };
  assert.equal(JSON.stringify(done.shown), JSON.stringify([{ title: 'Ada', body: 'hello', tag: 'c7', icon: '/icon.svg', data }]));
  assert.deepEqual(done.badges, [3]);
});

test('a message that the worker cannot read shows one, too', async () => {
  for (const data of [null, { json: () => JSON.parse('?') }, { json: () => ({}) }]) {
    const { send, done } = worker();
    await send('push', { data });
    assert.equal(done.shown.length, 1);
    assert.equal(done.shown[0].title, 'chat.example.org');
  }
});

test('an address of another site is not opened, and one that is none hides no message', async () => {
  for (const navigate of ['https://evil.example/m/12', 'javascript:alert(1)', 'https://[', '', null, undefined]) {
    const { send, done } = worker();
    await send('push', message({ title: 'Ada', navigate }));
    assert.deepEqual([done.shown[0].title, done.shown[0].data.address], ['Ada', '/'], navigate);
  }
});

test('a click opens the address in a window of the app, or in a new one', async () => {
  const notification = { data: { address: '/m/12' }, close() {} };
  const none = worker();
  await none.send('notificationclick', { notification });
  assert.deepEqual(none.done.opened, ['/m/12']);
  const heard = [];
  const windowOf = (visibilityState) => ({ visibilityState, postMessage: (it) => heard.push([visibilityState, it]), focus: async () => {} });
  const some = worker({ windows: [windowOf('hidden'), windowOf('visible')] });
  await some.send('notificationclick', { notification });
  assert.equal(some.done.opened.length, 0);
  assert.equal(JSON.stringify(heard), '[["visible",{"did":"open","address":"/m/12"}]]');
});

test('the server learns a subscription that the browser has replaced', async () => {
  const kept = { name: 'Phone', language: 'de' };
  const options = { userVisibleOnly: true };
  const replaced = worker({ kept });
  await replaced.send('pushsubscriptionchange', { newSubscription: { toJSON: () => ({ endpoint: 'new', keys: { auth: 'a' } }) } });
  assert.deepEqual(replaced.done.fetched, [['/api/v1/me/push-subscriptions', { endpoint: 'new', keys: { auth: 'a' }, ...kept }]]);
  const ended = worker({ kept });
  await ended.send('pushsubscriptionchange', { oldSubscription: { options } });
  assert.equal(ended.done.fetched[0][1].endpoint, 'made');
  const unknown = worker();
  await unknown.send('pushsubscriptionchange', { oldSubscription: { options } });
  assert.equal(unknown.done.fetched.length, 0);
});

test('notifications that were read elsewhere are closed', async () => {
  const closed = [];
  const shown = (id) => ({ data: { id, address: '/' }, close: () => closed.push(id) });
  const screen = [shown('9'), shown('21'), shown('99'), shown('100'), { data: null, close: () => closed.push('own') }];
  const close = async (inbox) => {
    closed.length = 0;
    await worker({ screen, inbox }).send('push', message({ title: 'Ada' }));
    return closed;
  };
  // The page has all of the unread ones.
  assert.deepEqual(await close({ data: [{ id: '99' }, { id: '21' }], next: null }), ['9', '100']);
  // Older ones follow on the next page.
  assert.deepEqual(await close({ data: [{ id: '99' }, { id: '21' }], next: 'x' }), ['100']);
  // Signed out, or without a network.
  assert.deepEqual(await close(null), []);
});

test('the notification that was just shown stays until the next, though its message is gone', async () => {
  const closed = [];
  const screen = ['c7', 'c8'].map((tag) => ({ tag, data: { id: '9', address: '/' }, close: () => closed.push(tag) }));
  await worker({ screen, inbox: { data: [], next: null } }).send('push', message({ title: 'Ada', tag: 'c8' }));
  assert.deepEqual(closed, ['c7']);
});
