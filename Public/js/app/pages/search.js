// The search page: operators as buttons, hits with context.

import { el, redraw, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { avatar } from '../parts/avatar.js';
import { empty } from '../parts/empty.js';
import { pageBar } from '../parts/sidebar.js';
import { plain } from '../core/plain.js';
import { conversationTitle, forumIcon } from '../core/titles.js';
import { isolate, say, sayProblem } from '../core/text.js';
import { moment, time } from '../core/times.js';

const filters = [
  ['has', 'link'],
  ['has', 'image'],
  ['has', 'file'],
  ['author', 'me'],
  ['mention', 'me'],
  ['days', '30'],
];
/** The orders of hits. The first one needs words, and is the default with them. */
const ORDERS = ['best', 'newest'];
/** After the last key, in milliseconds. */
const TYPING_PAUSE = 200;
/** Filters that need no search word. */
const TELLING = /^(has|author|mention):/;
/** `from:@grace` among the words. */
const FROM = /(?:^|\s)from:@?([^\s"]+)/;

export async function open(shell, { query }) {
  const { site } = shell;
  // Within one conversation, until the person wants all of them.
  const within = query.get('in') ? await site.conversation(query.get('in')).catch(() => null) : null;
  const page = new SearchPage(site, query.get('q') ?? '', within);
  return {
    title: say('place.search'),
    here: '/search',
    keepsFocus: true,
    node: [
      pageBar(say('place.search'), { back: () => shell.router.back('/'), state: site.state }),
      el('div.page-body', null, page.node),
    ],
    shown: () => {
      page.input.focus();
      page.look();
    },
  };
}

class SearchPage {
  constructor(site, words, within) {
    this.site = site;
    this.within = within;
    this.chosen = new Set(within ? [`conversation:${within.id}`] : []);
    this.input = el('input.field-input', {
      type: 'search',
      value: words,
      placeholder: say('search.placeholder'),
      aria: { label: say('place.search') },
      autocomplete: 'off',
      on: { input: () => this.soon() },
    });
    this.chips = el('div.search-filters');
    this.order = ORDERS[0];
    this.orders = el('div.search-filters', { role: 'group', hidden: true, aria: { label: say('search.order') } });
    this.results = el('div', { aria: { live: 'polite' } });
    const submit = (event) => {
      event.preventDefault();
      this.look();
    };
    this.node = el('div.page-column', null, el('form', { role: 'search', on: { submit } }, this.input), this.chips, this.orders, this.results);
    this.drawChips();
  }

  soon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), TYPING_PAUSE);
  }

  drawChips() {
    const all = [...(this.within ? [['conversation', this.within.id]] : []), ...filters];
    refill(this.chips, all.map(([name, value]) => this.chip(name, value)));
    redraw(this.orders, ORDERS.map((it) => this.orderChip(it)));
  }

  orderChip(order) {
    const click = () => {
      this.order = order;
      this.drawChips();
      this.look();
    };
    const pressed = this.order === order ? 'true' : 'false';
    return el('button.chip', { aria: { pressed }, data: { act: order }, on: { click } }, say(`search.order.${order}`));
  }

  chip(name, value) {
    const { chosen } = this;
    const key = `${name}:${value}`;
    const click = () => {
      const isOn = chosen.has(key);
      for (const it of chosen) if (it.startsWith(`${name}:`)) chosen.delete(it);
      if (!isOn) chosen.add(key);
      this.drawChips();
      this.look();
    };
    return el(
      'button.chip',
      { aria: { pressed: chosen.has(key) ? 'true' : 'false' }, on: { click } },
      name === 'conversation' ? say('search.within', { name: conversationTitle(this.site, this.within) }) : say(`search.${name}.${value}`),
    );
  }

  async look() {
    const { site, within, chosen, results } = this;
    const words = this.input.value.trim();
    const isWithin = within && chosen.has(`conversation:${within.id}`);
    const address = String(new URLSearchParams({ ...(words && { q: words }), ...(isWithin && { in: within.id }) }));
    history.replaceState(history.state, '', address ? `/search?${address}` : '/search');
    const asked = (this.asked = {});
    const order = textOf(words) ? this.order : null;
    this.orders.hidden = !order;
    if (!words && ![...chosen].some((it) => TELLING.test(it))) return refill(results, el('p.second', null, say('search.hint')));
    try {
      const page = await search(site, words, chosen, order);
      if (this.asked !== asked) return undefined;
      const hits = page.data ?? [];
      for (const it of hits) await site.conversation((it.message ?? it).conversation_id).catch(() => {});
      if (this.asked !== asked) return undefined;
      return redraw(
        results,
        page.isHeld && el('p.second', null, say('search.held')),
        hits.length
          ? groups(site, hits, words)
          : empty(say('search.none', { words, n: site.forums.size }), { picture: 'search' }),
      );
    } catch (error) {
      if (this.asked !== asked) return undefined;
      return refill(results, empty(sayProblem(error), { picture: 'alert' }));
    }
  }
}

/** The words without the author. */
const textOf = (words) => words.replace(FROM, ' ').trim();

async function search(site, words, chosen, order) {
  const [, author] = FROM.exec(words) ?? [];
  const { days, ...asked } = Object.fromEntries([...chosen].map((it) => it.split(':')));
  const query = { q: textOf(words) || undefined, limit: 50, order: order === 'best' ? order : undefined, ...asked };
  if (author) query.author = `@${author}`;
  if (days) query.after_time = new Date(Date.now() - Number(days) * 86_400_000).toISOString();
  try {
    return await site.search(query);
  } catch (error) {
    // An unknown author has no messages.
    if (author && error.status === 404) return { data: [] };
    throw error;
  }
}

/** Groups hits by conversation, in the order of the first hits. */
function groups(site, hits, words) {
  const byTalk = new Map();
  for (const hit of hits) {
    // Without a message it is a topic that was found by its title.
    const { conversation_id: id } = hit.message ?? hit;
    if (!byTalk.has(id)) byTalk.set(id, []);
    byTalk.get(id).push(hit);
  }
  return [...byTalk].map(([id, found]) => {
    const talk = site.conversations.get(id) ?? site.others.get(id);
    const forum = talk?.forum_id && site.forums.get(talk.forum_id);
    return el(
      'section',
      null,
      heading(site, talk, forum),
      found.map(({ message, snippet }) =>
        message
          ? hit(`/m/${message.id}`, site.person(message.author_id), [time(message.created_at, moment), message.poll && ` · ${say('poll.name')}`], forum,
              snippet ? pieces(snippet) : marked(plain(message.text ?? '', 240), words.replace(FROM, ' ')))
          : hit(`/t/${id}`, talk && site.person(talk.created_by), say('search.title'), forum, pieces(snippet)),
      ),
    );
  });
}

/** The conversation with the picture of its forum. */
function heading(site, talk, forum) {
  const title = !talk ? say('search.elsewhere') : forum && talk.kind === 'room' ? [isolate(forum.title), ' › ', say('forum.room')] : isolate(conversationTitle(site, talk));
  return el(
    'h2.section-title.search-title',
    null,
    forum && el('img', { src: forumIcon(forum), alt: '', width: 20, height: 20, loading: 'lazy' }),
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

/** As the server cut it: the pieces that were found are marked. */
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
