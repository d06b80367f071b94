// A change of the own account from the settings.

import { sayProblem } from '../../core/text/text.js';
import { unsaved } from '../../core/theme.js';
import { toast } from '../../parts/overlays/toast.js';

let last = Promise.resolve();

/** Changes preferences, one change after the other: the account replaces all of them at once. Until its answer the device keeps them. */
export function changePreferences(site, more) {
  keep({ ...unsaved(), ...more });
  return (last = last.catch(() => {}).then(() => save(site, more)));
}

/** Saves what an earlier page has left unsaved. */
export const saveAgain = (site) => changePreferences(site, unsaved());

async function save(site, more) {
  try {
    const all = Object.entries({ ...site.me.preferences, ...more }).filter(([, value]) => value !== null);
    await site.updateMe({ preferences: Object.fromEntries(all) });
  } catch (error) {
    if (error.isTemporary) throw error;
    drop(more);
    throw error;
  }
  drop(more);
}

/** Forgets what the account has, or refuses. A newer change stays. */
function drop(more) {
  const isSame = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
  keep(Object.fromEntries(Object.entries(unsaved()).filter(([name, value]) => !(name in more && isSame(value, more[name])))));
}

/** `null` stands for the end of a preference. */
function keep(preferences) {
  if (Object.keys(preferences).length) localStorage.setItem('unsaved', JSON.stringify(preferences, (_, value) => value ?? null));
  else localStorage.removeItem('unsaved');
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
