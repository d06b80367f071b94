import { el, icon, safeAddress } from '../../core/dom.js';
import { say } from '../../core/text/text.js';

/** The annotation type of embedded content; link cards have the oEmbed type `link` (oembed.com §2.3.4.4). */
const EMBED = 'net.app.core.oembed';
/** An author can hang many on a message; so many are drawn. */
const MAX = 3;
const TITLE = 200;
const DESCRIPTION = 300;

/** A link card: picture, title, host. A link without TLS asks before it opens. */
export function linkPreview({ url, title, description, picture }) {
  const address = safeAddress(url);
  if (address === '#') return null;
  const { host, protocol } = new URL(address, location.origin);
  return el(
    'a.link-preview',
    { href: address, rel: 'noopener noreferrer nofollow ugc', target: '_blank' },
    picture && el('img', { src: picture.url, alt: '', loading: 'lazy', width: 72, height: 72 }),
    el(
      'span.link-preview-words',
      null,
      el('strong.one-line', { dir: 'auto' }, title || host),
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

/** The preview in the form of a message's embed. @param {object|null} file the picture */
export function embed(url, { title, description, site_name: site }, file) {
  return {
    type: EMBED,
    value: {
      version: '1.0',
      type: 'link',
      embeddable_url: url,
      ...(title ? { title: cut(title, TITLE) } : {}),
      ...(description ? { description: cut(description, DESCRIPTION) } : {}),
      ...(site ? { provider_name: cut(site, TITLE) } : {}),
      ...(file ? { file_id: file.id } : {}),
    },
  };
}

/** The link cards of a message. Their content comes from the author, so each card shows its host. */
export function embedsOf(message) {
  return (message.annotations ?? [])
    .filter(({ type, value }) => type === EMBED && value?.type === 'link' && isWeb(value.embeddable_url))
    .slice(0, MAX)
    .map(({ value }) => ({
      url: value.embeddable_url,
      title: cut(value.title, TITLE),
      description: cut(value.description, DESCRIPTION),
      file: typeof value.file_id === 'string' && message.attachments?.includes(value.file_id) ? value.file_id : null,
    }));
}

const isWeb = (url) => typeof url === 'string' && /^https?:\/\//i.test(url) && URL.canParse(url);
const cut = (words, max) => (typeof words === 'string' ? [...words.trim()].slice(0, max).join('') : '');
