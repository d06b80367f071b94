// The offer of notifications on this device, above the composer.

import { el } from '../core/dom.js';
import { loadMoreText, say, sayProblem } from '../core/text/text.js';
import { setDevice } from '../account/notifications/push.js';
import { banner } from '../parts/navigation/banner.js';
import { toast } from '../parts/overlays/toast.js';

const OFFERED = 'offered';

/** Shows the offer until it is answered or the page closes, once on a device. @param {HTMLElement} field the composer */
export async function offer({ site }, field) {
  if (localStorage.getItem(OFFERED)) return;
  localStorage.setItem(OFFERED, '1');
  await loadMoreText();
  const verb = (words, click) => el('button.text-button', { on: { click } }, words);
  const close = () => {
    node.remove();
    field.focusUnlessTouch();
  };
  const turnOn = async () => {
    close();
    // A browser that refuses has told the user.
    await setDevice(site, true).catch((error) => error.code && toast(sayProblem(error)));
  };
  const node = banner(say('offer.notifications'), { actions: [verb(say('offer.turnOn'), turnOn), verb(say('offer.notNow'), close)] });
  field.before(node);
}
