// Signing in with a site, for other apps (OAuth 2.1 with PKCE): the address for the browser, the check of the redirect, and
// the exchange for tokens.
//
//     const authorization = AppAuthorization.create({ url: 'https://chat.example.org', clientID: '71', redirectURI });
//     sessionStorage.setItem('authorization', JSON.stringify(authorization));
//     location.assign(authorization.url);
//
// and on the page of the redirect URI:
//
//     const kept = new AppAuthorization(JSON.parse(sessionStorage.getItem('authorization')));
//     if (kept.isRedirectURL(location.href)) tokens = await kept.exchange(location.href);

import { Problem } from './problem.js';
import { sha256 } from './sha256.js';

/**
 * Tokens of an app. `refreshToken` is valid once: the next answer has another one.
 * @typedef {{ accessToken: string, refreshToken: string, scope: string, expiresAt: number }} AppTokens
 */
/**
 * @typedef {{ origin: string, clientID: string, redirectURI: string, scope: string, state: string, verifier: string }} Saved
 */

/** @param {Uint8Array} bytes */
const base64URL = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

const randomText = () => base64URL(crypto.getRandomValues(new Uint8Array(32)));

/** @param {string} hex */
const fromHex = (hex) => Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));

/**
 * The challenge of a verifier (RFC 7636 §4.2).
 * @param {string} verifier
 */
export const codeChallenge = (verifier) => base64URL(fromHex(sha256(verifier)));

/** One authorization, from the address for the browser to the tokens. It can be saved as JSON meanwhile. */
export class AppAuthorization {
  /**
   * A new authorization, with a verifier and a state of its own.
   * @param {{ url: string, clientID: string, redirectURI: string, scope?: string }} options
   */
  static create({ url, clientID, redirectURI, scope = 'read' }) {
    return new AppAuthorization({
      origin: url.replace(/\/+$/, ''),
      clientID,
      redirectURI,
      scope,
      state: randomText(),
      verifier: randomText(),
    });
  }

  /** @param {Saved} saved */
  constructor({ origin, clientID, redirectURI, scope, state, verifier }) {
    this.origin = origin;
    this.clientID = clientID;
    this.redirectURI = redirectURI;
    this.scope = scope;
    this.state = state;
    this.verifier = verifier;
  }

  /** The address to open in a browser. */
  get url() {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: this.clientID,
      redirect_uri: this.redirectURI,
      scope: this.scope,
      state: this.state,
      code_challenge: codeChallenge(this.verifier),
      code_challenge_method: 'S256',
    });
    return `${this.origin}/oauth/authorize?${query}`;
  }

  /**
   * Whether an address is the redirect URI with an answer.
   * @param {string} text
   */
  isRedirectURL(text) {
    return text.startsWith(this.redirectURI + (this.redirectURI.includes('?') ? '&' : '?'));
  }

  /**
   * The code of a redirect. Throws the error that the site has sent, or `redirect_mismatch` for a redirect of another request
   * or of another site (RFC 9207).
   * @param {string} text
   */
  code(text) {
    const query = new URLSearchParams(this.isRedirectURL(text) ? text.slice(text.indexOf('?')).replace(/#.*$/s, '') : '');
    const isOurs = ['state', 'iss', 'code', 'error'].every((name) => query.getAll(name).length < 2);
    if (!isOurs || query.get('state') !== this.state || query.get('iss') !== this.origin) throw new Problem({ code: 'redirect_mismatch' });
    const error = query.get('error');
    if (error) throw new Problem({ code: error, detail: query.get('error_description') ?? undefined });
    const code = query.get('code');
    if (!code) throw new Problem({ code: 'redirect_mismatch' });
    return code;
  }

  /**
   * Exchanges the code of a redirect for tokens.
   * @param {string} redirect
   * @param {{ secret?: string, fetch?: typeof globalThis.fetch }} [options]
   */
  async exchange(redirect, options) {
    const fields = { grant_type: 'authorization_code', code: this.code(redirect), redirect_uri: this.redirectURI, code_verifier: this.verifier };
    return requestTokens(this, fields, options);
  }

  /**
   * Exchanges a refresh token for new tokens. Never twice with the same token, not even in parallel: the second use of a
   * refresh token ends the access.
   * @param {string} refreshToken
   * @param {{ secret?: string, fetch?: typeof globalThis.fetch }} [options]
   */
  async refresh(refreshToken, options) {
    return requestTokens(this, { grant_type: 'refresh_token', refresh_token: refreshToken }, options);
  }

  /**
   * Ends the access of a refresh token, or an access token alone.
   * @param {string} token
   * @param {{ secret?: string, fetch?: typeof globalThis.fetch }} [options]
   */
  async revoke(token, options) {
    await send(this, '/oauth/revoke', { token }, options);
  }
}

/**
 * @param {AppAuthorization} authorization @param {Record<string, string>} fields
 * @param {{ secret?: string, fetch?: typeof globalThis.fetch }} [options]
 * @returns {Promise<AppTokens>}
 */
async function requestTokens(authorization, fields, options) {
  const answer = await send(authorization, '/oauth/token', fields, options);
  return {
    accessToken: answer.access_token,
    refreshToken: answer.refresh_token,
    scope: answer.scope,
    expiresAt: Date.now() + answer.expires_in * 1_000,
  };
}

/**
 * @param {AppAuthorization} authorization @param {string} path @param {Record<string, string>} fields
 * @param {{ secret?: string, fetch?: typeof globalThis.fetch }} [options]
 */
async function send(authorization, path, fields, options) {
  const { secret, fetch = globalThis.fetch } = options ?? {};
  const body = new URLSearchParams({ client_id: authorization.clientID, ...(secret ? { client_secret: secret } : {}), ...fields });
  const response = await fetch(authorization.origin + path, { method: 'POST', body, credentials: 'omit' }).catch((cause) => {
    throw new Problem({ code: 'network' }, { cause });
  });
  const text = await response.text();
  if (response.ok) return text ? JSON.parse(text) : {};
  const error = answerOf(text);
  throw new Problem({ status: response.status, code: error.error ?? 'unavailable', detail: error.error_description });
}

/** @param {string} text */
function answerOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
