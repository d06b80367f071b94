// Push messages to this device: notifications while the app is closed. The browser has the subscription, and the server its
// URL and keys.

import { el } from '../../core/dom.js';
import { language, loadMoreText, say, sayProblem } from '../../core/text/text.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { toggle } from '../../parts/forms/switch.js';
import { toast } from '../../parts/overlays/toast.js';
import { changePreferences } from '../settings/changeme.js';

/** Whether the browser and the server can send push messages here. */
export const canPush = (site) => !!site.server?.vapid_key && 'PushManager' in window && 'serviceWorker' in navigator;

/** The user of this device; another user has to turn push messages on again. */
const owner = () => localStorage.getItem('push');

const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (it) => it.charCodeAt(0));

/** Without a service worker, as with `--dev`, there is nothing to wait for. */
const registered = async () => (await navigator.serviceWorker.getRegistration()) && navigator.serviceWorker.ready;

async function subscription(registration, key) {
  const found = await registration.pushManager.getSubscription();
  const applicationServerKey = bytes(key);
  const used = found?.options.applicationServerKey;
  if (used && `${new Uint8Array(used)}` === `${applicationServerKey}`) return found;
  // The server has a new key, for example after a restore.
  await found?.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey });
}

/** Subscribes this device, or tells the server again. The permission was given before. */
export async function turnOn(site) {
  const registration = await registered();
  if (!registration) return null;
  const { endpoint, keys } = (await subscription(registration, site.server.vapid_key)).toJSON();
  const { data } = await site.call('GET', '/sessions');
  const body = { endpoint, keys, name: data.find((it) => it.current)?.name || 'Browser', language: language() };
  const created = await site.call('POST', '/me/push-subscriptions', { body });
  localStorage.setItem('push', site.me.id);
  // For the service worker, when the browser changes the subscription.
  const state = await caches.open('state');
  await state.put('/push', new Response(JSON.stringify({ name: body.name, language: body.language })));
  return created;
}

/** Ends the messages to this device. */
export async function turnOff(site) {
  localStorage.removeItem('push');
  const registration = await registered();
  const found = await registration?.pushManager.getSubscription();
  if (!found) return;
  const { data } = await site.call('GET', '/me/push-subscriptions');
  const own = data.find((it) => it.current);
  await found.unsubscribe();
  if (own) await site.call('DELETE', `/me/push-subscriptions/${own.id}`);
}

/** Subscribes again after the server or the browser has lost the subscription. */
export async function heal(site) {
  if (!canPush(site) || owner() !== site.me?.id || Notification.permission !== 'granted') return;
  await turnOn(site).catch(() => {});
}

/** Turns notifications on this device on or off. The browser asks for its permission first. */
export async function setDevice(site, on) {
  if (on && (await Notification.requestPermission()) !== 'granted') throw new Error('refused');
  await changePreferences(site, { notices: on });
  if (canPush(site)) await (on ? turnOn(site) : turnOff(site)).catch(report);
}

/** The switch of this device, and a test while push messages are on. */
export function deviceSettings(shell) {
  const { site } = shell;
  const test = button(say('push.send'), { on: () => whileBusy(test, () => check(site)).catch(report) });
  const foot = el('div.form-foot', null, test);
  const draw = () => {
    foot.hidden = owner() !== site.me.id || !canPush(site);
    device.hint.textContent = effect(site, device.input.checked);
  };
  const device = toggle(say('push.device'), {
    checked: Notification.permission === 'granted' && site.me.preferences?.notices !== false,
    hint: ' ',
    on: async (on) => {
      await setDevice(site, on);
      draw();
    },
  });
  draw();
  return el('div', null, device, canPush(site) && el('p.second', null, say('push.privacy')), foot);
}

/** The present effect of the switch of this device. */
function effect(site, isOn) {
  if (!isOn) return say(site.server.vapid_key ? 'push.deviceHint' : 'push.now.noKey');
  if (canPush(site)) return say('push.now.on');
  return say(site.server.vapid_key ? 'push.now.noBrowser' : 'push.now.noKey');
}

/** A subscription ends with its session, so a user with too many signs out of one. */
async function report(error) {
  await loadMoreText();
  toast(error.code === 'too_many' ? say('push.tooMany', error.params) : sayProblem(error));
}

async function check(site) {
  const own = await turnOn(site);
  if (!own) return toast(say('push.outcome.unavailable'));
  const { outcome, detail } = await site.call('POST', `/me/push-subscriptions/${own.id}/test`);
  return toast([say(`push.outcome.${outcome}`), detail].filter(Boolean).join(' '));
}
