// A change of the own account from the settings.

import { sayProblem } from '../../core/text/text.js';
import { toast } from '../../parts/overlays/toast.js';

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
