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
 * A client's position: the history's epoch, the start of the server that named it (empty for older servers), and the last
 * event.
 * @param {string} cursor @returns {{ epoch: string, start: string, id: number }}
 */
export function readCursor(cursor) {
  const parts = cursor.split('.');
  return { epoch: parts[0], start: parts.length > 2 ? parts[1] : '', id: Number(parts[parts.length - 1]) };
}

/**
 * The cursor after a later event of the same connection.
 * @param {string} cursor @param {number} id
 */
export const moveCursor = (cursor, id) => `${cursor.slice(0, cursor.lastIndexOf('.'))}.${id}`;
