// The search page: operators as buttons, hits with context.

import { el, icon, redraw, refill } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { fits } from '../core/text/fold.js';
import { conversationTitle } from '../core/titles.js';
import { say, sayProblem } from '../core/text/text.js';
import { empty } from '../parts/lists/empty.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { capped } from '../parts/navigation/badge.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { button } from '../parts/forms/button.js';
import { PAGE, queryOf, search, textOf } from '../search/searchquery.js';
import { groups, named } from '../search/searchresults.js';
import { findUsers } from '../state/users.js';

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
/** Hits of a conversation among the best ones, until a button shows all of it. */
const MAX_OF_CONVERSATION = 3;
/** The kinds of hits, with the names of their counts. */
const KINDS = [['topic', 'topics'], ['message', 'messages']];
/** The most people and forums above the hits. */
const MAX_NAMES = 5;
/** After the last key, in milliseconds. */
const TYPING_PAUSE = 200;
/** Filters that need no search word. */
const TELLING = /^(has|author|mention):/;

/** The search that the user has left, for Back: without a request, so that the scroll is where it was. */
let left = null;

export async function open(shell, { query }) {
  const { site } = shell;
  // Within one conversation, until the user wants all of them.
  const within = query.get('in') ? await site.conversation(query.get('in')).catch(() => null) : null;
  const forum = site.forums.get(query.get('forum') ?? query.get('from')) ?? null;
  const page = new SearchPage(site, query.get('q') ?? '', { within, forum, isInForum: query.has('forum') });
  return {
    title: say('navigation.search'),
    here: '/search',
    keepsFocus: true,
    node: [
      pageBar(say('navigation.search'), { back: () => shell.router.back('/'), search: null, state: site.state }),
      el('div.page-body', null, page.node),
    ],
    shown: (restore) => {
      page.input.focus({ preventScroll: true });
      return page.begin(restore);
    },
    leave: () => {
      left = page.state;
      return {};
    },
    close: () => page.close(),
  };
}

class SearchPage {
  /** `within`: the conversation that is searched until the user wants all. `forum`: the one that the search was opened from. */
  constructor(site, words, { within, forum, isInForum }) {
    this.site = site;
    this.within = within;
    this.forum = forum;
    this.chosen = new Set([within && `conversation:${within.id}`, forum && isInForum && `forum:${forum.id}`].filter(Boolean));
    this.more = showMoreButton(() => this.further());
    this.input = el('input.field-input', {
      type: 'search',
      value: words,
      placeholder: say('search.placeholder'),
      aria: { label: say('navigation.search') },
      autocomplete: 'off',
      on: { input: () => this.soon() },
    });
    this.chips = el('div.search-filters');
    this.order = ORDERS[0];
    this.orders = el('div.search-filters', { role: 'group', hidden: true, aria: { label: say('search.order') } });
    this.kinds = el('div.search-filters', { role: 'group', hidden: true, aria: { label: say('search.kind') } });
    this.results = el('div', { aria: { live: 'polite' } });
    const submit = (event) => {
      event.preventDefault();
      this.look();
    };
    // Names of people and forums may come later.
    this.unlisten = site.listen(['users', 'forums'], () => this.found && this.draw());
    this.node = el('div.page-column', null, el('form', { role: 'search', on: { submit } }, this.input), this.chips, el('div.search-filters', null, this.kinds, this.orders), this.results);
    this.drawChips();
  }

  /** The content that Back shows again. */
  get state() {
    const { within, chosen, order, author, found, counts } = this;
    return { address: location.search, me: this.site.me?.id, page: { within, chosen, order, author, found, counts } };
  }

  /** Shows the results, those that the user has left after Back. @param {{ scroll?: number } | null} [restore] */
  async begin(restore) {
    if (restore && left?.page.found && left.address === location.search && left.me === this.site.me?.id) {
      Object.assign(this, left.page);
      this.orders.hidden = !textOf(this.found.words);
      this.drawChips();
      return this.draw();
    }
    await this.look();
    if (restore?.scroll) this.node.parentNode.scrollTop = restore.scroll;
  }

  close() {
    clearTimeout(this.timer);
    this.asked = null;
    this.unlisten();
  }

