// The unsent texts on this device: messages and topics that were begun. The newest comes first.

import { el, redraw } from '../../core/dom.js';
import { excerpt } from '../../core/text/plain.js';
import { conversationAddress, forumAddress } from '../../core/router.js';
import { say } from '../../core/text/text.js';
import { moment, time } from '../../core/text/times.js';
import { conversationTitle } from '../../core/titles.js';
import { button } from '../../parts/forms/button.js';
import { empty } from '../../parts/lists/empty.js';

const EXCERPT = 200;
/** The key of a reply to a post of a feed; that of a post is `feed`. */
const REPLY = /^reply-([1-9]\d*)$/;
/** The key of a new topic's text; that of its title has a suffix. */
const NEW_TOPIC = /^new-topic-([1-9]\d*)(-title)?$/;

/** Fills the column. Returns the function that ends its updates. */
export async function drafts(shell, column) {
  const { site } = shell;
  let turn = 0;
  const draw = async () => {
    const current = ++turn;
    const entries = await listDrafts(site);
    if (current !== turn) return;
    redraw(column, [
      el('p.second', null, say('drafts.lead')),
      entries.length
        ? el('div.setting-list', { data: { part: 'drafts' } }, entries.map((it) => row(site, it)))
        : empty(say('drafts.none'), { picture: 'edit' }),
    ]);
  };
  // The files of a draft are stored after its text.
  const end = site.parley.on('change', (changes) => changes.some(({ table }) => table === 'drafts') && draw());
  await draw();
  return end;
}

/** The drafts; the title and the text of a new topic are one. */
async function listDrafts(site) {
  const found = new Map();
  for (const [key, { value, files = [] }] of site.parley.mirror.drafts) {
    const [, forum, isTitle] = NEW_TOPIC.exec(key) ?? [];
    const name = forum ? `new-topic-${forum}` : key;
    const entry = found.get(name) ?? { name, forum, keys: [], at: '', value: {}, files: 0, title: '' };
    entry.keys.push(key);
    if ((value.at ?? '') > entry.at) entry.at = value.at;
    if (isTitle) entry.title = value.text;
    else Object.assign(entry, { value, files: files.length });
    found.set(name, entry);
  }
  const entries = [...found.values()].sort((a, b) => (a.at < b.at ? 1 : a.at > b.at ? -1 : 0));
  return Promise.all(entries.map(async (it) => ({ ...it, ...(await destinationOf(site, it)) })));
}

/** The destination of a draft. Of a forum or conversation that can't be read, only the text is shown. */
async function destinationOf(site, { name, forum: id, title }) {
  try {
    if (id) {
      const forum = await site.forum(id);
      return { destination: say('drafts.newTopic', { forum: forum.title }), heading: title, href: forumAddress(forum, 'new') };
    }
    const [, post] = REPLY.exec(name) ?? [];
    if (post || name === 'feed') return { destination: say('navigation.feed'), href: post ? `/m/${post}` : '/feed' };
    const conversation = await conversationOf(site, name);
    const forum = site.forums.get(conversation.forum_id);
    const words = conversationTitle(site, conversation);
    const isTopic = conversation.kind === 'topic' && forum;
    return { destination: isTopic ? `${forum.title} › ${words}` : words, href: conversationAddress(conversation) };
  } catch (error) {
    if (!error.isTemporary) return { destination: say('drafts.gone') };
    return { destination: say('page.conversation'), heading: title, href: id ? `/f/${id}/new` : `/c/${name}` };
  }
}

/** The cache keeps a topic of others that was deleted. */
async function conversationOf(site, id) {
  if (site.conversations.has(id)) return site.conversations.get(id);
  try {
    return await site.client.calls.getConversation({ id });
  } catch (error) {
    const held = error.isTemporary && site.parley.conversation(id);
    if (held) return held;
    throw error;
  }
}

function row(site, { keys, destination, heading, href, at, value, files }) {
  const text = value.text || value.poll ? excerpt({ text: value.text, poll: value.poll }, EXCERPT) : '';
  const words = [
    el('span.second', null, el('bdi', null, destination), at && [' · ', time(at, moment)]),
    heading && el('strong', { dir: 'auto' }, heading),
    text && el('span', { dir: 'auto' }, text),
    files > 0 && el('span.second', null, say('drafts.files', { n: files })),
  ];
  const remove = button(say('drafts.delete'), {
    on: async () => {
      for (const key of keys) await site.parley.setDraft(key, null);
    },
  });
  return el('div.setting-row', { data: { row: keys[0] } }, href ? el('a.hit', { href }, words) : el('span.hit', null, words), remove);
}
