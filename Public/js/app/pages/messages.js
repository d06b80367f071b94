// Direct and group conversations; and a new one with the people one finds.

import { el, redraw, refill, spoken } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { avatar, avatarPair } from '../parts/avatar.js';
import { badge } from '../parts/badge.js';
import { button, iconButton, whileBusy } from '../parts/button.js';
import { empty } from '../parts/empty.js';
import { field } from '../parts/field.js';
import { personRow } from '../parts/person.js';
import { presenceWords, withPresence } from '../parts/presence.js';
import { pageBar } from '../parts/sidebar.js';
import { toast } from '../parts/toast.js';
import { plain } from '../core/rich.js';
import { conversationAddress } from '../core/router.js';
import { presenceIn, conversationTitle } from '../core/titles.js';
import { say, sayProblem } from '../core/text.js';
import { time } from '../core/times.js';

/** A whole address, as far as can be seen: one that another may have said to be found by. */
const ADDRESS = /^(\S+@\S+\.\S{2,}|\+[\d\s()/-]{7,})$/;

export async function open(shell) {
  const { site } = shell;
  const column = el('div.page-column');
  const draw = () => {
    const talks = site.talks();
    redraw(
      column,
      talks.length
        ? talks.map((it) => conversationRow(site, it))
        : empty(say('talk.none'), {
            picture: 'messages',
            actions: [
              button(say('act.newConversation'), {
                kind: 'primary',
                picture: 'plus',
                on: () => shell.go('/messages/new'),
              }),
            ],
          }),
    );
  };
  draw();
  const unlisten = site.listen(['conversations', 'users', 'presence'], draw);
  return {
    title: say('place.messages'),
    here: '/messages',
    node: [
      pageBar(say('place.messages'), {
        state: site.state,
        actions: [
          iconButton('plus', say('act.newConversation'), {
            on: () => shell.go('/messages/new'),
            data: { act: 'newConversation' },
          }),
        ],
      }),
      el('div.page-body', null, column),
    ],
    close: unlisten,
  };
}

/** A conversation in a list: title, last message, time, unread count. */
export function conversationRow(site, conversation, { title = conversationTitle(site, conversation), loud = true } = {}) {
  const others = site.othersIn(conversation);
  const presence = presenceIn(site, conversation);
  const last = conversation.last_message;
  const author = last && site.person(last.author_id);
  const words = !last ? '' : last.deleted ? say('gone.author') : plain(last.text || say('message.noText'), 120);
  const unread = conversation.level === 'nothing' ? 0 : (conversation.unread_count ?? 0);
  return el(
    'a.inbox-row',
    { href: conversationAddress(conversation), class: unread ? 'is-unread' : '' },
    others.length > 1 ? avatarPair(others) : withPresence(avatar(others[0] ?? author), presence),
    el(
      'span.inbox-row-words',
      null,
      el(
        'span.inbox-row-head',
        null,
        el('span.one-line', null, title, presence && spoken(` ${presenceWords(presence)}`)),
        last && el('span.mark', null, time(last.created_at)),
      ),
      el(
        'span.second.one-line',
        null,
        author && others.length !== 1 ? `${displayName(author)}: ` : '',
        words,
      ),
    ),
    badge(unread, { loud }),
  );
}

export async function write(shell) {
  const { site } = shell;
  const chosen = new Map();
  const found = el('div');
  const picked = el('div.search-filters');
  const start = button(say('talk.start'), { kind: 'primary', disabled: true, on: () => whileBusy(start, begin) });
  const input = field(say('talk.find'), {
    type: 'search',
    hint: say('talk.findHint'),
    autocomplete: 'off',
    on: { input: () => look() },
  });

  async function look() {
    const words = input.input.value.trim();
    const users = (await site.findPeople(words)).filter((it) => it.id !== site.me.id);
    if (words !== input.input.value.trim()) return;
    redraw(
      found,
      users.length
        ? users.map((it) =>
            el(
              'button',
              {
                class: 'person-choice',
                data: { person: it.id },
                aria: { pressed: chosen.has(it.id) ? 'true' : 'false' },
                on: { click: () => pick(it) },
              },
              personRow(it, { presence: site.presenceOf(it.id), end: chosen.has(it.id) ? el('span.mark', null, say('talk.chosen')) : null }),
            ),
          )
        : [el('p.second', null, say('talk.nobody', { words })), ADDRESS.test(words) && byAddress()],
    );
  }

  /** Looks up contact addresses on a button press only, because discovery is rate-limited per day. */
  function byAddress() {
    const ask = button(say('addresses.find'), {
      picture: 'search',
      on: () =>
        whileBusy(ask, async () => {
          try {
            const { data } = await site.client.calls.discoverUsers({ body: { addresses: [input.input.value.trim()] } });
            const others = data.map(({ user }) => user).filter(({ id }) => id !== site.me.id);
            for (const it of others) if (!site.users.has(it.id)) site.users.set(it.id, it);
            if (!others.length) toast(say('addresses.nobody'));
            for (const it of others) if (!chosen.has(it.id)) pick(it);
          } catch (error) {
            toast(sayProblem(error));
          }
        }),
    });
    return el('div.form-foot', null, ask);
  }

  function pick(person) {
    if (chosen.has(person.id)) chosen.delete(person.id);
    else chosen.set(person.id, person);
    refill(
      picked,
      [...chosen.values()].map((it) =>
        el(
          'button.chip',
          {
            aria: { pressed: 'true', label: say('talk.unpick', { name: displayName(it) }) },
            on: { click: () => pick(it) },
          },
          avatar(it, { size: 1 }),
          displayName(it),
        ),
      ),
    );
    start.disabled = !chosen.size;
    look();
  }

  async function begin() {
    const go = shell.fromHere();
    try {
      const isDirect = chosen.size === 1;
      const made = await site.call('POST', '/conversations', {
        body: {
          kind: isDirect ? 'direct' : 'group',
          participants: [...chosen.keys()],
          ...(isDirect ? { distinct: true } : {}),
          client_id: crypto.randomUUID(),
        },
      });
      site.keepConversation(made);
      go(conversationAddress(made), { replace: true });
    } catch (error) {
      toast(sayProblem(error));
    }
  }
  await look();
  return {
    title: say('act.newConversation'),
    here: '/messages',
    keepsFocus: true,
    node: [
      pageBar(say('act.newConversation'), { back: () => shell.router.back('/messages'), state: site.state }),
      el('div.page-body', null, el('div.page-column', null, input, picked, found, el('div.form-foot', null, start))),
    ],
    shown: () => input.input.focus(),
  };
}

/** Straight to the conversation with one person. */
export async function writeTo(shell, person) {
  const go = shell.fromHere();
  try {
    const made = await shell.site.call('POST', '/conversations', {
      body: { kind: 'direct', participants: [person.id], distinct: true },
    });
    shell.site.keepConversation(made);
    go(conversationAddress(made));
  } catch (error) {
    toast(sayProblem(error));
  }
}
