// Operations on a poll besides voting: the list of votes, and closing it. Presses of the buttons of bots.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { confirm, dialog } from '../../parts/overlays/dialog.js';
import { userRow } from '../../parts/user/user.js';
import { loadPolls } from '../../parts/message/poll.js';
import { showMoreButton } from '../../parts/lists/showmore.js';

const PAGE = 50;

/** The voters of each option, page by page in the order of the options. */
export async function showVotes({ site }, message) {
  await loadPolls();
  let next;
  const rows = message.poll.options.map(() => el('div'));
  const load = async () => {
    const page = await site.call('GET', `/messages/${message.id}/votes`, { query: { limit: PAGE, next } });
    const ids = page.data.map((it) => it.user_id).filter((id) => !site.users.has(id));
    if (ids.length) site.keepUsers((await site.call('GET', '/users', { query: { ids: [...new Set(ids)].join(',') } })).data);
    for (const it of page.data) rows[it.option]?.append(userRow(site.user(it.user_id)));
    next = page.next;
    more.hidden = !next;
  };
  const more = showMoreButton(load);
  await load();
  const sections = message.poll.options.map(({ text, votes }, index) =>
    el(
      'section.panel-block',
      null,
      el('h3.poll-title', null, el('bdi', null, text), ' ', el('span.second', null, say('poll.count', { n: votes }))),
      rows[index],
    ),
  );
  return dialog(say('poll.votesTitle'), [sections, more]);
}

/** Closes the poll after a question: it can't be opened again. */
export async function closePoll({ site, stream }, message) {
  await loadPolls();
  if (!(await confirm(say('poll.closeTitle'), say('poll.closeSentence'), say('poll.close'), { kind: 'primary' }))) return;
  stream.keep(await site.client.calls.closePoll({ id: message.id }));
}

/** Tells the bot of a press. A repetition after a lost answer counts once. @param {string} button the id of a button */
export async function pressButton({ site }, message, button) {
  await loadPolls();
  await site.client.calls.pressButton({ id: message.id, body: { button_id: button, client_id: crypto.randomUUID() } });
}
