// The fields of an account: name, password, picture; the name of this device.

import { say, sayProblem } from '../../core/text/text.js';
import { faceField } from '../../parts/forms/face.js';
import { field } from '../../parts/forms/field.js';
import { toast } from '../../parts/overlays/toast.js';

/** The device name for the list of sessions. */
export function device() {
  const system = /Android|iPhone|iPad|Windows|Mac OS|Linux/.exec(navigator.userAgent)?.[0] ?? '';
  const browser = /Firefox|Edg|Chrome|Safari/.exec(navigator.userAgent)?.[0]?.replace('Edg', 'Edge') ?? '';
  return [browser, system].filter(Boolean).join(', ').slice(0, 64) || 'Browser';
}

function nameField(value) {
  return field(say('signIn.name'), { name: 'name', autocomplete: 'username', hint: say('signIn.nameHint'), value });
}

export function passwordField(site, isNew = true) {
  return field(say('signIn.password'), {
    name: 'password',
    type: 'password',
    autocomplete: isNew ? 'new-password' : 'current-password',
    hint: isNew ? say('signIn.passwordHint', { n: site.server.limits.password_min_scalars }) : null,
  });
}

/** The fields of a new user: display name, name, picture, password. Without a session no picture can be uploaded, so the
 * field is missing then. */
export function newcomer(site, { hasFace = true } = {}) {
  const display = field(say('signIn.display'), { name: 'display_name', autocomplete: 'name', hint: say('signIn.displayHint') });
  const name = nameField();
  const password = passwordField(site);
  const face = hasFace ? faceField(() => name.input.value, { maxBytes: site.server.limits.file_bytes }) : null;
  // The default name is the first word of the display name.
  display.input.addEventListener('input', () => {
    if (name.isTouched) return;
    const [first] = display.input.value.trim().split(/\s+/);
    name.input.value = first.toLowerCase().normalize('NFKD').replace(/[^a-z0-9_.-]/g, '');
    face?.draw();
  });
  name.input.addEventListener('input', () => {
    name.isTouched = true;
    face?.draw();
  });
  const clientID = crypto.randomUUID();
  const values = () => ({
    name: name.input.value.trim(),
    password: password.input.value,
    cookie: true,
    device: device(),
    ...(display.input.value.trim() ? { display_name: display.input.value.trim() } : {}),
  });
  /** Continues after sign-up, even if the picture upload failed. */
  const withFace = async (answer) => {
    if (answer.user.state !== 'pending') await face?.keep(site.client).catch((error) => toast(sayProblem(error)));
    return answer;
  };
  return {
    controls: [display, name, face, password].filter(Boolean),
    register: (more) =>
      site.call('POST', '/users', { body: { ...values(), client_id: clientID, ...more } }).then(withFace),
    takeLink: (code) => site.call('POST', `/links/${encodeURIComponent(code)}`, { body: values() }).then(withFace),
  };
}
