// The details panel of a conversation: participants, pinned messages, notification level, completeness of the copy.

import { el, icon, redraw, refill } from '../core/dom.js';
import { forumFacts } from '../forum/facts.js';
import { canManage, memberMenu } from '../forum/membership.js';
import { button, whileBusy } from '../parts/forms/button.js';
import { ask, confirm } from '../parts/overlays/dialog.js';
import { choice, field } from '../parts/forms/field.js';
import { userRow } from '../parts/user/user.js';
import { toast } from '../parts/overlays/toast.js';
import { plain } from '../core/text/plain.js';
import { conversationTitle } from '../core/titles.js';
import { bytes, isolate, say, sayProblem } from '../core/text/text.js';
import { moment, time } from '../core/text/times.js';

/** The files that a panel shows. */
const FILES = 12;

export function details(shell, conversation, forum, canWrite) {
  const { site } = shell;
  const users = el('div');
  let found = [];
  const isLookedAfter = conversation.kind === 'group' && conversation.role === 'admin';
  const lookAfter = (user, role) =>
    memberMenu(
      site,
      {
        user,
        role,
        roles: ['member', 'admin'],
        path: `/conversations/${conversation.id}/participants/${user.id}`,
        title: conversationTitle(site, conversation),
      },
      load,
    );
  const draw = () =>
    redraw(
      users,
      found.map((it) => {
        const user = site.user(it.user_id);
        return userRow(user, {
          href: user.name ? `/u/${encodeURIComponent(user.name)}` : null,
          second: it.role === 'admin' ? say('role.admin') : null,
          presence: site.presenceOf(it.user_id),
          end: isLookedAfter && it.user_id !== site.me.id ? lookAfter(user, it.role) : null,
        });
      }),
    );
  let turn = 0;
  const load = () => {
    const own = ++turn;
    return site.call('GET', `/conversations/${conversation.id}/participants`).then(
      (page) => {
        if (own !== turn) return;
        found = page.data;
        draw();
      },
      () => {},
    );
  };
  load();
  const ends = [site.listen(['users', 'presence'], draw), onParticipants(site, conversation, load)];
  const level = choice(
    say('level.title'),
    ['everything', 'mentions', 'nothing'].map((it) => [it, say(`level.${it}`)]),
    {
      value: conversation.level ?? 'mentions',
      on: (value) =>
        site.call('PUT', `/conversations/${conversation.id}/level`, { body: { level: value } }).then(
          () => {},
          (error) => toast(sayProblem(error)),
        ),
    },
  );
  shell.panel(
    say('conversation.details'),
    () => ends.forEach((end) => end()),
    conversation.kind === 'group' && groupActions(shell, conversation),
    forum && conversation.kind === 'room' && forumFacts(site, forum),
    forum && topicActions(shell, conversation, forum, canWrite),
    el('div.panel-block', null, level),
    blocks(shell, conversation),
    el('h3.section-title', null, say('conversation.peopleTitle')),
    users,
  );
}

/** Calls a function when the participants have changed. Returns the function that ends it. */
function onParticipants(site, { id }, changed) {
  const look = () => {
    const { participant_count: count, participants } = site.parley?.conversation(id) ?? {};
    return JSON.stringify([count, participants]);
  };
  let known = look();
  return site.listen(['conversations'], () => {
    const now = look();
    if (now === known) return;
    known = now;
    changed();
  });
}

/** Sections of every conversation: pinned messages, files, jump to a date, completeness of the copy. */
export function blocks(shell, conversation) {
  const { site } = shell;
  return [pinnedBlock(site, conversation), filesBlock(site, conversation), jumpBlock(shell, conversation), checkBlock(site, conversation)];
}

async function change(shell, conversation, body) {
  const { site } = shell;
  const go = shell.fromHere();
  try {
    const kept = await site.call('PATCH', `/conversations/${conversation.id}`, { body });
    Object.assign(conversation, kept);
    site.keepConversation({ ...site.conversations.get(conversation.id), ...kept });
    go(location.pathname, { replace: true });
  } catch (error) {
    toast(sayProblem(error));
  }
}

function groupActions(shell, conversation) {
  const { site } = shell;
  const rename = async () => {
    const title = await ask(
      say('conversation.rename'),
      field(say('conversation.name'), { value: conversation.title ?? '', limit: site.server.limits.title_scalars }),
      say('act.save'),
    );
    if (title !== null) await change(shell, conversation, { title: title || null });
  };
  const add = async () => {
    const name = await ask(
      say('conversation.add'),
      field(say('forum.addField'), { hint: say('forum.addHint') }),
      say('conversation.add'),
    );
    if (!name) return;
    const go = shell.fromHere();
    await site
      .call('PUT', `/conversations/${conversation.id}/participants/@${encodeURIComponent(name.replace(/^@/, ''))}`, {
        body: {},
      })
      .then(
        () => go(location.pathname, { replace: true }),
        (error) => toast(sayProblem(error)),
      );
  };
  const leave = async () => {
    if (!(await confirm(say('conversation.leaveTitle'), say('conversation.leaveSentence'), say('conversation.leave')))) return;
    const go = shell.fromHere();
    await site.call('DELETE', `/conversations/${conversation.id}/participants/me`).then(
      () => go('/messages', { replace: true }),
      (error) => toast(sayProblem(error)),
    );
  };
  return el(
    'div.panel-block.form-foot',
    null,
    button(say('conversation.add'), { picture: 'plus', on: add }),
    button(say('conversation.rename'), { picture: 'edit', on: rename }),
    button(say('conversation.leave'), { picture: 'leave', on: leave }),
  );
}

