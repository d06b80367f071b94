// The entry point: loads texts, state and shell, and shows the first page.

import { applyLook } from './core/theme.js';
import { SiteState } from './state/site.js';
import { loadText } from './core/text.js';
import { Shell } from './shell/shell.js';

const site = new SiteState();
applyLook();
try {
  await Promise.all([loadText(localStorage.getItem('language') ?? 'en'), site.open()]);
} catch (error) {
  site.fault = error;
}
const shell = new Shell(site);
shell.start();

// After the first page, so that later work does not delay it.
const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 1_000));
later(() => import('./core/installation.js').then(({ keepApp }) => keepApp(shell)).catch(() => {}));
