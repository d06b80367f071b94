// The entry point: loads texts, state and shell, and shows the first page. The bundler puts these modules and all that
// they import into one script, which every other script imports.

import { applyLook, remembered } from './core/theme.js';
import { SiteState } from './state/site.js';
import { keepLanguage, loadText, useRegion } from './core/text/text.js';
import { keepApp } from './shell/installation.js';
import { Shell } from './shell/shell.js';
// A small module of several pages: apart it would cost a request.
import './parts/navigation/tabs.js';

start();

// The library closes the cache of a page that is left. A page that the browser shows again needs it.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload());

/** Not at the top level: a script that is loaded meanwhile would wait for this one. */
async function start() {
  const site = new SiteState();
  const language = localStorage.getItem('language');
  applyLook();
  // Some browsers keep a script's cookie for a week only.
  if (language) keepLanguage(language);
  try {
    await Promise.all([loadText(language ?? document.documentElement.lang).then(() => useRegion(remembered())), site.open()]);
  } catch (error) {
    site.fault = error;
  }
  const shell = new Shell(site);
  shell.start();

  // After the first page, so that later work does not delay it.
  const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 1_000));
  later(() => keepApp(shell).catch(() => {}));
  addEventListener('click', () => import('./shell/activityline.js').then((it) => it.showActivity(site), () => {}), { once: true });
}
