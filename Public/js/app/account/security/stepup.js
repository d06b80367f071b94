// Errors of operations that need a proof.

import { sayProblem } from '../../core/text/text.js';
import { toast } from '../../parts/overlays/toast.js';

/** Reports an error, except that the user has cancelled the proof. */
export const report = (error) => error.code !== 'step_up_required' && toast(sayProblem(error));
