// The results of a search: people and forums by name, and hits by conversation.

import { el } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { plain } from '../core/text/plain.js';
import { forumAddress } from '../core/router.js';
import { conversationTitle } from '../core/titles.js';
import { forumPicture } from '../parts/user/forumpicture.js';
import { isolate, say } from '../core/text/text.js';
import { moment, time } from '../core/text/times.js';
import { button } from '../parts/forms/button.js';
import { avatar } from '../parts/user/avatar.js';
import { userRow } from '../parts/user/user.js';

/** People and forums whose names have the words. */
export function named({ people, forums }) {
  return [
    people.length > 0 &&
      el('section.search-named', { data: { part: 'people' } }, el('h2.section-title', null, say('conversation.peopleTitle')), people.map((it) => userRow(it, { href: `/u/${encodeURIComponent(it.name)}` }))),
    forums.length > 0 && el('section.search-named', { data: { part: 'forums' } }, el('h2.section-title', null, say('navigation.forums')), forums.map(forumRow)),
  ];
}

function forumRow(forum) {
  return el(
    'a.user-row',
    { href: forumAddress(forum) },
    forumPicture(forum, 32),
    el(
      'span.user-row-words',
      null,
      el('span.one-line', { dir: 'auto' }, forum.title),
      el('span.second.one-line', { dir: 'auto' }, forum.description),
    ),
  );
}

/**
 * Groups hits by conversation, in the order of the first hits.
 * @param {{ max?: number, narrow?: (conversation: any) => void }} [options] max: hits of a conversation; narrow: shows all of it
 */
export function groups(site, hits, words, { max = Infinity, narrow } = {}) {
  const byTalk = new Map();
  for (const hit of hits) {
    // Without a message it is a topic that was found by its title.
    const { conversation_id: id } = hit.message ?? hit;
    if (!byTalk.has(id)) byTalk.set(id, []);
    byTalk.get(id).push(hit);
  }
  return [...byTalk].map(([id, found]) => {
    const conversation = site.knownConversation(id);
    const forum = conversation?.forum_id && site.forums.get(conversation.forum_id);
    return el(
      'section',
      { data: { part: id } },
      heading(site, conversation, forum),
      // Without its name, all hits of a conversation stay.
      found.slice(0, conversation ? max : Infinity).map(({ message, snippet, names = [] }) =>
        message
          ? hit(`/m/${message.id}`, site.user(message.author_id), [time(message.created_at, moment), message.poll && ` · ${say('poll.name')}`], forum,
              snippet ? pieces(snippet) : marked(plain([message.text, ...names].filter(Boolean).join(' '), 240), words))
          : hit(`/t/${id}`, conversation && site.user(conversation.created_by), say('search.title'), forum, pieces(snippet)),
      ),
      conversation && found.length > max &&
        button(say('search.more', { n: found.length - max, name: nameOf(site, conversation, forum) }), { kind: 'quiet', on: () => narrow(conversation) }),
    );
  });
}

const nameOf = (site, conversation, forum) => (forum && conversation.kind === 'room' ? forum.title : conversationTitle(site, conversation));

/** The conversation with the picture of its forum. */
function heading(site, conversation, forum) {
  const title = !conversation ? say('search.elsewhere') : forum && conversation.kind === 'room' ? [isolate(forum.title), ' › ', say('forum.room')] : isolate(conversationTitle(site, conversation));
  return el(
    'h2.section-title.search-title',
    null,
    forum && forumPicture(forum),
    el('span', null, title),
  );
}

function hit(href, author, fact, forum, text) {
  return el(
    'a.hit.is-pictured',
    { href },
    avatar(author),
    el(
      'span.hit-words',
      null,
      el('span.second', null, author && [isolate(displayName(author)), ' · '], forum && [isolate(forum.title), ' · '], fact),
      el('span', { dir: 'auto' }, text),
    ),
  );
}

/** The excerpt of the server, with the matches marked. */
function pieces({ pieces: all, cut_before: before, cut_after: after }) {
  return [before && '… ', all.map(({ text, hit }) => (hit ? el('mark', null, text) : text)), after && ' …'];
}

/** The text with the words that were looked for marked. */
function marked(text, words) {
  const wanted = words.match(/[\p{L}\p{N}]+/gu) ?? [];
  if (!wanted.length) return text;
  const pattern = new RegExp(`(${wanted.map((it) => it.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('|')})`, 'giu');
  return text.split(pattern).map((part, index) => (index % 2 ? el('mark', null, part) : part));
}
