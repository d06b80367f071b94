/** @typedef {{ field: string, code: string, params?: Record<string, unknown> }} FieldProblem */
/**
 * @typedef {{ status?: number, code: string, title?: string, detail?: string, params?: Record<string, unknown>, request?: string,
 *   current?: unknown, errors?: FieldProblem[] }} Said
 */

/**
 * The error of a call: the server's problem (RFC 9457), `network` without an answer, or `origin_not_allowed` if the operator
 * has not permitted pages of this origin. `code` is stable; UI texts are chosen by `code` and `params`.
 */
export class Problem extends Error {
  /**
   * @param {Said} said
   * @param {{ retryAfter?: number | null, cause?: unknown }} options
   */
  constructor(said, { retryAfter = null, cause } = {}) {
    const fields = (said.errors ?? []).map(({ field, code }) => `${field} ${code}`);
    const code = `[${[said.code, ...fields].join(', ')}]`;
    super([said.title, said.detail, code].filter(Boolean).join(' '), { cause });
    this.name = 'Problem';
    /** 0 when there was no answer. */
    this.status = said.status ?? 0;
    this.code = said.code;
    /** The server's summary, in English. */
    this.title = said.title;
    /** The server's sentence about this occurrence, in English. */
    this.detail = said.detail;
    this.params = said.params ?? {};
    /** Errors by field. */
    this.errors = said.errors ?? [];
    /**
     * The first of these fields.
     * @type {string | null}
     */
    this.field = this.errors[0]?.field ?? null;
    /** With a conflict of revisions: the thing as it is now. */
    this.current = said.current ?? null;
    /** The id of the request, for the server's log. */
    this.request = said.request ?? null;
    /**
     * Milliseconds that the server asks to wait.
     * @type {number | null}
     */
    this.retryAfter = retryAfter;
  }

  /** Whether a retry may succeed: no answer, a busy server, or an origin that the operator may still permit. */
  get isTemporary() {
    return this.status === 0 ? ['network', 'origin_not_allowed'].includes(this.code) : [408, 429].includes(this.status) || this.status >= 500;
  }

  /** Whether the credential was rejected. */
  get isSignedOut() {
    return this.status === 401;
  }

  /** For stores and other tabs, which carry values only. */
  toJSON() {
    const { status, code, title, detail, params, errors } = this;
    return { status, code, title, detail, params, errors };
  }
}

/**
 * No answer came.
 * @param {unknown} cause
 */
export const networkProblem = (cause) => new Problem({ code: 'network', detail: 'no answer' }, { cause });

/**
 * A module that is loaded with its first use. Without a network it is loaded later.
 * @template T @param {Promise<T>} module
 */
export const loaded = (module) => module.catch((error) => {
  throw networkProblem(error);
});