  soon() {
    this.#drop('kind');
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look(), TYPING_PAUSE);
  }

  drawChips() {
    const { author } = this;
    const all = [this.within && ['conversation', this.within.id], this.forum && ['forum', this.forum.id], ...filters, author && ['author', `@${author.name}`]];
    redraw(this.chips, all.filter(Boolean).map(([name, value]) => this.chip(name, value)), this.authorChip());
    redraw(this.orders, ORDERS.map((it) => this.orderChip(it)));
    this.#drawKinds();
  }

  /** The number of hits of each kind, where there are both; a press shows only these. */
  #drawKinds() {
    const { counts = {}, found } = this;
    const shown = found && KINDS.every(([, name]) => counts[name]) ? KINDS : [];
    this.kinds.hidden = !shown.length;
    const words = (kind, n) => say(`search.kind.${kind}`, { n: capped(n) });
    redraw(this.kinds, shown.map(([kind, name]) => this.chip('kind', kind, words(kind, counts[name]))));
  }

  orderChip(order) {
    const click = () => this.#chooseOrder(order);
    const pressed = this.order === order ? 'true' : 'false';
    return el('button.chip', { aria: { pressed }, data: { act: order }, on: { click } }, say(`search.order.${order}`));
  }

  chip(name, value, words = this.chipWords(name, value)) {
    const { chosen } = this;
    const key = `${name}:${value}`;
    const click = () => {
      const isOn = chosen.has(key);
      this.#drop(name, 'kind');
      if (!isOn) chosen.add(key);
      this.drawChips();
      this.look();
    };
    return el(
      'button.chip',
      { aria: { pressed: chosen.has(key) ? 'true' : 'false' }, data: { act: key }, on: { click } },
      words,
    );
  }

  /** Removes the chosen filters of these names. A kind of hits is chosen by the numbers of one search. */
  #drop(...names) {
    for (const it of this.chosen) if (names.includes(it.split(':')[0])) this.chosen.delete(it);
  }

  /** Chooses the author among the people of the site. */
  authorChip() {
    const click = async ({ currentTarget }) => {
      const { chooseAuthor } = await import('../search/searchauthor.js');
      chooseAuthor(this.site, currentTarget, (user) => {
        this.author = user;
        this.#drop('author', 'kind');
        this.chosen.add(`author:@${user.name}`);
        this.drawChips();
        this.look();
      });
    };
    return el('button.chip', { aria: { haspopup: 'dialog' }, data: { act: 'author' }, on: { click } }, say('search.author.pick'), icon('open'));
  }

  /** Shows all hits of a conversation. */
  narrow(conversation) {
    this.#drop('kind');
    this.within = conversation;
    this.chosen.add(`conversation:${conversation.id}`);
    this.drawChips();
    this.look();
  }

  chipWords(name, value) {
    if (name === 'author' && value !== 'me') return say('search.author.of', { name: displayName(this.author) });
    if (name === 'conversation') return say('search.within', { name: conversationTitle(this.site, this.within) });
    return name === 'forum' ? say('search.within', { name: this.forum.title }) : say(`search.${name}.${value}`);
  }

  /** Keeps the search in the address, so that it can be shared and reloaded. */
  keepAddress(words) {
    // A page that is still loading has its address already.
    if (location.pathname !== '/search') return;
    const { within, forum, chosen } = this;
    const isWithin = within && chosen.has(`conversation:${within.id}`);
    const inForum = forum && { [chosen.has(`forum:${forum.id}`) ? 'forum' : 'from']: forum.id };
    const address = String(new URLSearchParams({ ...(words && { q: words }), ...(isWithin && { in: within.id }), ...inForum }));
    history.replaceState(history.state, '', address ? `/search?${address}` : '/search');
  }

  async look() {
    const { site, chosen, results } = this;
    const words = this.input.value.trim();
    this.keepAddress(words);
    const asked = (this.asked = {});
    const order = textOf(words) ? this.order : null;
    this.orders.hidden = !order;
    if (!words && ![...chosen].some((it) => TELLING.test(it))) {
      this.found = null;
      this.#drawKinds();
      return refill(results, el('p.second', null, say('search.hint')));
    }
    try {
      const query = queryOf(words, chosen, order);
      const [page, names] = await Promise.all([search(site, query), this.names(words)]);
      if (this.asked !== asked) return undefined;
      this.found = { ...page, ...names, words, query };
      // A search for one kind has no number of the other.
      if (!query.kind) this.counts = page.counts;
      this.#drawKinds();
      return this.draw();
    } catch (error) {
      if (this.asked !== asked) return undefined;
      this.found = null;
      this.#drawKinds();
      return refill(results, empty(sayProblem(error), { picture: 'alert' }));
    }
  }

  /** The people and forums with these names, of a search without filters. */
  async names(words) {
    const { site, chosen } = this;
    const text = textOf(words);
    if (chosen.size || text !== words || !text) return { people: [], forums: [] };
    const people = await findUsers(site, text).catch(() => []);
    const forums = [...site.forums.values()].filter((it) => fits(it.title, text));
    return { people: people.slice(0, MAX_NAMES), forums: forums.slice(0, MAX_NAMES) };
  }

  draw() {
    const { site, found } = this;
    const { data: hits, words, isHeld, query } = found;
    const isBest = query.order === 'best' && !isHeld;
    const max = isBest && !query.conversation ? MAX_OF_CONVERSATION : Infinity;
    const names = named(found).filter(Boolean);
    this.more.hidden = !found.next;
    redraw(
      this.results,
      isHeld && el('p.second', null, say('search.held')),
      names,
      hits.length > 0 && groups(site, hits, textOf(words), { max, narrow: (it) => this.narrow(it) }),
      isBest && hits.length >= PAGE && this.#onlyBest(hits.length),
      !hits.length && !names.length && empty(say('search.none', { words, n: site.forums.size }), { picture: 'search' }),
      this.more,
    );
  }

  /** The best hits are one page. */
  #onlyBest(n) {
    return el('p.second', null, say('search.onlyBest', { n }), ' ', button(say('search.showNewest'), { kind: 'quiet', on: () => this.#chooseOrder('newest') }));
  }

  #chooseOrder(order) {
    this.order = order;
    this.drawChips();
    this.look();
  }

  /** Appends the next page. */
  async further() {
    const { found } = this;
    const { data, next } = await search(this.site, { ...found.query, next: found.next });
    if (this.found !== found) return;
    found.data.push(...data);
    found.next = next;
    this.draw();
  }
}
