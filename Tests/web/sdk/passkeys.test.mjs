// Passkeys of the app in browsers without the JSON of WebAuthn.

import assert from 'node:assert/strict';
import test from 'node:test';
import { answerOf, canUsePasskeys, creationOptions, requestOptions } from '../../../Public/js/app/account/security/passkey.js';

const bytes = (...values) => Uint8Array.from(values);
/** `-_` and no padding, and the bytes that they stand for. */
const [text, raw] = ['-_8', bytes(251, 255)];

test('options are converted for browsers that take bytes', () => {
  const json = {
    rp: { id: 'chat.example.org', name: 'Club' },
    user: { id: 'MQ', name: 'ada', displayName: 'Ada' },
    challenge: text,
    excludeCredentials: [{ type: 'public-key', id: text, transports: ['usb'] }],
    attestation: 'none',
  };
  assert.deepEqual(creationOptions(json), {
    ...json,
    user: { ...json.user, id: bytes(49) },
    challenge: raw,
    excludeCredentials: [{ type: 'public-key', id: raw, transports: ['usb'] }],
  });
  const request = { challenge: text, rpId: 'chat.example.org', allowCredentials: [], userVerification: 'required' };
  assert.deepEqual(requestOptions(request), { ...request, challenge: raw });
});

test('answers are converted for browsers without toJSON', () => {
  const made = { clientDataJSON: raw.buffer, attestationObject: bytes(1).buffer, getTransports: () => ['internal'] };
  assert.deepEqual(answerOf({ id: 'AQ', response: made }), {
    id: 'AQ',
    response: { clientDataJSON: text, attestationObject: 'AQ', transports: ['internal'] },
  });
  const signed = { clientDataJSON: raw.buffer, authenticatorData: bytes(2).buffer, signature: bytes(0, 0).buffer, userHandle: null };
  assert.deepEqual(answerOf({ id: 'AQ', response: signed }), {
    id: 'AQ',
    response: { clientDataJSON: text, authenticatorData: 'Ag', signature: 'AAA' },
  });
});

test('passkeys need a browser that has them, and a host name', () => {
  const at = (hostname, has = true) => {
    Object.assign(globalThis, { location: { hostname }, PublicKeyCredential: has ? class {} : undefined });
    return canUsePasskeys();
  };
  try {
    for (const host of ['chat.example.org', 'localhost', '1st.example']) assert.equal(at(host), true, host);
    for (const host of ['127.0.0.1', '[::1]']) assert.equal(at(host), false, host);
    assert.equal(at('chat.example.org', false), false);
  } finally {
    delete globalThis.location;
    delete globalThis.PublicKeyCredential;
  }
});
