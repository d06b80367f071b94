// The archive of the own data: create, download, delete.

import { el, refill } from '../../core/dom.js';
import { bytes, say } from '../../core/text/text.js';
import { moment } from '../../core/text/times.js';
import { button, whileBusy } from '../../parts/forms/button.js';
import { report } from '../security/stepup.js';

/** Milliseconds between two looks at an archive that is being created. */
const INTERVAL = 1_000;
const CONTENT = '/me/export/content';

/** Fills the column. Returns the function that ends the updates. */
export async function ownData(shell, column) {
  const { site } = shell;
  let timer = null;
  let isClosed = false;
  const create = button(say('export.create'), {
    kind: 'primary',
    on: () =>
      whileBusy(create, () => site.call('POST', '/me/export'))
        .then(draw)
        .catch(report),
  });
  const draw = async () => {
    clearTimeout(timer);
    const archive = await current(site);
    if (isClosed) return;
    const isRunning = archive?.state === 'running';
    create.disabled = isRunning;
    refill(column, el('p.second', null, say('export.lead')), archive && archiveRow(site, archive, draw), el('div.form-foot', null, create));
    // No event reports the end.
    if (isRunning) timer = setTimeout(() => draw().catch(report), INTERVAL);
  };
  await draw();
  return () => {
    isClosed = true;
    clearTimeout(timer);
  };
}

/** Null without an archive. */
async function current(site) {
  try {
    return await site.call('GET', '/me/export');
  } catch (error) {
    if (error.code === 'not_found') return null;
    throw error;
  }
}

function archiveRow(site, archive, changed) {
  const { state } = archive;
  const isDone = state === 'done';
  const facts = [isDone && bytes(archive.size), archive.missing_files > 0 && say('backup.missing', { n: archive.missing_files })];
  const link = el('a', { href: `/api/v1${CONTENT}`, download: '' });
  // The browser can't ask for a proof, so this does, without the content (RFC 9110 §13.1.2).
  const download = () => site.call('GET', CONTENT, { headers: { 'If-None-Match': '*' } }).then(() => link.click(), report);
  const remove = () => site.call('DELETE', '/me/export').then(changed, report);
  return el(
    'div.setting-list',
    null,
    el(
      'div.setting-row',
      { role: 'status' },
      el(
        'span',
        null,
        el('span', null, isDone ? say('export.until', { at: moment(new Date(archive.expires_at)) }) : say(`export.${state}`)),
        el('span.second', null, facts.filter(Boolean).join(' · ')),
      ),
      el('span.form-foot', null, isDone && button(say('act.download'), { on: download }), button(say('act.delete'), { on: remove })),
    ),
  );
}
