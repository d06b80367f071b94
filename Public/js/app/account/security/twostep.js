// Two-step sign-in: sets up an authenticator app with a QR code, shows the recovery codes once, and turns it off.

import { el, refill } from '../../core/dom.js';
import { qr } from '../../core/pictures/qr.js';
import { say } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { copyButton } from '../../parts/forms/copyline.js';
import { confirm } from '../../parts/overlays/dialog.js';
import { codeField } from './codefield.js';
import { report } from './stepup.js';
import { savingForm } from '../../parts/forms/form.js';
import { toggle } from '../../parts/forms/switch.js';
import { toast } from '../../parts/overlays/toast.js';

const PATH = '/me/second-factor';

export async function twoStep(shell, column) {
  const { site } = shell;
  const factor = await site.call('GET', PATH);
  refill(column, el('p.second', null, say('twoStep.lead')), factor.enabled ? isOn(shell, column, factor) : isOff(shell, column, factor));
}

function isOff(shell, column, factor) {
  const start = button(say('twoStep.setUp'), {
    kind: 'primary',
    picture: 'shield',
    on: () =>
      whileBusy(start, async () => {
        try {
          setUp(shell, column, await shell.site.call('POST', PATH));
        } catch (error) {
          report(error);
        }
      }),
  });
  const due = factor.required && new Date(factor.due_at);
  return [
    due && el('p.banner', null, due > new Date() ? [say('twoStep.required'), ' ', say('twoStep.due', { date: moment(due) })] : say('problem.second_factor_missing')),
    el('p', null, say('twoStep.isOff')),
    el('div.form-foot', null, start),
  ];
}

function setUp(shell, column, { secret, url }) {
  const code = codeField(say('twoStep.codeHint'));
  const keep = toggle(say('twoStep.keep'), { hint: say('twoStep.keepHint') });
  const save = button(say('twoStep.enable'), { kind: 'primary', type: 'submit' });
  const work = async () => {
    const body = { code: code.input.value.trim(), keep_sessions: keep.input.checked };
    const { recovery_codes: codes } = await shell.site.call('PUT', PATH, { body });
    toast(say('twoStep.isOn'));
    showCodes(shell, column, codes);
  };
  refill(
    column,
    el('p', null, say('twoStep.scan')),
    el('div.qr', null, qr(url, say('twoStep.qr'))),
    setupKey(secret),
    savingForm(save, { work }, code, keep),
    el('div.form-foot', null, button(say('act.cancel'), { kind: 'quiet', on: () => twoStep(shell, column).catch(report) })),
  );
  code.input.focus();
}

/** The key in groups of four, which are easier to type. Apps ignore the spaces. */
function setupKey(secret) {
  const text = secret.match(/.{1,4}/g).join(' ');
  return el(
    'div.field',
    null,
    el('span.field-label', null, say('twoStep.key')),
    el('code', { dir: 'ltr' }, text),
    el('div.form-foot', null, copyButton(() => text)),
  );
}

/** They are shown once. */
function showCodes(shell, column, codes) {
  const text = `${codes.join('\n')}\n`;
  const file = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  refill(
    column,
    el('h2.section-title', { tabindex: '-1' }, say('twoStep.codes')),
    el('p', null, say('twoStep.codesLead')),
    el('ul', { dir: 'ltr' }, codes.map((it) => el('li', null, el('code', null, it)))),
    el(
      'div.form-foot',
      null,
      copyButton(() => text),
      el('a.button', { href: file, download: 'recovery-codes.txt' }, say('act.download')),
      button(say('twoStep.saved'), {
        kind: 'primary',
        on: () => {
          URL.revokeObjectURL(file);
          twoStep(shell, column).catch(report);
        },
      }),
    ),
  );
  column.querySelector('h2').focus();
}

function isOn(shell, column, { enabled_at: since, recovery_codes_left: left }) {
  const { site } = shell;
  const renew = button(say('twoStep.renew'), {
    on: () =>
      whileBusy(renew, async () => {
        try {
          showCodes(shell, column, (await site.call('POST', `${PATH}/recovery-codes`)).recovery_codes);
        } catch (error) {
          report(error);
        }
      }),
  });
  const end = async () => {
    if (!(await confirm(say('twoStep.off'), say('twoStep.offSentence'), say('twoStep.off')))) return;
    try {
      await site.call('DELETE', PATH);
      await twoStep(shell, column);
    } catch (error) {
      report(error);
    }
  };
  return [
    el('p', null, say('twoStep.isOn')),
    el('p.second', null, say('twoStep.since'), ' ', time(since, moment)),
    el('p', { class: left < 3 ? 'form-fault' : '' }, left ? say('twoStep.left', { n: left }) : say('twoStep.noneLeft')),
    el('div.form-foot', null, renew, button(say('twoStep.off'), { kind: 'danger', on: end })),
  ];
}
