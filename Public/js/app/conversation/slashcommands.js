// Slash commands of a conversation: their completion, their use, and replies that only the user sees. Loaded with the first
// slash, or the first reply.

import { el } from '../core/dom.js';
import { displayName } from '../core/displayname.js';
import { loadSheet } from '../core/sheet.js';
import { isolate, loadMoreText, say, sayProblem } from '../core/text/text.js';
import { iconButton } from '../parts/forms/button.js';
import { rich } from '../parts/message/rich.js';
import { toast } from '../parts/overlays/toast.js';

const SHEET = '/css/parts/message/command.css';
/** A list of commands is fetched again after this time, in milliseconds. */
const FRESH = 60_000;
const MAX_ITEMS = 8;
const MAX_EXCERPT = 140;
/** A text that begins with a command, or with two slashes in place of one. */
const COMMAND = /^(\/\/?)([a-z\d_-]+)(?:\s+([^]*))?$/;
/** The problems after which the program may have run: the text does not come back. */
const RUN = ['command_timed_out', 'command_answer_invalid'];

/** The commands of conversations: {at, list}. */
const known = new Map();
/** The uses without an answer, by conversation: {text, id}. The same text again is the same use. */
const unanswered = new Map();
/** The pages on which the user has used commands. */
const pages = new Map();
let isFollowing = false;

function commandsOf({ site, conversation }) {
  const key = `${site.me.id} ${conversation.id}`;
  const found = known.get(key);
  if (found && Date.now() - found.at < FRESH) return found.list;
  const list = site.call('GET', `/conversations/${conversation.id}/commands`).then(({ data }) => data);
  known.set(key, { at: Date.now(), list });
  list.catch(() => known.delete(key));
  return list;
}

/** The completions of a name; none while the list can't be loaded. */
export async function complete(page, start) {
  const list = await commandsOf(page).catch(() => []);
  return list
    .filter((it) => it.name.startsWith(start.toLowerCase()))
    .slice(0, MAX_ITEMS)
    .map((it) => ({ words: `/${it.name} ${it.usage}`.trim(), second: it.description, insert: `/${it.name} ` }));
}

/**
 * Runs the command at the beginning of the text. Other text is posted; `//name` is posted as `/name`.
 *
 * @param {(text: string) => unknown} post
 */
export async function use(page, text, post) {
  const { site, conversation } = page;
  const [, slashes, name, rest = ''] = COMMAND.exec(text) ?? [];
  if (!name) return post(text);
  let commands;
  try {
    commands = await commandsOf(page);
  } catch (error) {
    return giveBack(page, text, error);
  }
  if (!commands.some((it) => it.name === name)) return post(text);
  if (slashes === '//') return post(text.slice(1));
  follow(page);
  const ready = Promise.all([loadSheet(SHEET), loadMoreText()]);
  const again = unanswered.get(conversation.id);
  const id = again?.text === text ? again.id : crypto.randomUUID();
  unanswered.set(conversation.id, { text, id });
  let row;
  try {
    await ready;
    row = addRow(page, el('p.second', { role: 'status' }, say('slash.waiting', { name: isolate(`/${name}`) })));
    const body = { name, text: rest, client_id: id };
    const used = await site.call('POST', `/conversations/${conversation.id}/commands`, { body });
    unanswered.delete(conversation.id);
    row.remove();
    for (const it of used.replies) if (it.text) await show(page, it);
    if (!used.replies.length) toast(say('slash.sent', { name: isolate(`/${name}`) }));
    else if (used.replies.some((it) => it.message_id)) page.view.newest();
  } catch (error) {
    row?.remove();
    // An answer ends the use; without one it may be repeated.
    if (error.status) unanswered.delete(conversation.id);
    if (RUN.includes(error.code)) toast(sayProblem(error));
    else giveBack(page, text, error);
  }
  return undefined;
}

/** Returns the text to the field, unless the user has gone on. */
function giveBack({ field, signal }, text, error) {
  toast(sayProblem(error));
  if (!signal.aborted && !field.input.value) field.insert(text);
}

/** Shows later replies on the page, or as a notice once the page is closed. */
function follow(page) {
  pages.set(page.conversation.id, page);
  if (isFollowing) return;
  isFollowing = true;
  page.site.addEventListener('event', ({ detail: { event, data } }) => {
    if (event !== 'command.replied' || !data.text || !pages.get(data.conversation_id)?.signal.aborted) return;
    const text = data.text.length > MAX_EXCERPT ? `${data.text.slice(0, MAX_EXCERPT)}…` : data.text;
    toast(say('slash.replied', { name: isolate(`/${data.name}`), text: isolate(text) }));
  });
}

/** Shows a reply above the field. That of another conversation, and an old one, is ignored. */
export async function show(page, reply) {
  const { site } = page;
  if (reply.conversation_id !== page.conversation.id || !reply.text) return;
  await Promise.all([loadSheet(SHEET), loadMoreText()]);
  if (!site.users.has(reply.bot_id)) {
    const found = await site.call('GET', '/users', { query: { ids: reply.bot_id } }).catch(() => null);
    if (found) site.keepUsers(found.data);
  }
  // The answer to the request and the event have the same reply.
  if (page.signal.aborted || repliesOf(page).querySelector(`[data-reply="${CSS.escape(reply.id)}"]`)) return;
  const row = addRow(
    page,
    el('p.command-reply-head', null, el('strong', { dir: 'auto' }, displayName(site.user(reply.bot_id))), ' ', el('span.second', null, say('slash.onlyYou', { name: isolate(`/${reply.name}`) }))),
    el('div.command-reply-text', { dir: 'auto' }, rich(reply.text)),
    iconButton('close', say('slash.dismiss'), {
      on: () => {
        row.remove();
        page.field.input.focus();
      },
    }),
  );
  row.dataset.reply = reply.id;
}

function addRow(page, ...parts) {
  const row = el('div.command-reply', null, ...parts);
  const list = repliesOf(page);
  list.append(row);
  list.scrollTop = list.scrollHeight;
  return row;
}

function repliesOf({ field }) {
  const before = field.previousElementSibling;
  if (before?.classList.contains('command-replies')) return before;
  const list = el('section.command-replies', { aria: { label: say('slash.replies'), live: 'polite' } });
  field.before(list);
  return list;
}
