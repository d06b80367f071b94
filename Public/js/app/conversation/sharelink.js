// The share dialog with one field. An address gets a link preview, fetched by the server; words search the site, and a
// found message is shared by its link.

import { upload } from '../../parley/upload.js';
import { el, refill } from '../core/dom.js';
import { button, whileBusy } from '../parts/forms/button.js';
import { dialog } from '../parts/overlays/dialog.js';
import { field } from '../parts/forms/field.js';
import { embed, linkPreview } from '../parts/message/preview.js';
import { plain } from '../core/text/plain.js';
import { conversationTitle } from '../core/titles.js';
import { isolate, say, sayProblem } from '../core/text/text.js';
import { moment, time } from '../core/text/times.js';
import { searchMessages } from '../state/messagesearch.js';

const PAUSE = 300;
const MAX_HITS = 8;
const HOST = /^(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]*[\p{L}\p{N}])?\.)+\p{L}{2,}(?::\d+)?(?:[/?#]\S*)?$/u;

/** The address that was meant, or null where these are words. Without a scheme it is one with TLS. */
export function addressIn(text) {
  const words = text.trim();
  if (/\s/.test(words)) return null;
  const meant = /^https?:\/\//i.test(words) ? words : HOST.test(words) ? `https://${words}` : null;
  try {
    return meant && new URL(meant).href;
  } catch {
    return null;
  }
}

/** @param {(draft: { text: string, annotations?: any[], attachments?: string[] }) => void} send */
export function shareLink(site, send) {
  let address = null;
  let turn = null;
  let timer = null;
  const input = field(say('share.field'), { hint: say('share.hint'), autocomplete: 'off' });
  const found = el('div.share-found', { aria: { live: 'polite' } });
  const share = button(say('share.verb'), { kind: 'primary', type: 'submit', disabled: true });
  const form = el('form.share', { id: 'share-form', on: { submit } }, input, found);
  share.setAttribute('form', 'share-form');
  input.input.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
    address = addressIn(input.input.value);
    share.disabled = !address;
  });
  // Without a selected link the form is not submitted; the search results get the focus.
  input.input.addEventListener('keydown', (event) => {
    if (event.key !== 'Enter' || address) return;
    event.preventDefault();
    found.querySelector('button')?.focus();
  });

  async function look() {
    const words = input.input.value.trim();
    const mine = (turn = {});
    const shown = address ? card(site, address) : words ? hits(words) : null;
    const node = await shown?.catch((error) => el('p.second', null, sayProblem(error)));
    if (turn === mine) refill(found, node);
  }

  async function hits(words) {
    const page = await searchMessages(site, { q: words, limit: MAX_HITS });
    const data = page.data.filter((it) => it.message);
    if (!data.length) return el('p.second', null, say('share.none', { words }));
    return [
      el('p.second', null, say('share.hits')),
      data.map(({ message }) =>
        el(
          'button.hit',
          { on: { click: () => choose(message) } },
          el('span.second', null, isolate(site.displayName(message.author_id)), ' · ', time(message.created_at, moment)),
          el('span', null, plain(message.text ?? '', 140)),
        ),
      ),
    ];
  }

  function choose(message) {
    input.input.value = `${location.origin}/m/${message.id}`;
    address = input.input.value;
    share.disabled = false;
    look();
    input.input.focus();
  }

  async function submit(event) {
    event.preventDefault();
    const text = address;
    await whileBusy(share, async () => send({ text, ...(await carried(site, text)) }));
    return node.close();
  }

  const node = dialog(say('share.title'), form, {
    actions: [button(say('act.cancel'), { on: () => node.close() }), share],
    onClose: () => clearTimeout(timer),
  });
  input.input.focus();
  return node;
}

const isHere = (address) => new URL(address).origin === location.origin;

/** Returns the link preview of an address; null if it is unavailable. */
async function behind(site, address) {
  if (site.server.link_previews === false) return null;
  return site.call('POST', '/previews', { body: { url: address }, tries: 1 }).catch(() => null);
}

async function card(site, address) {
  if (isHere(address)) return linkPreview({ url: address, ...(await messageBehind(site, address)) });
  const seen = await behind(site, address);
  return [
    linkPreview({ ...seen, url: address }),
    !seen && site.server.link_previews !== false && el('p.second', null, say('share.unseen')),
  ];
}

/** The card of a message of this site. It is shown to the sharing user only: readers may lack access to the message. */
async function messageBehind(site, address) {
  const id = /^\/m\/(\d+)$/.exec(new URL(address).pathname)?.[1];
  const message = id && (await site.call('GET', `/messages/${id}`, { tries: 1 }).catch(() => null));
  if (!message) return null;
  const conversation = await site.conversation(message.conversation_id).catch(() => null);
  return { title: conversation && conversationTitle(site, conversation), description: plain(message.text ?? '', 140) };
}

/** The annotation of a shared link: its preview, with the picture as an uploaded file, so that readers send no request to the page. */
async function carried(site, address) {
  if (isHere(address)) return {};
  const seen = await behind(site, address);
  if (!seen?.title && !seen?.picture) return {};
  const picture = seen.picture && (await copied(site, seen).catch(() => null));
  return {
    annotations: [embed(address, seen, picture)],
    ...(picture ? { attachments: [picture.id] } : {}),
  };
}

async function copied(site, { picture, title, url }) {
  const answer = await fetch(picture.url);
  if (!answer.ok) return null;
  return upload(site.client, await answer.blob(), { name: title || new URL(url).host, type: picture.mime_type });
}
