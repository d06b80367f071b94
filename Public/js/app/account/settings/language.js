// The choice of a language: on the device, and in the preferences of the account for its next devices. The server begins its
// pages in it; without a choice the browser's languages count.

import { keepLanguage, say } from '../../core/text/text.js';
import { toast } from '../../parts/overlays/toast.js';

/** The languages of the bundle; with `--dev` the page does not name them. */
const codes = () => document.querySelector('meta[name="languages"]')?.content.split(' ') ?? [document.documentElement.lang];

/** Codes and own names of the languages, by name. @returns {[string, string][]} */
export function languages() {
  const named = codes().map((code) => [code, nameOf(code)]);
  return named.sort(([, one], [, other]) => one.localeCompare(other));
}

function nameOf(code) {
  const name = new Intl.DisplayNames([code], { type: 'language' }).of(code) ?? code;
  return name[0].toLocaleUpperCase(code) + name.slice(1);
}

/** The language chosen on this device; null if the browser's languages count. */
export const chosenLanguage = () => localStorage.getItem('language');

/** Loads the app again in a language. The worker first replaces the cached page and texts, so that it starts in it offline. */
export async function useLanguage(code) {
  keepLanguage(code);
  const registration = await navigator.serviceWorker?.getRegistration();
  // A worker that is being installed has the page in the language of before.
  const worker = registration?.active ?? registration?.waiting ?? registration?.installing;
  if (!worker) return location.reload();
  const { port1, port2 } = new MessageChannel();
  port1.onmessage = ({ data }) => (data.isDone ? location.reload() : toast(say('problem.network')));
  return worker.postMessage({ do: 'translate' }, [port2]);
}

/** Takes the language of the account on a device without a choice. Returns whether the app has to load again in it. */
export function takeLanguage(code) {
  if (chosenLanguage() || !codes().includes(code)) return false;
  keepLanguage(code);
  return code !== document.documentElement.lang;
}
