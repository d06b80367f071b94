// Orders of ids and versions.

/** Number by number: 0.10 is newer than 0.9. */
export function compareVersions(a, b) {
  const [one, other] = [a, b].map((it) => it.split('.').map(Number));
  for (let at = 0; at < Math.max(one.length, other.length); at++) {
    const difference = (one[at] || 0) - (other[at] || 0);
    if (difference) return difference;
  }
  return 0;
}

/** Ids: by length, then as text. */
export function compare(a, b) {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}
