// Comparison of ids and cursors.

/**
 * Ids are decimal texts that grow with time: by length, then as text.
 * @param {string} a @param {string} b
 */
export const compareIds = (a, b) => a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyz';

/** Returns a new `client_id` with 129 random bits. `crypto.randomUUID` needs a secure context; this does not. */
export function newClientId() {
  let id = '';
  // 252 is the largest multiple of 36 in a byte: larger values would bias the letters.
  while (id.length < 25) {
    for (const byte of crypto.getRandomValues(new Uint8Array(32))) {
      if (byte < 252 && id.length < 25) id += alphabet[byte % 36];
    }
  }
  return id;
}

/**
 * A client's position: the history's epoch, and the last event.
 * @param {string} cursor @returns {{ epoch: string, id: number }}
 */
export function readCursor(cursor) {
  const dot = cursor.lastIndexOf('.');
  return { epoch: cursor.slice(0, dot), id: Number(cursor.slice(dot + 1)) };
}
