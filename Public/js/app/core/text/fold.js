// Names as they are compared with typed words: without case and accents.

export const fold = (text) =>
  String(text ?? '')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .trim();

/** Whether a name has the typed words. Without words every name has. */
export const fits = (name, words) => fold(name).includes(fold(words));
