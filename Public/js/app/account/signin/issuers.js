// Sign-in at OpenID providers: links to the server's own address, which lead there and back.

import { el, icon } from '../../core/dom.js';
import { isolate, say } from '../../core/text/text.js';

/** A link for each provider. @param more of the address: the page to return to, an invite */
export const issuerLinks = ({ server }, more) =>
  server.issuers.map(({ id, name }) =>
    el(
      'a.button.button-plain.button-wide',
      { href: `/oidc/${id}?${new URLSearchParams(more)}` },
      icon('onward'),
      el('span', null, say('signIn.with', { name: isolate(name) })),
    ),
  );

/** The challenge of a sign-in at a provider whose user has a second factor here. The address loses it. */
export function takeChallenge() {
  const challenge = /^#challenge=([\w.]+)$/.exec(location.hash)?.[1];
  if (challenge) history.replaceState(history.state, '', location.pathname + location.search);
  return challenge;
}
