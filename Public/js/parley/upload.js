// Files: small ones in one request, large ones piece by piece, so that a cut connection costs one piece.

import { isUploaded } from './operations.js';
import { previewOf } from './preview.js';
import { Problem } from './problem.js';
import { backOff, wait } from './time.js';

/** Files up to this go in one request; pictures up to more, since only so their preview goes with them. */
const whole = 4 * 1024 * 1024;
const wholePicture = 16 * 1024 * 1024;
const piece = 4 * 1024 * 1024;
const maxTries = 8;
/** Losses of an upload, or of the uploaded files of a message, before the server's refusal counts. */
const maxLosses = 5;

/**
 * @param {import('./client.js').Client} client
 * @param {Blob & { name?: string }} blob
 * @param {{ name?: string, type?: string, signal?: AbortSignal, onProgress?: (sent: number, size: number) => void,
 *   clientId?: string, uploadId?: string, onUpload?: (id: string) => void | Promise<void> }} options
 *   `clientId` makes a repeated upload idempotent; `uploadId` resumes an upload; `onUpload` receives its id.
 * @returns {Promise<import('./api.js').StoredFile>}
 */
export async function upload(client, blob, options = {}) {
  const { signal, onProgress } = options;
  const type = options.type || blob.type || 'application/octet-stream';
  const name = options.name ?? blob.name ?? 'file';
  onProgress?.(0, blob.size);
  const preview = blob.size <= wholePicture && options.uploadId === undefined ? await previewOf(blob) : null;
  if (blob.size <= whole || preview) {
    const form = new FormData();
    if (options.clientId) form.append('client_id', options.clientId);
    if (preview) form.append('preview', preview, 'preview');
    form.append('file', new Blob([blob], { type }), name);
    const file = (await client.request('POST', '/files', { raw: form, signal })).body;
    onProgress?.(blob.size, blob.size);
    return file;
  }
  let id = options.uploadId;
  for (let losses = 0; ; losses++) {
    try {
      return await sendPieces(client, blob, name, { ...options, uploadId: id });
    } catch (error) {
      // A restored server has lost the upload, so it begins again.
      if (!(error instanceof Problem) || error.status !== 404 || losses === maxLosses) throw error;
      id = undefined;
    }
  }
}

/**
 * Uploads piece by piece, from where an earlier attempt ended.
 * @param {import('./client.js').Client} client @param {Blob} blob @param {string} name @param {Parameters<typeof upload>[2] & {}} options
 * @returns {Promise<import('./api.js').StoredFile>}
 */
async function sendPieces(client, blob, name, { signal, onProgress, clientId, uploadId, onUpload }) {
  let id = uploadId;
  let offset = id === undefined ? 0 : await reached(client, id, signal);
  if (id === undefined) {
    id = (await client.calls.createUpload({ body: { name, size: blob.size, client_id: clientId }, signal })).id;
    await onUpload?.(/** @type {string} */ (id));
  }
  for (let tries = 0; ; ) {
    onProgress?.(offset, blob.size);
    try {
      const answer = await client.request('PATCH', `/uploads/${id}`, {
        raw: blob.slice(offset, offset + piece),
        headers: { 'Content-Type': 'application/offset+octet-stream', 'Upload-Offset': String(offset) },
        signal,
      });
      tries = 0;
      if (answer.status === 201) {
        onProgress?.(blob.size, blob.size);
        return answer.body;
      }
      offset = Number(answer.headers.get('upload-offset') ?? offset + piece);
    } catch (error) {
      const mayGoOn = error instanceof Problem && (error.isTemporary || error.status === 409) && ++tries < maxTries;
      if (!mayGoOn) throw error;
      await wait(error.retryAfter ?? backOff(tries), signal);
      signal?.throwIfAborted();
      offset = await reached(client, /** @type {string} */ (id), signal);
    }
  }
}

/**
 * The number of bytes of an upload that the server has.
 * @param {import('./client.js').Client} client @param {string} id @param {AbortSignal} [signal]
 */
async function reached(client, id, signal) {
  return (await client.calls.getUpload({ id, signal })).offset;
}

/**
 * A message whose uploaded files a restored server has lost: they are uploaded again. Null if the server's refusal counts.
 * @param {import('./operations.js').Operation} op @param {Problem} problem
 */
export function withLostFiles(op, problem) {
  const { files, losses = 0 } = op;
  const isLost = problem.errors.some(({ field, code }) => field === 'attachments' && code === 'unknown');
  if (!isLost || losses === maxLosses || !isUploaded(op)) return null;
  return { ...op, files: files.map(({ upload_id: _, ...file }) => ({ ...file, file_id: null })), losses: losses + 1 };
}
