// The completion of words, loaded with the first sign that begins one.

import { el } from '../../core/dom.js';

const SIGN = /[@#:/]/;

/** Takes the arguments of `completion`. */
export function completionSlot(...about) {
  const node = el('div.composer-completion');
  let [words, loading] = [null, null];
  return {
    node,
    update() {
      if (words) return words.update();
      // Later letters wait for the same module.
      if (SIGN.test(about[0].value)) {
        loading ??= import('./completion.js').then(
          (it) => (words = it.completion(node, ...about)).update(),
          () => (loading = null),
        );
      }
      return loading;
    },
    press: (event) => !!words?.press(event),
    close: () => words?.close(),
  };
}
