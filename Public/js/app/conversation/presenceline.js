// The subtitle of a conversation: presence, or the number of people.

import { el } from '../core/dom.js';
import { presenceWords } from '../parts/user/presence.js';
import { isolate, say } from '../core/text/text.js';
import { countOnline, loadMembers, membersIn } from '../state/members.js';
import { othersIn } from '../core/titles.js';

/**
 * The other participant's presence, or the number of members and how many are online. Empty for a room with unknown members.
 */
export function presenceLine(site, conversation) {
  if (conversation.kind === 'room') {
    const people = membersIn(site, conversation);
    return people && counted(site, people.n, people.ids);
  }
  const others = othersIn(site, conversation);
  if (conversation.kind === 'group') {
    const ids = (conversation.participants ?? []).map((it) => it.user_id);
    return counted(site, conversation.participant_count ?? others.length + 1, ids);
  }
  const name = others[0]?.name && isolate(`@${others[0].name}`);
  return [name, presenceWords(site.presenceOf(others[0]?.id))].filter(Boolean).join(' · ') || null;
}

function counted(site, n, ids) {
  const users = say('conversation.people', { n });
  const online = countOnline(site, ids);
  return online > 1 ? `${users} · ${say('presence.count', { n: online })}` : users;
}

/** Keeps the subtitle in the bar up to date. */
export function showPresence(page, top) {
  const { site, conversation } = page;
  const draw = () => {
    const words = page.isTopic ? null : presenceLine(site, page.now());
    if (!words) return;
    let second = top.querySelector('.page-bar-second');
    if (!second) top.querySelector('.page-bar-words').append((second = el('p.mark.one-line.page-bar-second')));
    // A link to the forum stays.
    if (!second.querySelector('a')) second.textContent = words;
  };
  page.listen(site, ['presence', 'users', 'conversations'], draw);
  if (conversation.kind === 'room' && site.me) loadPeople(page, draw);
}

/** Loads the members, and reloads them when the user's role changes or an unknown author posts (posting makes a member). */
function loadPeople(page, draw) {
  const { site, stream, conversation } = page;
  const load = () => loadMembers(site, conversation).then(draw, () => {});
  let role = page.forum?.role;
  page.listen(site, ['forums'], () => {
    if (role === page.forum?.role) return;
    role = page.forum?.role;
    load();
  });
  const authors = new Set(stream.messages.map((it) => it.author_id));
  page.listen(stream, ['change'], () => {
    const fresh = stream.messages.map((it) => it.author_id).filter((it) => !authors.has(it));
    for (const it of fresh) authors.add(it);
    const known = membersIn(site, conversation)?.ids ?? [];
    if (fresh.some((it) => !known.includes(it))) load();
  });
  load();
}
