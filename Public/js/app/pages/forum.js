// A forum: topics and room as tabs, about page, settings.

import { similarTopics } from '../forum/similartopics.js';
import { el, icon, redraw } from '../core/dom.js';
import { asItIs, attend, isMember, joinButton, canManage, canJoin } from '../forum/membership.js';
import { showMoreButton } from '../parts/showmore.js';
import { button, iconButton } from '../parts/button.js';
import { empty } from '../parts/empty.js';
import { field } from '../parts/field.js';
import { pageBar } from '../parts/sidebar.js';
import { tabs } from '../parts/tabs.js';
import { composer } from '../parts/composer.js';
import { forumAddress, topicAddress } from '../core/router.js';
import { forumIcon } from '../core/titles.js';
import { findTags } from '../forum/tags.js';
import { loadMoreText, say, sayProblem } from '../core/text.js';
import { topicRows } from '../forum/topicrows.js';
import { conversationPage, presenceLine } from './conversation.js';

export async function open(shell, { id, tab }, restore) {
  const { site } = shell;
  const forum = await site.forum(id);
  const chosen = tab ?? localStorage.getItem(`tab:${id}`) ?? 'topics';
  if (chosen === 'room') {
    localStorage.setItem(`tab:${id}`, 'room');
    const conversation = await site.conversation(forum.room_id);
    return conversationPage(shell, conversation, { forum, tabs: forumTabs(shell, forum, 'room', presenceLine(site, conversation)), restore });
  }
  if (chosen === 'new') return newTopic(shell, forum);
  if (chosen === 'about') return (await import('../forum/about.js')).about(shell, forum);
  if (chosen === 'settings') {
    const [page] = await Promise.all([import('./forumform.js'), loadMoreText()]);
    return page.edit(shell, forum);
  }
  localStorage.setItem(`tab:${id}`, 'topics');
  return topics(shell, forum);
}

/** The header of a forum with its tabs; the subtitle is the description by default. `changed` applies changes by others. */
export function forumTabs(shell, forum, here, second = null) {
  const canStart = mayStart(shell.site, forum);
  const call = el('span.call-place');
  const changed = () => {
    const { call_url: address } = asItIs(shell.site, forum);
    if (here === 'room') redraw(call, address && callLink(address));
  };
  changed();
  const node = el(
    'div',
    null,
    pageBar(forum.title, {
      second: second || forum.description || say(`forum.audience.${forum.visibility}`),
      state: shell.site.state,
      back: () => shell.router.back('/forums'),
      picture: el('img.page-bar-picture', { src: forumIcon(forum), alt: '', width: 32, height: 32 }),
      actions: [
        call,
        canJoin(shell.site, forum) && joinButton(shell, forum),
        canStart &&
          here === 'topics' &&
          iconButton('plus', say('act.newTopic'), {
            on: () => shell.go(forumAddress(forum, 'new')),
            data: { act: 'newTopic' },
          }),
        iconButton('panel', say('forum.about'), {
          on: () => shell.go(forumAddress(forum, 'about')),
          data: { act: 'about' },
        }),
      ].filter(Boolean),
    }),
    tabs(forum.title, [
      [forumAddress(forum, 'topics'), say('forum.topics'), here === 'topics'],
      [forumAddress(forum, 'room'), say('forum.room'), here === 'room'],
    ]),
  );
  return Object.assign(node, { changed });
}

/** The link to the forum's call, with its host as tooltip. */
function callLink(address) {
  const words = say('forum.callAt', { host: hostOf(address) });
  return el(
    'a.button.button-plain.call-link',
    { href: address, target: '_blank', rel: 'noopener noreferrer', title: words, aria: { label: words } },
    icon('call'),
    el('span', null, say('forum.call')),
  );
}

function hostOf(address) {
  try {
    return new URL(address).host;
  } catch {
    return address;
  }
}

