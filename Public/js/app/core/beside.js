/**
 * Places a fixed node below its anchor, or above it without room, inside the window. It begins at the anchor's edge that
 * is nearer to the edge of the window, and extends to the middle.
 */
export function placeBeside(node, anchor) {
  const box = anchor.getBoundingClientRect();
  const { width, height } = node.getBoundingClientRect();
  const gap = 4;
  const wanted = box.left + box.width / 2 < innerWidth / 2 ? box.left : box.right - width;
  const x = Math.max(gap, Math.min(wanted, innerWidth - width - gap));
  const below = box.bottom + gap + height <= innerHeight;
  const y = below ? box.bottom + gap : Math.max(gap, box.top - gap - height);
  node.style.left = `${x}px`;
  node.style.top = `${y}px`;
}
