// Signing in with a site, for other apps.

import assert from 'node:assert/strict';
import test from 'node:test';

import { AppAuthorization, codeChallenge } from '../../../Public/js/parley/oauth.js';

const redirectURI = 'https://ferry.example.org/callback';
const make = (more) => AppAuthorization.create({ url: 'https://chat.example.org/', clientID: '71', redirectURI, ...more });
const redirect = (authorization, values) =>
  `${redirectURI}?${new URLSearchParams({ code: 'c1', state: authorization.state, iss: 'https://chat.example.org', ...values })}`;

test('the challenge is that of RFC 7636, appendix B', () => {
  assert.equal(codeChallenge('dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'), 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM');
});

test('the address has all parameters, and each authorization has secrets of its own', () => {
  const authorization = make({ scope: 'read forum:12' });
  const url = new URL(authorization.url);
  assert.equal(url.origin + url.pathname, 'https://chat.example.org/oauth/authorize');
  assert.deepEqual(Object.fromEntries(url.searchParams), {
    response_type: 'code',
    client_id: '71',
    redirect_uri: redirectURI,
    scope: 'read forum:12',
    state: authorization.state,
    code_challenge: codeChallenge(authorization.verifier),
    code_challenge_method: 'S256',
  });
  assert.match(authorization.verifier, /^[A-Za-z0-9_-]{43}$/);
  assert.ok(!authorization.url.includes(authorization.verifier));
  assert.notEqual(authorization.state, make().state);
  assert.deepEqual(new AppAuthorization(JSON.parse(JSON.stringify(authorization))), authorization);
});

test('only the redirect URI with an answer is a redirect', () => {
  const authorization = make();
  assert.ok(authorization.isRedirectURL(redirect(authorization)));
  for (const text of ['https://ferry.example.org/', redirectURI, `${redirectURI}/?code=c1`, 'https://evil.example/callback?code=c1', '']) {
    assert.ok(!authorization.isRedirectURL(text), text);
  }
});

test('the code of a redirect of this request and this site is taken', () => {
  const authorization = make();
  assert.equal(authorization.code(redirect(authorization)), 'c1');
  assert.throws(() => authorization.code(redirect(authorization, { code: '', error: 'access_denied', error_description: 'No.' })), {
    code: 'access_denied',
    message: 'No. [access_denied]',
  });
  for (const values of [{ state: 'x' }, { iss: 'https://evil.example' }, { iss: '' }, { code: '' }]) {
    assert.throws(() => authorization.code(redirect(authorization, values)), { code: 'redirect_mismatch' });
  }
  assert.throws(() => authorization.code(`${redirect(authorization)}&code=c2`), { code: 'redirect_mismatch' });
  assert.throws(() => authorization.code('https://evil.example/?code=c1'), { code: 'redirect_mismatch' });
});

test('codes and refresh tokens are exchanged, and errors are those of the site', async () => {
  const authorization = make();
  const requests = [];
  const answers = [
    [200, { access_token: 'a1', refresh_token: 'r1', scope: 'profile read', expires_in: 3600 }],
    [200, { access_token: 'a2', refresh_token: 'r2', scope: 'profile read', expires_in: 3600 }],
    [400, { error: 'invalid_grant', error_description: 'Used before.' }],
    [200, null],
  ];
  const fetch = async (url, { body }) => {
    requests.push([url, Object.fromEntries(body)]);
    const [status, answer] = answers.shift();
    return new Response(answer && JSON.stringify(answer), { status });
  };
  const first = await authorization.exchange(redirect(authorization), { fetch });
  assert.equal(first.accessToken, 'a1');
  assert.equal((await authorization.refresh(first.refreshToken, { fetch, secret: 's' })).refreshToken, 'r2');
  await assert.rejects(authorization.refresh('r1', { fetch }), { code: 'invalid_grant', status: 400 });
  await authorization.revoke('r2', { fetch });
  assert.deepEqual(requests, [
    [
      'https://chat.example.org/oauth/token',
      { client_id: '71', grant_type: 'authorization_code', code: 'c1', redirect_uri: redirectURI, code_verifier: authorization.verifier },
    ],
    ['https://chat.example.org/oauth/token', { client_id: '71', client_secret: 's', grant_type: 'refresh_token', refresh_token: 'r1' }],
    ['https://chat.example.org/oauth/token', { client_id: '71', grant_type: 'refresh_token', refresh_token: 'r1' }],
    ['https://chat.example.org/oauth/revoke', { client_id: '71', token: 'r2' }],
  ]);
  await assert.rejects(authorization.refresh('r2', { fetch: () => Promise.reject(new TypeError('offline')) }), { code: 'network' });
});
