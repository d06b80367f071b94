// The members of the site by name: found by the beginning of a name, or all of a group.

import { showAnswer } from '../../parley/answers.js';
import { el, redraw, refill } from '../core/dom.js';
import { allGroups, groupsOf } from '../core/groups.js';
import { say, sayProblem } from '../core/text/text.js';
import { empty } from '../parts/lists/empty.js';
import { choice, field } from '../parts/forms/field.js';
import { groupBadge } from '../parts/user/groupbadge.js';
import { userRow } from '../parts/user/user.js';
import { showMoreButton } from '../parts/lists/showmore.js';
import { pageBar } from '../parts/navigation/sidebar.js';
import { toast } from '../parts/overlays/toast.js';

const LIMIT = 50;
/** The list follows the words after this pause, in milliseconds. */
const PAUSE = 200;

export async function open(shell, { query }) {
  const { site } = shell;
  const page = new Members(site, query?.get('q') ?? '', query?.get('group') ?? '');
  await page.load();
  return {
    title: say('navigation.members'),
    here: '/members',
    keepsFocus: true,
    node: [
      pageBar(say('navigation.members'), { back: () => shell.router.back('/messages'), state: site.state }),
      el('div.page-body', null, page.node),
    ],
    close: () => page.close(),
  };
}

class Members {
  #site;
  #list = el('div');
  #foot = el('div.form-foot');
  #words;
  #group = null;
  #timer = 0;
  /** The number of the latest request: an earlier answer is dropped. */
  #turn = 0;
  #unlisten;

  constructor(site, words, group) {
    this.#site = site;
    this.#words = field(say('members.find'), { type: 'search', value: words, autocomplete: 'off', on: { input: () => this.#typed() } });
    const groups = allGroups();
    if (groups.length) {
      const values = [['', say('members.all')], ...groups.map(({ id, name }) => [id, name])];
      this.#group = choice(say('members.group'), values, { value: group, on: () => this.#chosen() });
    }
    this.node = el('div.page-column', null, this.#words, this.#group, this.#list, this.#foot);
    this.#unlisten = site.listen(['presence'], () => this.#draw());
  }

  /** The users that are shown. */
  #users = [];

  close() {
    clearTimeout(this.#timer);
    this.#unlisten();
  }

  #typed() {
    // A group is listed as a whole.
    if (this.#group) this.#group.input.value = '';
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.load().catch((error) => toast(sayProblem(error))), PAUSE);
  }

  #chosen() {
    this.#words.input.value = '';
    this.load().catch((error) => toast(sayProblem(error)));
  }

  async load(next) {
    const turn = ++this.#turn;
    const { calls } = this.#site.client;
    const group = this.#group?.input.value;
    const words = this.#words.input.value.trim();
    const query = { limit: LIMIT, next };
    const ask = () => (group ? calls.listUserGroupMembers({ id: group, query }) : calls.listUsers({ query: { ...query, query: words || undefined } }));
    const show = (page) => {
      if (turn !== this.#turn) return;
      this.#users = next ? [...this.#users, ...page.data] : page.data;
      this.#draw();
      refill(this.#foot, page.next && showMoreButton(() => this.load(page.next)));
    };
    // The first page of everyone and of a group is there at once and offline.
    if (next || words) show(await ask());
    else await showAnswer(this.#site.parley, `members ${group ?? ''}`, ask, show, (error) => error.isTemporary || toast(sayProblem(error)));
  }

  #draw() {
    const rows = this.#users.map((it) =>
      userRow(it, {
        href: `/u/${encodeURIComponent(it.name)}`,
        presence: this.#site.presenceOf(it.id),
        end: el('span.user-groups', null, groupsOf(it).map(groupBadge)),
      }),
    );
    redraw(this.#list, rows.length ? rows : empty(say('members.none'), { picture: 'users' }));
  }
}
