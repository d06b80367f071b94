// The app begins here: text, place, shell, first page.

import { applyLook } from './core/theme.js';
import { SiteState } from './state/site.js';
import { loadText } from './core/text.js';
import { Shell } from './shell.js';

const site = new SiteState();
applyLook();
try {
  await Promise.all([loadText(localStorage.getItem('language') ?? 'en'), site.open()]);
} catch (error) {
  site.fault = error;
}
const shell = new Shell(site);
shell.start();

// Once the first page stands: what comes later must not make it wait.
const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 1_000));
later(() => import('./core/installation.js').then(({ keepApp }) => keepApp(shell)).catch(() => {}));
