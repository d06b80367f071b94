// The actions on a message.

import { el } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { button } from '../../parts/forms/button.js';
import { ask, confirm, dialog } from '../../parts/overlays/dialog.js';
import { report } from '../../account/security/stepup.js';
import { rememberEmoji } from '../../core/emoji/recent.js';
import { field } from '../../parts/forms/field.js';
import { userRow } from '../../parts/user/user.js';
import { popover } from '../../parts/overlays/popover.js';
import { toast } from '../../parts/overlays/toast.js';
import { messageItems, showMessageMenu } from './menu.js';
import { Deletions } from '../../state/deletions.js';
import { plain } from '../../core/text/plain.js';
import { rich } from '../../parts/message/rich.js';
import { topicAddress } from '../../core/router.js';
import { isolate, list, say, sayProblem } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';
import { fetchUser } from '../../state/fetchuser.js';

/** Maximum number of names in the sentence about a reaction; the others are counted. */
const NAMED = 3;

export class MessageActions {
  /** @param {object} options shell, site, stream, conversation, forum, now, field, cannot, canModerate; some change */
  constructor(options) {
    Object.defineProperties(this, Object.getOwnPropertyDescriptors(options));
  }

  /** The composer, while the user may write. */
  get composer() {
    return this.field?.hidden ? null : this.field;
  }

  /** @param {string} verb @param {any} [detail] */
  async run(message, verb, detail) {
    try {
      await this[verb]?.(message, detail);
    } catch (error) {
      report(error);
    }
  }

  isMine(message) {
    return message.author_id === this.site.me.id;
  }

  async call(method, path, options) {
    this.stream.keep(await this.site.call(method, path, options));
  }

  // MARK: Marks

  async react(message, { emoji, on }) {
    const type = `reaction:${emoji}`;
    if (on) rememberEmoji(emoji);
    await (on ? this.stream.setAction(message, type) : this.stream.removeAction(message, type));
  }

  /** Opens the picker at the message, or at the pressed button. @param {Element} [anchor] */
  async pick(message, anchor = document.querySelector(`[data-id="${CSS.escape(message.id)}"]`)) {
    const { emojiPicker } = await import('../../parts/composer/emoji.js');
    const picker = emojiPicker((emoji) => {
      node.close();
      this.run(message, 'react', { emoji, on: true });
    });
    const node = popover(anchor, say('act.react'), picker);
    if (!matchMedia('(pointer: coarse)').matches) picker.input.focus();
  }

  /** The names of the users behind a reaction, in a sentence. */
  async reactors(message, { emoji, count, show }) {
    const type = `reaction:${emoji}`;
    const { data } = await this.site.call('GET', `/messages/${message.id}/actions`, { query: { type, limit: NAMED } });
    const { me } = this.site;
    const own = data.filter((it) => it.user_id === me.id).map(() => say('user.you'));
    const users = await Promise.all(data.filter((it) => it.user_id !== me.id).map((it) => fetchUser(this.site, it.user_id)));
    const others = users.filter(Boolean).map((it) => isolate(displayName(it)));
    const names = [...own, ...others].slice(0, NAMED);
    const left = Math.max(0, count - names.length);
    const parts = left ? [...names, say('reaction.others', { n: left })] : names;
    if (parts.length) show(say('reaction.who', { names: list(parts), emoji }));
  }

  star(message) {
    const isSet = message.actions?.star?.mine;
    return isSet ? this.stream.removeAction(message, 'star') : this.stream.setAction(message, 'star');
  }

  async pin(message) {
    await this.call(message.actions?.pin?.count ? 'DELETE' : 'PUT', `/messages/${message.id}/actions/pin`);
  }

  /** Whether the user may accept an answer: the topic's author while writing is allowed, and moderators. */
  get maySolve() {
    return this.canModerate || (!!this.composer && this.conversation.created_by === this.site.me.id);
  }

  solves(message) {
    return this.now().solved_by === message.id;
  }

  /** Sets or clears the answer, as the menu offered it, even if the state has changed. @param {boolean} on */
  async solve(message, on) {
    if (on === this.solves(message)) return;
    const solved_by = on ? message.id : null;
    const kept = await this.site.call('PATCH', `/conversations/${this.conversation.id}`, { body: { solved_by } });
    Object.assign(this.conversation, kept);
    this.site.say('conversations');
    toast(say(solved_by ? 'topic.solvedDone' : 'topic.unsolvedDone'));
  }

  // MARK: Polls and buttons

  vote(message, options) {
    return this.stream.setVote(message, options);
  }

  /** @param {string | [string, string]} detail a function of `polls.js`: showVotes, closePoll, pressButton with the button's id */
  async poll(message, detail) {
    const polls = await import('./polls.js');
    const [name, id] = [detail].flat();
    await polls[name](this, message, id);
  }

  // MARK: Words

  reply(message) {
    if (!this.composer) return void toast(this.cannot());
    const author = this.site.user(message.author_id);
    return this.composer.reply({
      id: message.id,
      author: displayName(author),
      text: plain(message.text ?? '', 120),
    });
  }

  edit(message) {
    if (!this.composer) return void toast(this.cannot());
    if (!message.state) return this.composer.edit(message);
    this.stream.discard(message);
    this.composer.insert(message.text);
    if (message.poll) this.composer.addPoll(message.poll);
    return undefined;
  }

