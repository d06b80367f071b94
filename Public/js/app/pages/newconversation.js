// A new conversation with the users that one finds.

import { el, redraw } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { avatar } from '../parts/user/avatar.js';
import { button, whileBusy } from '../parts/forms/button.js';
import { field } from '../parts/forms/field.js';
import { userRow } from '../parts/user/user.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';
import { conversationAddress } from '../core/router.js';
import { say, sayProblem } from '../core/text/text.js';
import { findUsers } from '../state/users.js';

/** A whole address, as far as can be seen: one that another may have said to be found by. */
const ADDRESS = /^(\S+@\S+\.\S{2,}|\+[\d\s()/-]{7,})$/;

export async function open(shell) {
  const page = new NewConversation(shell);
  await page.look();
  return {
    title: say('act.newConversation'),
    here: '/messages',
    keepsFocus: true,
    node: [
      pageBar(say('act.newConversation'), { back: () => shell.router.back('/messages'), state: shell.site.state }),
      el('div.page-body', null, page.node),
    ],
    shown: () => page.field.input.focus(),
  };
}

class NewConversation {
  constructor(shell) {
    this.shell = shell;
    this.site = shell.site;
    this.chosen = new Map();
    this.found = el('div');
    this.picked = el('div.search-filters');
    this.start = button(say('conversation.start'), { kind: 'primary', disabled: true, on: () => whileBusy(this.start, () => this.begin()) });
    this.field = field(say('conversation.find'), {
      type: 'search',
      hint: say('conversation.findHint'),
      autocomplete: 'off',
      on: { input: () => this.look() },
    });
    this.node = el('div.page-column', null, this.field, this.picked, this.found, el('div.form-foot', null, this.start));
  }

  get words() {
    return this.field.input.value.trim();
  }

  async look() {
    const { site, words } = this;
    const users = (await findUsers(site, words)).filter((it) => it.id !== site.me.id);
    if (words !== this.words) return;
    redraw(
      this.found,
      users.length
        ? users.map((it) => this.choice(it))
        : [el('p.second', null, say('conversation.nobody', { words })), ADDRESS.test(words) && this.byAddress()],
    );
  }

  choice(user) {
    const isChosen = this.chosen.has(user.id);
    return el(
      'button',
      {
        class: 'user-choice',
        data: { user: user.id },
        aria: { pressed: isChosen ? 'true' : 'false' },
        on: { click: () => this.pick(user) },
      },
      userRow(user, { presence: this.site.presenceOf(user.id), end: isChosen ? el('span.mark', null, say('conversation.chosen')) : null }),
    );
  }

  /** Looks up contact addresses on a button press only, because discovery is rate-limited per day. */
  byAddress() {
    const ask = button(say('addresses.find'), { picture: 'search', on: () => whileBusy(ask, () => this.discover()) });
    return el('div.form-foot', null, ask);
  }

  async discover() {
    const { site } = this;
    try {
      const { data } = await site.client.calls.discoverUsers({ body: { addresses: [this.words] } });
      const others = data.map(({ user }) => user).filter(({ id }) => id !== site.me.id);
      site.keepUsers(others);
      if (!others.length) toast(say('addresses.nobody'));
      for (const it of others) if (!this.chosen.has(it.id)) this.pick(it);
    } catch (error) {
      toast(sayProblem(error));
    }
  }

  pick(user) {
    const { chosen } = this;
    if (chosen.has(user.id)) chosen.delete(user.id);
    else chosen.set(user.id, user);
    const chip = (it) =>
      el(
        'button.chip',
        { aria: { pressed: 'true', label: say('conversation.unpick', { name: displayName(it) }) }, on: { click: () => this.pick(it) } },
        avatar(it, { size: 1 }),
        displayName(it),
      );
    redraw(this.picked, [...chosen.values()].map(chip));
    this.start.disabled = !chosen.size;
    this.look();
  }

  async begin() {
    const go = this.shell.fromHere();
    try {
      const isDirect = this.chosen.size === 1;
      const made = await this.site.call('POST', '/conversations', {
        body: {
          kind: isDirect ? 'direct' : 'group',
          participants: [...this.chosen.keys()],
          ...(isDirect ? { distinct: true } : {}),
          client_id: crypto.randomUUID(),
        },
      });
      this.site.keepConversation(made);
      go(conversationAddress(made), { replace: true });
    } catch (error) {
      toast(sayProblem(error));
    }
  }
}

/** Straight to the conversation with one user. */
export async function writeTo(shell, user) {
  const go = shell.fromHere();
  try {
    const made = await shell.site.call('POST', '/conversations', {
      body: { kind: 'direct', participants: [user.id], distinct: true },
    });
    shell.site.keepConversation(made);
    go(conversationAddress(made));
  } catch (error) {
    toast(sayProblem(error));
  }
}
