// The email address of the account: set, confirmed by a link, deleted. Other devices show each change.

import { el, icon, redraw } from '../../core/dom.js';
import { loadSheet } from '../../core/sheet.js';
import { say, sayProblem } from '../../core/text/text.js';
import { moment } from '../../core/text/times.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { confirm } from '../../parts/overlays/dialog.js';
import { field } from '../../parts/forms/field.js';
import { savingForm } from '../../parts/forms/form.js';
import { toast } from '../../parts/overlays/toast.js';
import { report } from '../security/stepup.js';

const PATH = '/me/email';
/** Waits above this are shown as a time of day, in milliseconds. */
const LONG_WAIT = 600_000;
/** RFC 5321 §4.5.3.1.3. */
const MAX_ADDRESS = 254;

/** Fills the column. Returns the function that ends its updates. */
export async function emailSettings(shell, column) {
  const { site } = shell;
  await loadMailSheet();
  const rows = el('div.setting-list');
  const page = { email: await emailOf(site) };
  const draw = () => {
    redraw(rows, emailRows(page.email, { again: send, end }));
    form.setState(page.email);
  };
  const send = async (address) => {
    page.email = await site.call('PUT', PATH, { body: { address } });
    draw();
    toast(say('email.sent', { address }));
  };
  const end = async () => {
    const isKept = page.email.address && !(await confirm(say('email.deleteTitle'), say('email.deleteSentence'), say('act.delete')));
    if (isKept) return;
    await site.call('DELETE', PATH);
    page.email = await emailOf(site);
    draw();
    toast(say('email.deleted'));
    form.focus();
  };
  const form = addressForm(() => page.email, send);
  column.append(el('p.second', null, say('email.lead')), rows, form.node);
  draw();
  return site.parley.on('event', async (event) => {
    if (event.event !== 'preferences.updated') return;
    page.email = await emailOf(site).catch(() => page.email);
    draw();
  });
}

/** The address, the one that waits, and whether mail has stopped. */
export const emailOf = (site) => site.call('GET', PATH);

export const loadMailSheet = () => loadSheet('/css/parts/pages/mail.css');

/** Whether mail goes to the address. */
export const isConfirmed = ({ address, stopped_at: stopped }) => !!address && !stopped;

/** The confirmed address and the one that waits, each with its state. `again` sends a link, `end` deletes both. */
export function emailRows({ address, pending, stopped_at: stopped }, { again, end }) {
  const work = (words, act) => {
    const node = button(words, { on: () => whileBusy(node, act).catch((error) => told(error) ?? report(error)) });
    return node;
  };
  const repeat = (text, words = say('email.again')) => work(words, () => again(text));
  const remove = () => work(say('act.delete'), end);
  const state = stopped ? say('email.stopped', { at: moment(new Date(stopped)) }) : say('email.isConfirmed');
  return [
    address &&
      addressRow(address, stopped ? 'alert' : 'online', state, [
        stopped && address !== pending && repeat(address, say('email.confirmAgain')),
        remove(),
      ]),
    pending && addressRow(pending, 'clock', say('email.waits'), [repeat(pending), !address && remove()]),
  ].filter(Boolean);
}

function addressRow(address, picture, state, actions) {
  return el(
    'div.setting-row.email-row',
    { role: 'group', aria: { label: address } },
    el('span', null, el('span', null, el('bdi', { dir: 'ltr' }, address)), el('span.second.email-state', null, icon(picture), el('span', null, state))),
    el('div.form-foot', null, actions),
  );
}

/** The form of a first or another address. */
function addressForm(email, send) {
  const address = emailField(say('email.address'));
  const label = address.querySelector('label');
  const work = async () => {
    const text = address.input.value.trim();
    address.setFault(null);
    try {
      if (isConfirmed(email()) && text.toLowerCase() === email().address.toLowerCase()) return fault(say('email.same'));
      await send(text);
      address.input.value = '';
    } catch (error) {
      if (error.field !== 'address') throw error;
      fault(sayProblem(error));
    }
  };
  const fault = (words) => {
    address.setFault(words);
    address.input.focus();
  };
  const words = (error) => limitWords(error) ?? sayProblem(error);
  const node = savingForm(button(say('email.send'), { kind: 'primary', type: 'submit' }), { work, words }, address);
  node.classList.add('panel-block');
  // The field tells its fault itself.
  node.noValidate = true;
  return {
    node,
    focus: () => address.input.focus(),
    setState: (it) => (label.textContent = say(it.address || it.pending ? 'email.other' : 'email.address')),
  };
}

/** A field for an email address. */
export function emailField(label, options) {
  const node = field(label, { type: 'email', name: 'address', autocomplete: 'email', required: true, limit: MAX_ADDRESS, ...options });
  node.input.dir = 'ltr';
  return node;
}

/** The end of a long wait; undefined for another error. */
function limitWords(error) {
  if (error.code !== 'rate_limited' || !(error.retryAfter > LONG_WAIT)) return undefined;
  return say('email.limit', { at: moment(new Date(Date.now() + error.retryAfter)) });
}

function told(error) {
  const words = limitWords(error);
  return words && toast(words);
}
