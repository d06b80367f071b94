import { el } from '../../core/dom.js';
import { faceOf } from '../../core/pictures/identicons.js';
import { say } from '../../core/text/text.js';
import { button } from './button.js';
import { pictureField } from './picture.js';

/** Twice the size of the largest displayed avatar. */
const SIDE = 256;

/** An avatar field: the generated picture of the name until the user selects an image. */
export function faceField(name, { maxBytes } = {}) {
  const picture = el('img.avatar.avatar-face', { alt: '', width: 64, height: 64 });
  const draw = () => {
    picture.src = own.address ?? faceOf(name().trim());
    drawn.hidden = !own.address;
  };
  const own = pictureField(say('profile.picture'), { maxBytes, prepare: squared, on: () => draw() });
  const drawn = button(say('face.drawn'), { kind: 'quiet', on: () => own.forget() });
  own.choices.append(drawn);
  draw();
  return Object.assign(el('div.face-field', null, picture, own), {
    draw,
    /** Uploads the selected image after sign-up. */
    keep: async (client) => {
      const file = await own.send(client);
      if (file) await client.calls.setAvatar({ id: 'me', body: { file } });
    },
  });
}

/** Crops an image to a small square. An image that the browser cannot decode stays unchanged. */
export async function squared(file) {
  const bitmap = await createImageBitmap(file).catch(() => null);
  if (!bitmap) return file;
  const side = Math.min(bitmap.width, bitmap.height);
  const canvas = Object.assign(document.createElement('canvas'), { width: Math.min(SIDE, side), height: Math.min(SIDE, side) });
  const [left, top] = [(bitmap.width - side) / 2, (bitmap.height - side) / 2];
  canvas.getContext('2d').drawImage(bitmap, left, top, side, side, 0, 0, canvas.width, canvas.height);
  bitmap.close();
  const small = await new Promise((resolve) => canvas.toBlob(resolve, 'image/webp', 0.9));
  return small ? new File([small], file.name, { type: small.type }) : file;
}
