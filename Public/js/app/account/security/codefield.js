// The field of a sign-in code.

import { say } from '../../core/text/text.js';
import { field } from '../../parts/forms/field.js';

/** A code of an authenticator app. Browsers and password managers fill it in. */
export function codeField(hint = null) {
  const made = field(say('signIn.code'), { name: 'code', autocomplete: 'one-time-code', required: true, limit: 64, hint });
  made.input.dir = 'ltr';
  return made;
}
