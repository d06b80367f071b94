// The starred messages.

import { displayName } from '../../core/displayname.js';
import { el, redraw } from '../../core/dom.js';
import { plain } from '../../core/text/plain.js';
import { isolate, say } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';
import { empty } from '../../parts/lists/empty.js';
import { showMoreButton } from '../../parts/lists/showmore.js';
import { avatar } from '../../parts/user/avatar.js';

export async function stars(shell, column) {
  const { site } = shell;
  const found = [];
  let next;
  const load = async () => {
    const page = await site.call('GET', '/me/actions', { query: { type: 'star', next, include: 'users' } });
    site.keepUsers(page.included?.users ?? []);
    found.push(...page.data);
    next = page.next;
    draw();
  };
  const more = showMoreButton(load);
  const draw = () => redraw(column, found.length ? found.map((it) => row(site, it)) : empty(say('stars.none'), { picture: 'star' }), next && more);
  await load();
  return site.listen(['users', 'forums'], draw);
}

function row(site, { id, author_id: by, conversation_id: at, text, created_at: created }) {
  const author = site.user(by);
  const forum = site.forums.get(site.knownConversation(at)?.forum_id);
  return el(
    'a.hit.is-pictured',
    { href: `/m/${id}` },
    avatar(author),
    el(
      'span.hit-words',
      null,
      el('span.second', null, isolate(displayName(author)), forum && [' · ', isolate(forum.title)], ' · ', time(created, moment)),
      el('span', { dir: 'auto' }, plain(text ?? '', 200)),
    ),
  );
}
