// Operations that the server has refused.

import { say, sayProblem } from '../core/text/text.js';
import { toast } from '../parts/overlays/toast.js';

/**
 * Shows why an operation was refused, and ends it. A refused message shows it in its own row, unless a moderator reviews it:
 * then it has left the outbox. The text of an edit can be copied.
 */
export function showRefusal(site, { operation, problem }) {
  if (operation.kind === 'send' && problem.code !== 'held_for_review') return;
  const text = operation.kind === 'edit' && operation.body.text;
  // A refused read position is nothing that the user has done.
  if (operation.kind !== 'read') toast(sayProblem(problem), text ? { stays: true, action: say('act.copy'), act: () => navigator.clipboard.writeText(text) } : {});
  site.parley?.cancel(operation.id);
}
