import { el, icon } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { isolate, number, say } from '../../core/text/text.js';
import { time } from '../../core/text/times.js';
import { iconButton } from '../forms/button.js';
import { forumPicture } from '../user/forumpicture.js';

/**
 * A row of the inbox: picture, forum and title, first line with its author, number of messages, and the buttons that mark
 * it as read and put it off. `isWhole` shows all of the title.
 */
export function inboxRow({ key, upTo, href, picture, title, forum, author, text, at, count = 0, isWhole = false, onSeen, onLater }) {
  return el(
    'div.inbox-item',
    // With another message the row is another node, whose button marks that message.
    { data: { key, up: upTo ?? null } },
    el(
      'a.inbox-row.is-unread',
      { href },
      picture,
      el(
        'span.inbox-row-words',
        null,
        el(
          'span.inbox-row-head',
          null,
          isWhole
            ? el('span', null, isolate(title))
            : el('span.one-line', { dir: 'auto' }, forum && el('span.inbox-row-forum', null, el('bdi', null, forum), ' › '), title),
          count > 1 && el('span.mark.count', { title: say('inbox.messages', { n: count }) }, `${number(count)} ·`),
          at && el('span.mark', null, time(at)),
        ),
        (author || text) && el('span.second.one-line', { dir: 'auto' }, author && [el('bdi', null, displayName(author)), ': '], text),
      ),
    ),
    onSeen && iconButton('check', say('inbox.dismiss'), { on: onSeen, data: { act: 'seen' }, key: 'e' }),
    onLater && iconButton('clock', say('inbox.later'), { on: onLater, data: { act: 'later' }, key: 'h' }),
  );
}

/** The heading of a group; with `href` it leads to a forum. */
export function inboxHeading(words, { picture, href, forum, count = 0 } = {}) {
  const title = [words, forum && [' · ', isolate(forum.title)], count > 0 && [' ', el('span.count', null, number(count))]];
  return el(
    'h2.section-title',
    null,
    href ? el('a.section-link', { href }, forumPicture(forum), el('span', null, title)) : [picture && icon(picture), title],
  );
}
