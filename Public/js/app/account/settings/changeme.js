// A change of the own account from the settings.

import { sayProblem } from '../../core/text/text.js';
import { toast } from '../../parts/overlays/toast.js';

let last = Promise.resolve();

/** Changes preferences, one change after the other: the account replaces all of them at once. */
export function changePreferences(site, more) {
  return (last = last.catch(() => {}).then(() => site.updateMe({ preferences: { ...site.me.preferences, ...more } })));
}

/** Saves at once and reports errors. */
export async function changeMe(shell, body) {
  const { site } = shell;
  try {
    await site.updateMe(body);
  } catch (error) {
    toast(sayProblem(error));
    throw error;
  }
}
