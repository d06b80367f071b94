// Sign-in with a passkey: a button, and an offer in the autofill of the name.

import { say } from '../../core/text/text.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { canUsePasskeys, offerPasskeys, signInByPasskey } from './passkey.js';

/** Adds both to the sign-in page that `make` returns for the button; it is null in a browser without passkeys. */
export function passkeySignIn(site, device, enter, make) {
  if (!canUsePasskeys()) return make(null);
  let offer = new AbortController();
  const start = () => {
    offer = new AbortController();
    offerPasskeys(site, device, offer.signal).then((user) => user && enter(user)).catch((error) => {
      // Without an answer of a passkey there is nothing to tell: the button is left.
      if (error.status === 400 || error.status === 403) page.tell(error);
      if (error.status === 400) start();
    });
  };
  const ask = async () => {
    // A browser runs one request at a time.
    offer.abort();
    try {
      await enter(await signInByPasskey(site, device));
    } catch (error) {
      page.tell(error);
      start();
    }
  };
  const verb = button(say('signIn.passkey'), { picture: 'key', wide: true, on: () => whileBusy(verb, ask) });
  const page = make(verb);
  return {
    ...page,
    shown: () => {
      page.shown();
      start();
    },
    close: () => offer.abort(),
  };
}