function topicActions(shell, conversation, forum, canWrite) {
  const { site } = shell;
  const canModerate = canManage(site, forum);
  if (conversation.kind !== 'topic' || (!canModerate && !(canWrite && conversation.created_by === site.me.id))) return null;
  const rename = async () => {
    const title = await ask(
      say('topic.rename'),
      field(say('topic.title'), {
        value: conversation.title,
        required: true,
        limit: site.server.limits.title_scalars,
      }),
      say('act.save'),
    );
    if (title) await change(shell, conversation, { title });
  };
  return el(
    'div.panel-block.form-foot',
    null,
    button(say('topic.rename'), { picture: 'edit', on: rename }),
    conversation.solved_by &&
      button(say('topic.unsolve'), { picture: 'undo', on: () => change(shell, conversation, { solved_by: null }) }),
    canModerate &&
      button(say(conversation.pinned ? 'act.unpin' : 'act.pin'), {
        picture: 'pin',
        on: () => change(shell, conversation, { pinned: !conversation.pinned }),
      }),
    canModerate &&
      button(say(conversation.locked ? 'topic.unlock' : 'topic.lock'), {
        picture: 'lock',
        on: () => change(shell, conversation, { locked: !conversation.locked }),
      }),
  );
}

/** The pinned messages. */
function pinnedBlock(site, conversation) {
  const list = el('div.panel-block', { hidden: true });
  site.call('GET', '/messages/search', { query: { conversation: conversation.id, action: 'pin', limit: 50 } }).then(
    ({ data }) => {
      list.hidden = !data.length;
      refill(
        list,
        el('h3.section-title', null, say('conversation.pinned')),
        data.map(({ message = {} }) =>
          el(
            'a.hit',
            { href: `/m/${message.id}` },
            el('span.second', null, isolate(site.displayName(message.author_id)), ' · ', time(message.created_at, moment)),
            el('span', null, plain(message.text ?? '', 140)),
          ),
        ),
      );
    },
    () => {},
  );
  return list;
}

/** The newest files, each with its message. */
function filesBlock(site, conversation) {
  const list = el('div.panel-block', { hidden: true });
  const query = { conversation: conversation.id, has: 'file', include: 'files', limit: FILES };
  site.call('GET', '/messages/search', { query }).then(
    ({ data, included }) => {
      const files = new Map((included?.files ?? []).map((it) => [it.id, it]));
      const rows = data.flatMap(({ message = {} }) =>
        (message.attachments ?? []).filter((id) => files.has(id)).map((id) => fileRow(site, files.get(id), message)),
      );
      list.hidden = !rows.length;
      refill(list, el('h3.section-title', null, say('conversation.files')), rows.slice(0, FILES));
    },
    () => {},
  );
  return list;
}

function fileRow(site, file, message) {
  const picture = file.preview?.url;
  return el(
    'a.hit.file-hit',
    { href: `/m/${message.id}` },
    picture ? el('img', { src: picture, alt: '', width: 40, height: 40, loading: 'lazy' }) : el('span.attachment-icon', null, icon('file')),
    el(
      'span',
      null,
      el('bdi.one-line', null, file.name),
      el('span.second.one-line', null, bytes(file.size), ' · ', isolate(site.displayName(message.author_id)), ' · ', time(message.created_at, moment)),
    ),
  );
}

/** To the first message of a day. */
function jumpBlock(shell, conversation) {
  const { site } = shell;
  const input = field(say('conversation.jump'), { type: 'date' });
  input.input.max = new Date().toISOString().slice(0, 10);
  input.input.addEventListener('change', async () => {
    const day = new Date(`${input.input.value}T00:00:00`);
    if (Number.isNaN(day.getTime())) return;
    const go = shell.fromHere();
    try {
      // `after_time` is exclusive: the day's first millisecond belongs to it.
      const query = { after_time: new Date(day.getTime() - 1).toISOString(), order: 'asc', limit: 1 };
      const page = await site.call('GET', `/conversations/${conversation.id}/messages`, { query });
      if (page.data[0]) go(`/m/${page.data[0].id}`);
      else input.setFault(say('conversation.jumpNothing'));
    } catch (error) {
      toast(sayProblem(error));
    }
  });
  return el('div.panel-block', null, input);
}

/** "All messages up to 1,042 are on this device and verified", by digest. */
function checkBlock(site, conversation) {
  if (!site.parley) return null;
  const words = el('p.second', { role: 'status' }, say('check.what'));
  site.parley.pages.history(conversation.id).then(({ checked: upTo }) => upTo && refill(words, say('check.complete', { upTo })));
  const check = button(say('check.verb'), {
    picture: 'again',
    on: () =>
      whileBusy(check, async () => {
        try {
          const found = await site.parley.verify(conversation.id);
          const repaired = found.repaired ? `${say('check.repaired', { n: found.repaired })} ` : '';
          words.textContent = repaired + say(found.isComplete ? 'check.complete' : 'check.newest', { upTo: found.checkedUpTo });
        } catch (error) {
          words.textContent = sayProblem(error);
        }
      }),
  });
  return el('div.panel-block', null, words, check);
}
