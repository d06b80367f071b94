// Topics similar to a title, shown while the user types it.

import { el, refill } from '../core/dom.js';
import { say } from '../core/text/text.js';
import { topicRows } from './topicrows.js';
import { searchMessages } from '../state/messagesearch.js';

const PAUSE = 300;
const MAX = 5;
const MAX_WORDS = 4;
/** Shorter words are in every title; but in some scripts one sign says as much as a word. */
const SHORTEST = 4;
const DENSE = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Thai}]/u;

const wordsOf = (text) => text.toLowerCase().match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];

/** The beginnings of the words that say most: the longest, without an ending that may be another elsewhere. */
export function beginnings(title) {
  return [...new Set(wordsOf(title))]
    .filter((it) => DENSE.test(it) || it.length >= SHORTEST)
    .sort((a, b) => b.length - a.length)
    .slice(0, MAX_WORDS)
    .map((it) => (DENSE.test(it) ? it : it.slice(0, it.length > 6 ? -2 : it.length > SHORTEST ? -1 : undefined)));
}

/** A list that searches again for each new title. */
export function similarTopics(site, forum) {
  const rows = el('div.topic-rows');
  const told = el('p.spoken', { role: 'status' });
  const title = say('similarTopics.title');
  const list = el('section', { hidden: true, aria: { label: title } }, el('h2.section-title', null, title), rows);
  const node = el('div', null, told, list);
  let newest = null;
  let timer = null;
  let words = '';

  async function look(wanted) {
    newest ??= site
      .call('GET', `/forums/${forum.id}/conversations`, { query: { limit: 100 }, tries: 1 })
      .then(({ data }) => data, () => []);
    const found = wanted.length ? await topicsWith(site, forum, wanted, await newest) : [];
    if (words !== wanted.join(' ') || (list.hidden && !found.length)) return;
    list.hidden = !found.length;
    refill(rows, topicRows(site, found));
    told.textContent = found.length ? say('similarTopics.found', { n: found.length }) : '';
  }
  return Object.assign(node, {
    /** The current title. */
    for(text) {
      const wanted = beginnings(text);
      if (words === wanted.join(' ')) return;
      words = wanted.join(' ');
      clearTimeout(timer);
      timer = setTimeout(() => look(wanted).catch(() => {}), PAUSE);
    },
  });
}

/** Topics with at least half of the words; a word in the title counts twice. */
async function topicsWith(site, forum, wanted, newest) {
  const topics = new Map(newest.map((it) => [it.id, it]));
  const scores = new Map();
  const count = (id, by) => scores.set(id, (scores.get(id) ?? 0) + by);
  for (const it of newest) {
    const title = wordsOf(it.title);
    for (const word of wanted)
      if (title.some((one) => (DENSE.test(word) ? one.includes(word) : one.startsWith(word)))) count(it.id, 2);
  }
  const pages = await Promise.all(
    wanted.map((word) => searchMessages(site, { q: DENSE.test(word) ? word : `${word}*`, forum: forum.id, limit: 20 }).catch(() => ({ data: [] }))),
  );
  for (const { data } of pages) {
    for (const id of new Set(data.filter((it) => it.message).map((it) => it.message.conversation_id))) count(id, 1);
    // The titles of the newest topics are counted above.
    for (const it of data) if (it.title && !topics.has(it.conversation_id)) count(it.conversation_id, 2);
  }
  const best = [...scores].filter(([, score]) => score * 2 >= wanted.length).sort((a, b) => b[1] - a[1]);
  const found = [];
  for (const [id] of best) {
    if (found.length === MAX) break;
    const it = topics.get(id) ?? (await site.conversation(id).catch(() => null));
    if (it?.kind === 'topic' && it.forum_id === forum.id) found.push(it);
  }
  return found;
}
