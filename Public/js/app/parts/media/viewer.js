import { el, icon } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { iconButton } from '../forms/button.js';

/** Opens the pictures behind these links, one of them first. */
export function viewLinks(links, first) {
  viewer(links.map((it) => ({ href: it.getAttribute('href'), name: it.dataset.name, description: it.querySelector('img').alt })), links.indexOf(first));
}

/** The image viewer: one image at a time, in the size of the window. Only it loads originals. */
export function viewerElement(pictures, at = 0, on = {}) {
  const picture = pictures[at];
  return el(
    'div.viewer',
    null,
    el(
      'header.viewer-head',
      null,
      el('span.one-line', { dir: 'auto' }, picture.name),
      el(
        'a.icon-button',
        {
          href: picture.href,
          download: picture.name,
          aria: { label: say('act.download') },
          title: say('act.download'),
        },
        icon('download'),
      ),
      iconButton('close', say('act.close'), { on: on.close }),
    ),
    el('img.viewer-picture', { src: picture.href, alt: picture.description ?? picture.name ?? '' }),
    // Spoken as the name of the picture.
    picture.description && picture.description !== picture.name && el('p.viewer-words', { dir: 'auto', aria: { hidden: 'true' } }, picture.description),
    pictures.length > 1 &&
      el(
        'footer.viewer-foot',
        null,
        iconButton('back', say('viewer.back'), { on: on.back, disabled: at === 0 }),
        el('span.count', null, say('viewer.of', { at: at + 1, of: pictures.length })),
        iconButton('onward', say('viewer.onward'), { on: on.onward, disabled: at === pictures.length - 1 }),
      ),
  );
}

export function viewer(pictures, at = 0) {
  const before = document.activeElement;
  const node = el('dialog.viewer-dialog', { aria: { label: say('viewer.title') } });
  const show = (to) => {
    at = Math.max(0, Math.min(pictures.length - 1, to));
    node.replaceChildren(
      viewerElement(pictures, at, {
        close: () => node.close(),
        back: () => show(at - 1),
        onward: () => show(at + 1),
      }),
    );
  };
  node.addEventListener('keydown', (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (by) show(at + (getComputedStyle(node).direction === 'rtl' ? -by : by));
  });
  node.addEventListener('close', () => {
    node.remove();
    before?.focus?.();
  });
  show(at);
  document.body.append(node);
  node.showModal();
}
