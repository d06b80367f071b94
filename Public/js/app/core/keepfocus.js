// Keeps the focus in a column whose rows are drawn again or removed, such as a list after an action on a row.

const STOPS = 'a[href], button:not([disabled]), input:not([disabled]), select:not([disabled]), textarea:not([disabled])';

/** Moves a lost focus to the equal node, or else to the same place: after a removed row it is the next one. */
export function keepFocus(column) {
  let held = null;
  let at = 0;
  const stops = () => [...column.querySelectorAll(STOPS)];
  const note = ({ target }) => {
    if (target === column) return;
    held = target;
    at = stops().indexOf(target);
  };
  const look = () => {
    if (!held || held.isConnected || !column.isConnected) return;
    // In a dialog, which gives it back.
    if (!document.activeElement?.contains(column)) return void document.addEventListener('focusin', look, { once: true });
    const all = stops();
    const equal = all.filter((it) => it.isEqualNode(held));
    const next = equal.length === 1 ? equal[0] : all.at(Math.min(at, all.length - 1));
    if (next) next.focus({ preventScroll: true });
  };
  column.addEventListener('focusin', note);
  new MutationObserver(look).observe(column, { childList: true, subtree: true });
}
