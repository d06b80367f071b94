// Time zones to choose from.

import { el } from '../../core/dom.js';

export const ownZone = () => new Intl.DateTimeFormat().resolvedOptions().timeZone;

/** The zones of the browser, each as a value and a label. */
export const zoneOptions = () =>
  [...new Set([ownZone(), ...(Intl.supportedValuesOf?.('timeZone') ?? [])])].sort().map((it) => [it, it.replaceAll('_', ' ')]);

/** Selects a zone, which the browser may not know. */
export function selectZone(select, name) {
  if (![...select.options].some((it) => it.value === name)) select.append(el('option', { value: name }, name));
  select.value = name;
}
