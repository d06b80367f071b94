import { el, icon } from '../../core/dom.js';
import { bytes, say } from '../../core/text/text.js';
import { iconButton } from '../forms/button.js';

/** A file: on its way (with progress and a way to stop it), failed, or there to be opened. */
export function attachment(file, { progress, failed, onDescribe, onRemove, onRetry, href } = {}) {
  const isUnderway = progress !== undefined && progress < 1 && !failed;
  return el(
    'div.attachment',
    { class: failed ? 'is-failed' : '' },
    file.picture
      ? el('img.attachment-picture', { src: file.picture, alt: '', width: 40, height: 40 })
      : el('span.attachment-icon', null, icon(failed ? 'alert' : 'file')),
    el(
      'span.attachment-words',
      null,
      href ? el('a.one-line', { href, download: file.name, dir: 'auto' }, file.name) : el('span.one-line', { dir: 'auto' }, file.name),
      failed
        ? el('span.attachment-fault', null, failed)
        : el(
            'span.mark.one-line',
            null,
            file.description || (isUnderway ? say('file.sending', { percent: Math.round(progress * 100) }) : file.size === undefined ? '' : bytes(file.size)),
          ),
    ),
    isUnderway && progressBar(progress, say('file.progress', { name: file.name })),
    failed && onRetry && iconButton('again', say('act.retry'), { on: onRetry }),
    onDescribe && iconButton('edit', say('picture.describe'), { on: onDescribe }),
    onRemove && iconButton('close', say('file.remove', { name: file.name }), { on: onRemove }),
  );
}

export function progressBar(part, label) {
  return el('progress.progress', { max: 1, value: part, aria: { label } });
}
