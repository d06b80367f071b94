// Rows of unsent messages, as views show them.

import { sayProblem } from '../core/text/text.js';

/** The id of the row of an unsent message; the sent message has its client id. */
export const unsentID = (client) => `w-${client}`;

/**
 * The row of an unsent message.
 * @param {object} message as it will be
 * @param {import('../../parley/outbox.js').Operation[]} operations the one that sends it, then its changes
 * @param {(file: string) => number} progress of the upload of a file, from 0 to 1
 */
export function unsentRow(message, operations, progress = () => 0) {
  const [{ id, state, files }] = operations;
  const failed = operations.find((it) => it.state === 'failed');
  return {
    ...message,
    id: unsentID(id),
    operation: id,
    state: state === 'failed' ? 'failed' : 'waiting',
    attachments: [],
    uploads: files?.map((it) => ({ id: it.id, name: it.name, size: it.size, progress: it.file_id ? 1 : progress(it.id) })),
    ...(failed ? { fault: sayProblem(failed.reason) } : {}),
  };
}
