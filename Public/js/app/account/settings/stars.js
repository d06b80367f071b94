// The starred messages.

import { displayName } from '../../core/displayname.js';
import { el, refill } from '../../core/dom.js';
import { plain } from '../../core/text/plain.js';
import { isolate, say } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';

export async function stars(shell, column) {
  const { site } = shell;
  const page = await site.call('GET', '/me/actions', { query: { type: 'star' } });
  refill(
    column,
    page.data.length
      ? page.data.map((it) => {
          const author = site.user(it.author_id);
          return el(
            'a.hit',
            { href: `/m/${it.id}` },
            el('span.second', null, isolate(displayName(author)), ' · ', time(it.created_at, moment)),
            el('span', null, plain(it.text ?? '', 200)),
          );
        })
      : el('p.second', null, say('stars.none')),
  );
}
