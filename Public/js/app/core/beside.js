/** The distance from the anchor and from the edges of the window, in pixels. */
const GAP = 4;

/**
 * Places a fixed node below its anchor, or above it without room, inside the window. It begins at the anchor's edge that
 * is nearer to the edge of the window, and extends to the middle.
 */
export function placeBeside(node, anchor) {
  const box = anchor.getBoundingClientRect();
  const { width, height } = node.getBoundingClientRect();
  const wanted = box.left + box.width / 2 < innerWidth / 2 ? box.left : box.right - width;
  const x = Math.max(GAP, Math.min(wanted, innerWidth - width - GAP));
  const below = box.bottom + GAP + height <= innerHeight;
  const y = below ? box.bottom + GAP : Math.max(GAP, box.top - GAP - height);
  node.style.left = `${x}px`;
  node.style.top = `${y}px`;
}

/** Moves a node that has grown no further than the edge of the window, so that its buttons stay under the pointer. */
export function keepInside(node) {
  const { top, height } = node.getBoundingClientRect();
  node.style.top = `${Math.max(GAP, Math.min(top, innerHeight - height - GAP))}px`;
}
