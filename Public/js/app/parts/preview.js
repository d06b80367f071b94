import { el, icon, safeAddress } from '../dom.js';
import { say } from '../text.js';

/** What stands behind a link: picture, title, host. One without TLS says so before it opens. */
export function linkPreview({ url, title, description, picture }) {
  const address = safeAddress(url);
  if (address === '#') return null;
  const { host, protocol } = new URL(address, location.origin);
  return el(
    'a.link-preview',
    { href: address, rel: 'noopener noreferrer nofollow', target: '_blank' },
    picture && el('img', { src: picture.url, alt: '', loading: 'lazy', width: 72, height: 72 }),
    el(
      'span.link-preview-words',
      null,
      el('strong.one-line', null, title || host),
      description && el('span.second', null, description),
      el(
        'span.mark',
        null,
        host,
        protocol === 'http:' && el('span.link-plain', null, icon('alert'), say('link.plain')),
      ),
    ),
  );
}
