// The app begins here: text, place, shell, first page.

import { applyLook } from './look.js';
import { Place } from './place.js';
import { loadText } from './text.js';
import { Shell } from './shell.js';

const place = new Place();
applyLook();
try {
  await Promise.all([loadText(localStorage.getItem('language') ?? 'en'), place.open()]);
} catch (error) {
  place.fault = error;
}
const shell = new Shell(place);
shell.start();

// Once the first page stands: what comes later must not make it wait.
const later = window.requestIdleCallback ?? ((work) => setTimeout(work, 1_000));
later(() => import('./worker.js').then(({ keepApp }) => keepApp(shell)).catch(() => {}));
