// The icon: an address or an uploaded picture. A tile shows the forum as it will look.

import { el, refill } from '../../core/dom.js';
import { iconOf } from '../../core/pictures/identicons.js';
import { say } from '../../core/text/text.js';
import { forumIcon } from '../../core/titles.js';
import { field } from '../../parts/forms/field.js';
import { pictureField } from '../../parts/forms/picture.js';
import { tile } from '../../parts/lists/tile.js';

/** `names` returns the current title and description. `onChange` is called when the icon changes. */
export function iconFields(site, forum, names, onChange) {
  const icon = field(say('forum.icon'), {
    value: forum?.icon_url ?? '',
    type: 'url',
    hint: say('forum.iconHint'),
    placeholder: 'https://',
    on: {
      input: () => {
        upload.forget();
        check();
      },
    },
  });
  const upload = pictureField(say('forum.ownPicture'), {
    maxBytes: site.server.limits.file_bytes,
    on: (address) => {
      if (address) {
        icon.input.value = '';
        check();
      }
      onChange();
    },
  });
  const preview = el('div.forum-preview');
  let picture = forum ? forumIcon(forum) : null;
  let isValid = true;
  let timer = null;
  const addressNow = () => icon.input.value.trim();

  /** The picture of a new address has to load before the form can be saved. */
  function check() {
    clearTimeout(timer);
    const address = addressNow();
    icon.setFault(null);
    picture = address ? picture : null;
    isValid = !address || address === forum?.icon_url;
    onChange();
    if (isValid) return;
    timer = setTimeout(async () => {
      const isGood = await isImage(site, address);
      if (address !== addressNow()) return;
      isValid = isGood;
      icon.setFault(isGood ? null : say('forum.iconBad'));
      onChange();
    }, 400);
  }

  return {
    upload,
    fields: { icon_url: icon },
    // Without link previews the server does not look at addresses.
    nodes: [(site.server.link_previews !== false || forum?.icon_url) && icon, upload, el('p.field-label', null, say('forum.look')), preview],
    isValid: () => isValid,
    draw() {
      const { title, description } = names();
      refill(
        preview,
        tile(
          {
            title: title || say('forum.title'),
            description,
            icon: upload.address ?? picture ?? iconOf(title.trim()),
            icon_url: upload.address ?? addressNow(),
            icon_file: picture && forum?.icon_file,
          },
          { href: '#', creator: site.me },
        ),
      );
      preview.firstChild.inert = true;
    },
    /** An uploaded icon wins over an address; entering an address removes the upload. */
    async values() {
      const address = addressNow();
      const url = address || forum?.icon_url ? { icon_url: address || null } : {};
      if (upload.file) return { ...url, icon_file: await upload.send(site.client) };
      return address && forum?.icon_file ? { ...url, icon_file: null } : url;
    },
  };
}

/** The server looks: this page may load pictures from nowhere else. */
async function isImage(site, address) {
  if (!/^https?:\/\//.test(address)) return false;
  try {
    const found = await site.call('POST', '/previews', { body: { url: address } });
    return found.image === true;
  } catch (error) {
    // No answer about the address: the server checks when the forum is saved.
    return error.errors?.[0]?.field !== 'url';
  }
}
