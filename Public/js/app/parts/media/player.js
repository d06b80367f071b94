// Audio and video of a message, played in place. Nothing is fetched before the first press but the length.

import { el } from '../../core/dom.js';
import { bytes, say } from '../../core/text/text.js';

/** The formats that the server sends for display: with a decoder in every browser. */
const TYPES = new Set([
  'video/mp4', 'video/webm', 'video/ogg', 'audio/mpeg', 'audio/aac', 'audio/mp4', 'audio/ogg', 'audio/flac', 'audio/wav',
]);

export const isPlayable = (file) => TYPES.has(file.mime_type);

/** A player with the name, the size and a download. @param {object} file @param {string} href of its content */
export function player(file, href) {
  const kind = file.mime_type.split('/')[0];
  const label = say(`file.${kind}`, { name: file.name });
  return el(
    'figure.player',
    { class: `is-${kind}` },
    el(kind, { src: href, controls: true, preload: 'metadata', playsinline: true, aria: { label } }),
    el(
      'figcaption.second',
      null,
      el('a.one-line', { href, download: file.name }, el('bdi', null, file.name)),
      el('span', null, bytes(file.size)),
    ),
  );
}
