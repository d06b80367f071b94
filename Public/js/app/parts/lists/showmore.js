// The foot of a list that has more to show.

import { say, sayProblem } from '../../core/text/text.js';
import { button, whileBusy } from '../forms/button.js';
import { toast } from '../overlays/toast.js';

/** A button that runs `load` for the next page. A failure is reported and can be retried. */
export function showMoreButton(load) {
  const node = button(say('list.more'), {
    on: () => whileBusy(node, load).catch((error) => toast(sayProblem(error))),
  });
  return node;
}
