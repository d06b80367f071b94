// The fields of an account: name, password, picture; the name of this device.

import { el, icon, spoken } from '../../core/dom.js';
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
  const node = field(say('signIn.password'), {
    name: 'password',
    type: 'password',
    autocomplete: isNew ? 'new-password' : 'current-password',
    hint: isNew ? say('signIn.passwordHint', { n: site.server.limits.password_min_scalars }) : null,
  });
  const line = el('div.password-line');
  node.input.replaceWith(line);
  line.append(node.input, eye(node.input));
  return node;
}

/** The button that shows and hides the password. */
function eye(input) {
  const words = say('signIn.showPassword');
  const show = ({ currentTarget }) => {
    const isShown = input.type === 'text';
    input.type = isShown ? 'password' : 'text';
    currentTarget.setAttribute('aria-pressed', String(!isShown));
  };
  return el('button.icon-button', { title: words, aria: { pressed: 'false' }, on: { click: show } }, icon('eye'), spoken(words));
}

/** The default username: the first word of the display name with a Latin letter or a digit. */
function usernameOf(display) {
  const names = display.trim().split(/\s+/).map((word) => word.toLowerCase().normalize('NFKD').replace(/[^a-z0-9_.-]/g, ''));
  return names.find((it) => /[a-z0-9]/.test(it)) ?? '';
}

/** The fields of a new user: display name, name, picture, password. Without a session no picture can be uploaded, so the
 * field is missing then. */
export function newcomer(site, { hasFace = true } = {}) {
  const display = field(say('signIn.display'), { name: 'display_name', autocomplete: 'name', hint: say('signIn.displayHint') });
  const name = nameField();
  const password = passwordField(site);
  const face = hasFace ? faceField(() => name.input.value, { maxBytes: site.server.limits.file_bytes }) : null;
  // For a display name in another script.
  const number = 1_000 + (crypto.getRandomValues(new Uint16Array(1))[0] % 9_000);
  display.input.addEventListener('input', () => {
    if (name.isTouched) return;
    const { value } = display.input;
    name.input.value = usernameOf(value) || (/\p{L}/u.test(value) ? `member${number}` : '');
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
