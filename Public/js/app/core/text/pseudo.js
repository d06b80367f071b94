// The pseudo-locale en-XA, for checks of the pages.

/** English with accents and a third longer, to reveal untranslated and truncated texts. */
export function pseudo(table) {
  const accents = {
    a: 'à',
    e: 'é',
    i: 'î',
    o: 'ö',
    u: 'ü',
    c: 'ç',
    n: 'ñ',
    y: 'ý',
    A: 'Å',
    E: 'É',
    I: 'Î',
    O: 'Ö',
    U: 'Ü',
  };
  const bend = (text) => {
    const bent = text.replace(/\{\w+\}|[aeioucnyAEIOU]/g, (it) => accents[it] ?? it);
    return `⟦${bent}${'~'.repeat(Math.ceil(text.length / 3))}⟧`;
  };
  return Object.fromEntries(
    Object.entries(table).map(([key, value]) => [
      key,
      typeof value === 'string' ? bend(value) : Object.fromEntries(Object.entries(value).map(([k, v]) => [k, bend(v)])),
    ]),
  );
}