  retry(message) {
    return this.stream.retry(message);
  }

  discard(message) {
    return this.stream.discard(message);
  }

  save(message, text) {
    return this.stream.edit(message, { text });
  }

  async describe(message) {
    const [{ askDescriptions }, { placedDescriptions, withDescription }] = await Promise.all([import('../../parts/composer/describe.js'), import('../../core/text/placing.js')]);
    const placed = placedDescriptions(message.text ?? '');
    const files = message.attachments.map((id, at) => ({ ...this.site.file(id), description: placed.get(at + 1) ?? message.descriptions?.[at] ?? '' }));
    const pictures = files.filter((it) => it.kind === 'image');
    const found = await askDescriptions(pictures.map((it) => ({ ...it, picture: it.preview?.url })));
    if (!found) return;
    const descriptions = files.map((it) => found[pictures.indexOf(it)] ?? it.description);
    // The description in the text is the one that is shown.
    const text = [...placed].reduce((all, [number]) => (descriptions[number - 1] === undefined ? all : withDescription(all, number, descriptions[number - 1])), message.text);
    await this.stream.edit(message, text === message.text ? { descriptions } : { text, descriptions });
  }

  async delete(message) {
    const deletions = (this.site.deletions ??= new Deletions(this.site));
    const { operation, signal } = await deletions.add({ ...message, conversation_id: this.conversation.id });
    const isTakenBack = await toast(say('delete.done'), { undo: () => {}, signal });
    if (!(await deletions.end(operation, isTakenBack)) && isTakenBack) toast(say('problem.gone'));
  }

  async remove(message) {
    const reason = await ask(
      say('remove.title'),
      field(say('remove.reason'), { hint: say('remove.hint'), limit: 500 }),
      say('act.remove'),
    );
    if (reason === null) return;
    await this.call('POST', `/messages/${message.id}/remove`, { body: reason ? { reason } : {} });
    if (await toast(say('remove.done'), { undo: () => {} }))
      await this.call('POST', `/messages/${message.id}/restore`, { body: {} });
  }

  async restore(message) {
    await this.call('POST', `/messages/${message.id}/restore`, { body: {} });
  }

  async destroy(message) {
    const { destroy } = await import('../../moderation/destroy.js');
    await destroy(this.site, { message: message.id });
  }

  async toTopic(message) {
    const title = await ask(
      say('toTopic.title'),
      field(say('toTopic.field'), {
        value: plain(message.text ?? '', 60),
        hint: say('toTopic.hint'),
        required: true,
        limit: this.site.server.limits.title_scalars,
      }),
      say('toTopic.verb'),
    );
    if (!title) return;
    const go = this.shell.fromHere();
    const made = await this.site.call('POST', `/messages/${message.id}/topic`, { body: { title } });
    go(topicAddress({ id: made.conversation_id, title }));
  }

  // MARK: Looking closer

  async history(message) {
    const page = await this.site.call('GET', `/messages/${message.id}/revisions`);
    const entry = (it) => {
      const section = el('section.panel-block', null, el('p.mark', null, time(it.edited_at, moment)), rich(it.text));
      if (mine) section.append(button(say('history.remove'), { picture: 'delete', on: () => takeBack(it, section) }));
      return section;
    };
    const mine = this.isMine(message);
    const takeBack = async (it, section) => {
      if (!(await confirm(say('history.title'), say('history.sentence'), say('history.remove')))) return;
      try {
        await this.site.call('DELETE', `/messages/${message.id}/revisions/${it.revision}`);
        section.remove();
        if (!node.querySelector('section')) return node.close();
        node.querySelector('button').focus();
      } catch (error) {
        toast(sayProblem(error));
      }
    };
    const node = dialog(say('act.history'), page.data.map(entry));
  }

  async status(message) {
    const page = await this.site.call('GET', `/messages/${message.id}/receipts`);
    dialog(
      say('act.status'),
      page.data.map((it) =>
        userRow(this.site.user(it.user_id), {
          second: say(it.read ? 'receipt.read' : it.delivered ? 'receipt.delivered' : 'receipt.stored'),
        }),
      ),
    );
  }

  async link(message) {
    await navigator.clipboard.writeText(`${location.origin}/m/${message.id}`);
    toast(say('act.linkCopied'));
  }

  async copy(message) {
    await navigator.clipboard.writeText(message.text ?? '');
    toast(say('act.copied'));
  }

  async report(message) {
    const reason = await ask(
      say('reportIt.title'),
      field(say('reportIt.field'), { lines: 3, required: true, hint: say('reportIt.hint'), limit: 500 }),
      say('act.report'),
    );
    if (!reason) return;
    await this.site.call('POST', '/reports', { body: { message_id: message.id, reason } });
    toast(say('reportIt.done'));
  }

  /** The card of an author, beside the pressed name or avatar. @param {{ author: object, anchor: Element }} detail */
  async card(_, { author, anchor }) {
    if (!author?.name) return;
    const { showUserCard } = await import('../userpopover.js');
    showUserCard(this.shell, author, anchor);
  }

  // MARK: All of them

  more(message, anchor) {
    return showMessageMenu(this, message, anchor);
  }

  items(message) {
    return messageItems(this, message);
  }
}
