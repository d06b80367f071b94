// The foot of a list that has more to show.

import { button, whileBusy } from '../parts/button.js';
import { toast } from '../parts/toast.js';
import { say, sayProblem } from './text.js';

/** `load` fetches and draws what follows. What went wrong is said, and it can be asked for again. */
export function showMoreButton(load) {
  const node = button(say('list.more'), {
    on: () => whileBusy(node, load).catch((error) => toast(sayProblem(error))),
  });
  return node;
}
