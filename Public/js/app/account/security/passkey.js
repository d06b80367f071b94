// The browser's part of passkeys (WebAuthn): options and answers as JSON, and its errors in words.

import { say } from '../../core/text/text.js';

/** Whether the browser makes passkeys at this address: a secure one with a host name. */
export const canUsePasskeys = () => Boolean(globalThis.PublicKeyCredential) && !/^\[|^[\d.]+$/.test(location.hostname);

const toBytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (it) => it.charCodeAt(0));

const toText = (buffer) =>
  buffer && btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');

const listed = (credentials) => credentials.map((it) => ({ ...it, id: toBytes(it.id) }));

/** For browsers without `parseCreationOptionsFromJSON`. */
export const creationOptions = (json) => ({
  ...json,
  challenge: toBytes(json.challenge),
  user: { ...json.user, id: toBytes(json.user.id) },
  excludeCredentials: listed(json.excludeCredentials),
});

/** For browsers without `parseRequestOptionsFromJSON`. */
export const requestOptions = (json) => ({
  ...json,
  challenge: toBytes(json.challenge),
  allowCredentials: listed(json.allowCredentials),
});

/** The members that the server reads, for browsers whose credentials have no `toJSON`. */
export function answerOf({ id, response }) {
  const members = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const read = members.filter((it) => response[it]).map((it) => [it, toText(response[it])]);
  const transports = response.getTransports?.();
  return { id, response: { ...Object.fromEntries(read), ...(transports ? { transports } : {}) } };
}

/** Runs a ceremony of the browser. Its errors get sentences, except for the end of it by the app. */
async function ceremony(work, host) {
  try {
    const credential = await work();
    return credential.toJSON?.() ?? answerOf(credential);
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    const keys = { InvalidStateError: 'passkeys.exists', SecurityError: 'passkeys.wrongAddress' };
    throw Object.assign(error, { sentence: say(keys[error.name] ?? 'passkeys.cancelled', { host }) });
  }
}

/** Makes a passkey on this device or another one, and adds it to the account. */
export async function addPasskey(site) {
  const options = await site.call('POST', '/me/passkeys/options');
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON?.(options) ?? creationOptions(options);
  const credential = await ceremony(() => navigator.credentials.create({ publicKey }), options.rp.id);
  return site.call('POST', '/me/passkeys', { body: { credential } });
}

/** The answer of a passkey to options of the server. @param more of the request to the browser */
async function answer(options, more) {
  const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON?.(options) ?? requestOptions(options);
  return ceremony(() => navigator.credentials.get({ publicKey, ...more }), options.rpId);
}

/** Proves with a passkey that the session is the user's. */
export async function provePasskey(client) {
  const credential = await answer(await client.call('POST', '/sessions/current/proof/options'));
  await client.call('POST', '/sessions/current/proof', { body: { credential } });
}

/** Signs in. Resolves to the user. */
export async function signInByPasskey(site, device, more) {
  const options = await site.call('POST', '/sessions/passkey/options');
  const credential = await answer(options, more?.(options));
  const { user } = await site.call('POST', '/sessions/passkey', { body: { credential, cookie: true, device } });
  return user;
}

/** The part of a challenge's life after which an offer is renewed. */
const RENEWAL = 0.8;

/**
 * Offers passkeys in the autofill of the name, until `signal`. Resolves to the user of the passkey that was chosen; to
 * undefined if the browser offers none.
 */
export async function offerPasskeys(site, device, signal) {
  if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return undefined;
  while (!signal.aborted) {
    const round = new AbortController();
    const end = () => round.abort();
    signal.addEventListener('abort', end);
    try {
      return await signInByPasskey(site, device, ({ timeout }) => {
        setTimeout(end, timeout * RENEWAL);
        return { mediation: 'conditional', signal: round.signal };
      });
    } catch (error) {
      if (error.name !== 'AbortError') throw error;
    } finally {
      signal.removeEventListener('abort', end);
    }
  }
  return undefined;
}