export function mayStart(site, forum) {
  if (!site.me || forum.archived || (forum.locked && !canManage(site, forum))) return false;
  return isMember(site, forum, forum.start_topics);
}

async function topics(shell, forum) {
  const { site } = shell;
  const list = [];
  let next = null;
  const load = async () => {
    const page = await site.call('GET', `/forums/${forum.id}/conversations`, { query: { next, limit: 100 } });
    list.push(...page.data);
    next = page.next;
  };
  await load();
  const rows = el('div.topic-rows');
  const more = showMoreButton(() => load().then(draw));
  const draw = () => {
    redraw(
      rows,
      list.length
        ? topicRows(site, list)
        : empty(say('forum.noTopics'), {
            picture: 'topic',
            actions: mayStart(site, forum)
              ? [
                  button(say('act.newTopic'), {
                    kind: 'primary',
                    picture: 'plus',
                    on: () => shell.go(forumAddress(forum, 'new')),
                  }),
                ]
              : [],
          }),
    );
    more.hidden = !next;
  };
  draw();
  const unlisten = site.listen(['users', 'conversations'], draw);
  const unfollow = attend(site, forum);
  return {
    title: forum.title,
    here: forumAddress(forum),
    node: [forumTabs(shell, forum, 'topics'), el('div.page-body', null, el('div.page-column', null, rows, more))],
    close: () => {
      unfollow();
      unlisten();
    },
    pressed: (event) =>
      event.key === 'c' &&
      !event.ctrlKey &&
      !event.metaKey &&
      event.target === document.activeElement &&
      !/INPUT|TEXTAREA/.test(event.target.tagName) &&
      (shell.go(forumAddress(forum, 'new')), true),
  };
}

function newTopic(shell, forum) {
  const { site } = shell;
  const key = `new-topic-${forum.id}`;
  const titleKey = `${key}-title`;
  const others = similarTopics(site, forum);
  const title = field(say('topic.title'), {
    value: site.draft(titleKey)?.text,
    required: true,
    limit: site.server.limits.title_scalars,
    on: {
      input: () => {
        site.keepDraft(titleKey, title.input.value);
        others.for(title.input.value);
      },
    },
  });
  const fault = el('p.door-fault', { role: 'alert', hidden: true });
  const clientID = crypto.randomUUID();
  const text = composer({
    enterSends: false,
    rows: 6,
    placeholder: say('topic.text'),
    draft: site.draft(key),
    maxScalars: site.server.limits.message_scalars,
    keep: (words) => site.keepDraft(key, words),
    users: (start) => site.findPeople(start),
    rings: isMember(site, forum, forum.room_mention),
    tags: (start) => findTags(site, start),
    verb: say('topic.begin'),
    send: async (draft) => {
      if (!title.input.value.trim()) {
        text.input.value = draft.text;
        text.input.dispatchEvent(new Event('input'));
        title.setFault(say('topic.titleMissing'));
        return title.input.focus();
      }
      const go = shell.fromHere();
      try {
        const topic = await site.call('POST', `/forums/${forum.id}/conversations`, {
          body: { title: title.input.value.trim(), text: draft.text, client_id: clientID },
        });
        site.keepDraft(titleKey, '');
        return go(topicAddress(topic), { replace: true });
      } catch (error) {
        fault.hidden = false;
        fault.textContent = sayProblem(error);
        text.input.value = draft.text;
        return text.input.dispatchEvent(new Event('input'));
      }
    },
  });
  return {
    title: say('act.newTopic'),
    here: forumAddress(forum),
    keepsFocus: true,
    node: [
      pageBar(say('act.newTopic'), {
        second: forum.title,
        back: () => shell.router.back(forumAddress(forum)),
        state: site.state,
      }),
      el('div.page-body', null, el('div.page-column', null, fault, el('div', { class: 'topic-form' }, title), others), text),
    ],
    shown: () => {
      title.input.focus();
      others.for(title.input.value);
    },
    isWriting: () => text.isWriting,
  };
}
