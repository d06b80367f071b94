// The backups on the server: create, download, delete. For owners.

import { el, refill } from '../core/dom.js';
import { bytes, say } from '../core/text/text.js';
import { moment } from '../core/text/times.js';
import { button, whileBusy } from '../parts/forms/button.js';
import { confirm } from '../parts/overlays/dialog.js';
import { empty } from '../parts/lists/empty.js';
import { report } from '../account/security/stepup.js';

/** Milliseconds between two looks at a running backup. */
const INTERVAL = 1_000;

export const mayBackUp = (site) => site.me?.role === 'owner';

/** Fills the column. Returns the function that ends the updates. */
export async function backups(shell, column) {
  const { site } = shell;
  let timer = null;
  let isClosed = false;
  const create = button(say('backup.create'), {
    kind: 'primary',
    picture: 'plus',
    on: () =>
      whileBusy(create, () => site.call('POST', '/backups'))
        .then(draw)
        .catch(report),
  });
  const facts = el('div', null, await testFacts(site));
  const draw = async () => {
    clearTimeout(timer);
    const { data } = await site.call('GET', '/backups', { query: { limit: 50 } });
    if (isClosed) return;
    const isRunning = data.some((it) => it.state === 'running');
    create.disabled = isRunning;
    refill(
      column,
      el('p.second', null, say('backup.lead')),
      facts,
      el('div.form-foot', null, create),
      data.length
        ? el('div.setting-list', null, data.map((it) => backupRow(site, it, draw)))
        : empty(say('admin.noBackup'), { picture: 'download' }),
    );
    // No event reports the end of a backup.
    if (isRunning) timer = setTimeout(() => draw().catch(report), INTERVAL);
  };
  await draw();
  return () => {
    isClosed = true;
    clearTimeout(timer);
  };
}

/** The last restore test of a scheduled backup and the last copy on another machine. */
async function testFacts(site) {
  const { last_restore_test: test, last_off_site_at: offSite } = await site.call('GET', '/statistics');
  const facts = [
    test && say(`backup.test.${test.result}`, { at: moment(new Date(test.at)), reason: test.reason }),
    offSite && say('backup.offSite', { at: moment(new Date(offSite)) }),
  ];
  return facts.filter(Boolean).map((fact) => el('p.second', null, fact));
}

function backupRow(site, backup, changed) {
  const { id, name, state } = backup;
  const facts = [
    backup.scheduled && say('backup.scheduled'),
    state === 'done' ? bytes(backup.size) : say(`backup.${state}`),
    state === 'done' && backup.verified && say('backup.verified'),
    backup.missing_files > 0 && say('backup.missing', { n: backup.missing_files }),
  ];
  const remove = async () => {
    if (!(await confirm(say('backup.deleteTitle'), say('backup.deleteSentence'), say('act.delete')))) return;
    await site.call('DELETE', `/backups/${id}`).then(changed, report);
  };
  const content = `/backups/${id}/content`;
  const link = el('a', { href: `/api/v1${content}`, download: backup.scheduled ? `parley-${name}.tar` : name });
  // The browser can't ask for a proof, so this does, without the content (RFC 9110 §13.1.2).
  const download = () =>
    site.call('GET', content, { headers: { 'If-None-Match': '*' } }).then(() => link.click(), report);
  return el(
    'div.setting-row',
    null,
    el('span', null, el('span', null, moment(new Date(backup.created_at))), el('span.second', null, facts.filter(Boolean).join(' · '))),
    el(
      'span.form-foot',
      null,
      state === 'done' && button(say('act.download'), { on: download }),
      state !== 'running' && button(say('act.delete'), { on: remove }),
    ),
  );
}
