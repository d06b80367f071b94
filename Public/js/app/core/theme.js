// The look on this device: theme, density, direction; and the hue of the site.

import { hueTokens } from './hue.js';
import { useRegion } from './text/text.js';

const root = document.documentElement;

export function applyLook(preferences = remembered(), hue = Number(localStorage.getItem('hue') ?? 260)) {
  set('theme', ['light', 'dark'].includes(preferences.theme) ? preferences.theme : null);
  set('density', preferences.density === 'compact' ? 'compact' : null);
  const isRows = preferences.shape === 'rows' || preferences.density === 'compact';
  set('shape', isRows ? 'rows' : null);
  if (isRows) import('./rows.js').then(({ loadRows }) => loadRows(), () => {});
  const tokens = hueTokens(hue);
  for (const name of ['accent', 'accent-hover', 'accent-ink', 'accent-soft', 'own', 'own-deep']) {
    if (tokens) root.style.setProperty(`--${name}`, `light-dark(${tokens.light[name]}, ${tokens.dark[name]})`);
    else root.style.removeProperty(`--${name}`);
  }
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
  localStorage.setItem('hue', String(hue ?? 260));
  applyLook(preferences, hue);
  useRegion(preferences);
}

export function remembered() {
  try {
    return JSON.parse(localStorage.getItem('look') ?? '{}') ?? {};
  } catch {
    return {};
  }
}

function set(name, value) {
  if (value) root.dataset[name] = value;
  else delete root.dataset[name];
}
