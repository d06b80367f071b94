// The look on this device: theme, density, direction; and the hue of the site.

import { useRegion } from './text/text.js';

const root = document.documentElement;
/** The hue that the tokens are drawn in. */
const USUAL_HUE = 260;
const accents = new CSSStyleSheet();
document.adoptedStyleSheets = [accents];
let wanted;

export function applyLook(preferences = remembered(), hue = Number(localStorage.getItem('hue') ?? USUAL_HUE)) {
  set('theme', ['light', 'dark'].includes(preferences.theme) ? preferences.theme : null);
  set('density', preferences.density === 'compact' ? 'compact' : null);
  // Tooltips show no single letters.
  set('letters', preferences.letters === false ? 'off' : null);
  const isRows = preferences.shape === 'rows' || preferences.density === 'compact';
  set('shape', isRows ? 'rows' : null);
  if (isRows) import('./rows.js').then(({ loadRows }) => loadRows(), () => {});
  tint(hue);
}

/** Sets the colours of the site's hue. They are kept, so that the first paint needs no module that computes them. */
function tint(hue) {
  const isUsual = hue === USUAL_HUE || !Number.isFinite(hue);
  const kept = isUsual ? '' : localStorage.getItem('accents');
  wanted = hue;
  if (isUsual || kept?.startsWith(`/*${hue}*/`)) return accents.replaceSync(kept);
  return import('./hue.js').then(({ accentsOf }) => {
    localStorage.setItem('accents', accentsOf(hue));
    if (wanted === hue) accents.replaceSync(accentsOf(hue));
  }, () => {});
}

/** The minimum, usual and maximum width beside the page, in pixels. */
export const widths = { min: 220, usual: 264, max: 340 };

/** Sets the sidebar width; default: the stored one. @returns {number} The width. */
export function keepWidth(width = Number(localStorage.getItem('sidebar')) || widths.usual) {
  const kept = Math.round(Math.min(widths.max, Math.max(widths.min, width)));
  localStorage.setItem('sidebar', String(kept));
  root.style.setProperty('--sidebar', `${kept / 16}rem`);
  return kept;
}

/** Kept on the device too, so that the first paint is right. */
export function rememberLook(preferences, hue) {
  const { theme, density, shape, region, clock } = preferences;
  localStorage.setItem('look', JSON.stringify({ theme, density, shape, region, clock }));
  localStorage.setItem('hue', String(hue ?? USUAL_HUE));
  applyLook(preferences, hue);
  useRegion(preferences);
}

export const remembered = () => kept('look');

/** Preferences that the account does not have yet: a page may be left before the answer. */
export const unsaved = () => kept('unsaved');

function kept(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}

function set(name, value) {
  if (value) root.dataset[name] = value;
  else delete root.dataset[name];
}
