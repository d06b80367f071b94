// Every part of the app in every state, with names and texts that are long, short, mixed and hostile. `?theme=dark`,
// `?dir=rtl`, `?lang=en-XA` and `?scale=2` set how.

import { el, icon } from '/js/app/core/dom.js';
import { loadSheet } from '/js/app/core/sheet.js';
import { loadText } from '/js/app/core/text/text.js';
import { attachment, progressBar } from '/js/app/parts/media/attachment.js';
import { avatar, avatarPair } from '/js/app/parts/user/avatar.js';
import { badge } from '/js/app/parts/navigation/badge.js';
import { banner } from '/js/app/parts/navigation/banner.js';
import { button, iconButton } from '/js/app/parts/forms/button.js';
import { codeBlock } from '/js/app/parts/message/code.js';
import { commandElement, commandRow } from '/js/app/parts/overlays/commands.js';
import { completionList } from '/js/app/parts/composer/completion.js';
import { descriptionFields } from '/js/app/parts/composer/describe.js';
import { composer } from '/js/app/parts/composer/composer.js';
import { composerButtons } from '/js/app/parts/composer/buttons.js';
import { composerFiles } from '/js/app/parts/composer/files.js';
import { pollEditor } from '/js/app/parts/composer/poll.js';
import { pollSlot } from '/js/app/parts/composer/pollslot.js';
import { referenceBar } from '/js/app/parts/composer/reference.js';
import { copyLine } from '/js/app/parts/forms/copyline.js';
import { dialogElement } from '/js/app/parts/overlays/dialog.js';
import { sidebarEdge } from '/js/app/parts/navigation/edge.js';
import { emojiPicker } from '/js/app/parts/composer/emoji.js';
import { entryRow } from '/js/app/parts/lists/entry.js';
import { empty, skeleton } from '/js/app/parts/lists/empty.js';
import { faceField } from '/js/app/parts/forms/face.js';
import { feedPost, newPosts } from '/js/app/parts/message/feedpost.js';
import { choice, field } from '/js/app/parts/forms/field.js';
import { forumChoice } from '/js/app/parts/forms/forumchoice.js';
import { savingForm } from '/js/app/parts/forms/form.js';
import { rateField } from '/js/app/parts/forms/newtoken.js';
import { forumPicture } from '/js/app/parts/user/forumpicture.js';
import { groupBadge } from '/js/app/parts/user/groupbadge.js';
import { formatBar } from '/js/app/parts/composer/format.js';
import { dayLine, newLine, pill, typingLine } from '/js/app/parts/message/lines.js';
import { player } from '/js/app/parts/media/player.js';
import { menuElement } from '/js/app/parts/overlays/menu.js';
import { messageElement } from '/js/app/parts/message/message.js';
import { buttonsElement } from '/js/app/parts/message/buttons.js';
import { partsElement } from '/js/app/parts/message/parts.js';
import { besideSettings, settingGroups } from '/js/app/parts/lists/settingnav.js';
import { userCard, userRow } from '/js/app/parts/user/user.js';
import { inboxHeading, inboxRow } from '/js/app/parts/lists/inboxrow.js';
import { pictureField } from '/js/app/parts/forms/picture.js';
import { fileCard, pictureGrid } from '/js/app/parts/media/pictures.js';
import { loadPolls, pollElement } from '/js/app/parts/message/poll.js';
import { popoverElement } from '/js/app/parts/overlays/popover.js';
import { presenceWords, withPresence } from '/js/app/parts/user/presence.js';
import { linkPreview } from '/js/app/parts/message/preview.js';
import { reaction } from '/js/app/parts/message/reaction.js';
import { reportCard, reportedPost } from '/js/app/parts/lists/report.js';
import { rich } from '/js/app/parts/message/rich.js';
import { sheetElement } from '/js/app/parts/message/sheet.js';
import { showMoreButton } from '/js/app/parts/lists/showmore.js';
import { bottomBar, pageBar, sidebar } from '/js/app/parts/navigation/sidebar.js';
import { sign } from '/js/app/parts/navigation/sign.js';
import { toggle } from '/js/app/parts/forms/switch.js';
import { tabs } from '/js/app/parts/navigation/tabs.js';
import { tile } from '/js/app/parts/lists/tile.js';
import { timeline, timelinePill } from '/js/app/parts/lists/timeline.js';
import { livelyTopics } from '/js/app/parts/lists/livelytopics.js';
import { toastElement } from '/js/app/parts/overlays/toast.js';
import { solution } from '/js/app/parts/message/solution.js';
import { tombstone } from '/js/app/parts/message/tombstone.js';
import { emailRows, loadMailSheet } from '/js/app/account/email/email.js';
import { testResult } from '/js/app/admin/mailtest.js';
import { tagLinks } from '/js/app/forum/topictags.js';
import { topicRow } from '/js/app/parts/lists/topicrow.js';
import { viewerElement } from '/js/app/parts/media/viewer.js';

const query = new URLSearchParams(location.search);
const root = document.documentElement;
if (query.get('theme')) root.dataset.theme = query.get('theme');
if (query.get('scale')) root.style.fontSize = `${100 * Number(query.get('scale'))}%`;
await loadText(query.get('lang') ?? 'en');
if (query.get('dir')) root.dir = query.get('dir');
await loadMailSheet();
await loadPolls();
await Promise.all(['lists/report', 'lists/lively', 'lists/rows', 'message/feed', 'pages/settings'].map((name) => loadSheet(`/css/parts/${name}.css`)));

const picture = (hue, letter, ratio = 1) =>
  `data:image/svg+xml,${encodeURIComponent(
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${90 * ratio} 90"><rect width="100%" height="100%" fill="hsl(${hue} 45% 45%)"/>` +
      `<text x="50%" y="62" font-size="44" font-family="sans-serif" font-weight="600" fill="#fff" text-anchor="middle">${letter}</text></svg>`,
  )}`;

const ada = {
  id: '1',
  name: 'ada',
  display_name: 'Ada Lovelace',
  role: 'owner',
  avatar: picture(262, 'A'),
  bio: 'Writes *notes* about engines. https://example.org',
  status_emoji: '🚆',
  status_text: 'On the train',
  created_at: '2026-05-03T10:00:00Z',
};
const grace = { id: '2', name: 'grace', display_name: 'Grace Hopper', role: 'moderator', avatar: picture(160, 'G') };
const lin = { id: '3', name: 'lin', display_name: '林 徽因', role: 'member', avatar: picture(20, '林') };
const long = {
  id: '4',
  name: 'bartholomew',
  display_name: 'Bartholomew Featherstonehaugh-Cholmondeley',
  role: 'guest',
  avatar: picture(210, 'B'),
};
const SETTINGS = [['Account', [['/you/profile', 'user', 'Profile'], ['/you/privacy', 'eye', 'Privacy']]], ['Sign-in and security', [['/you/password', 'key', 'Password']]]];
const noon = new Date();
noon.setHours(12, 4, 0, 0);
const at = (minutes) => new Date(noon.getTime() + minutes * 60_000).toISOString();
let seq = 0;
const message = (text, more = {}) => ({
  id: String(1000 + ++seq),
  seq,
  text,
  created_at: at(seq),
  revision: 1,
  reply_to: null,
  attachments: [],
  actions: {},
  ...more,
});
const act = () => {};
const bubble = (text, author, view, more) =>
  messageElement(message(text, more), { shape: 'bubble', author, act, first: true, last: true, ...view });
const post = (text, author, view, more) => messageElement(message(text, more), { shape: 'post', author, act, ...view });

const markdown = `## What we agreed
The garden opens on **Saturday** at ten. Bring *gloves*, ~~a shovel~~ and \`tape\`; @grace has the key. #spring

- seeds from [the library](https://example.org/seeds)
- [x] water
- [ ] compost

> Everything in its place.

\`\`\`swift
let beds = rows.map { $0.width * $0.height }.reduce(0, +) // and a line that is much longer than any bubble can be wide
\`\`\`

1. dig
2. plant ||not the potatoes||`;

/** A reported post with the lines around it. */
const reported = () =>
  reportedPost(
    { created_at: at(-8), reason: 'Sells watches' },
    {
      where: 'Garden',
      href: '/m/1',
      reporters: 'Reported by Lin and 2 others',
      before: [{ name: 'Lin', text: 'Who has seen the hose?' }],
      after: [{ name: 'Ada', text: 'Not again.' }],
      message: bubble('Cheap watches, only today', long),
      verbs: [['Remove', act]],
    },
  );

const parts = {
  Button: [
    button('Primary', { kind: 'primary' }),
    button('Plain'),
    button('Remove 14 messages', { kind: 'danger' }),
    button('Quiet', { kind: 'quiet' }),
    button('New topic', { kind: 'primary', picture: 'plus' }),
    button('Off', { kind: 'primary', disabled: true }),
    button('Off', { disabled: true }),
    Object.assign(button('Saving', { kind: 'primary' }), { className: 'button button-primary is-busy' }),
    iconButton('react', 'React'),
    iconButton('star', 'Star', { pressed: 'true' }),
    iconButton('pin', 'Pin', { disabled: true }),
  ],
  Icons: [
    'inbox',
    'forums',
    'messages',
    'mail',
    'user',
    'users',
    'search',
    'plus',
    'send',
    'reply',
    'edit',
    'delete',
    'react',
    'star',
    'pin',
    'link',
    'more',
    'close',
    'back',
    'onward',
    'down',
    'open',
    'check',
    'checks',
    'clock',
    'alert',
    'online',
    'offline',
    'topic',
    'room',
    'lock',
    'globe',
    'file',
    'image',
    'download',
    'settings',
    'shield',
    'flag',
    'copy',
    'bell',
    'bell-off',
    'undo',
    'leave',
    'key',
    'palette',
    'calendar',
    'again',
    'panel',
    'eye',
    'home',
  ].map((it) => icon(it, it)),
  Field: [
    field('Name', { value: 'ada', hint: 'Letters, figures and dots.' }),
    withFault(field('Password', { type: 'password', value: '123' })),
    field('Description', { lines: 3, placeholder: 'One line that says what belongs here.' }),
    choice(
      'Who reads it',
      [
        ['a', 'Everyone'],
        ['b', 'Members'],
      ],
      { value: 'b' },
    ),
  ],
  Switch: [
    toggle('Show that I have read', { checked: true, hint: 'Others show it to you only then.' }),
    toggle('Single letters as keys'),
    toggle('Off for now', { disabled: true }),
  ],
  'Choice of forums': [forumChoice([['1', 'Garden'], ['2', 'Kitchen']], 'The token reaches only these.').node],
  'Rate of a token': [rateField()],
  'Email address': [
    emailRows({ address: 'ada@example.org' }, {}),
    emailRows({ pending: 'ada@example.org' }, {}),
    emailRows({ address: 'ada@example.org', pending: 'augusta.ada.king.countess.of.lovelace@mail.department.university.example.org' }, {}),
    emailRows({ address: 'ada@example.org', stopped_at: at(-90) }, {}),
  ].map((it) => wide(el('div.setting-list', null, it))),
  'Test mail': [
    testResult({ outcome: 'accepted', detail: null }, 'ada@example.org'),
    testResult({ outcome: 'refused', detail: '550 5.1.1 there is no such user' }, 'augusta.ada.king.countess.of.lovelace@mail.department.university.example.org'),
    testResult({ outcome: 'sign_in_refused', detail: '535 5.7.8 Authentication credentials invalid' }, 'ada@example.org'),
    testResult({ outcome: 'unavailable', detail: 'The mail server offers no STARTTLS.' }, 'ada@example.org'),
  ].map(wide),
  Avatar: [
    avatar(ada, { size: 1 }),
    avatar(ada, { size: 2 }),
    avatar(ada, { size: 3 }),
    avatar(ada, { size: 4 }),
    avatarPair([grace, lin]),
    avatar(null),
  ],
  'Forum picture': [20, 32].flatMap((size) => [
    ...['Garden', '林园', 'عمال', '#42', '🌱'].map((title) => forumPicture({ title }, size)),
    forumPicture({}, size),
    Object.assign(forumPicture({ id: '7', icon_file: '8' }, size), { src: picture(120, 'Ga') }),
  ]),
  'Group badge': [groupBadge({ name: 'gardeners', hue: 140 }), groupBadge({ name: 'عمال', hue: 20 })],
  'Settings list': [wide(settingGroups('Your settings', SETTINGS))],
  'Settings beside': [
    wide(besideSettings('Your settings', SETTINGS, '/you/privacy', el('div.page-column', null, 'Privacy'))),
  ],
  Badge: [badge(3), badge(12, { loud: true }), badge(4812), badge(1, { loud: true })],
  'Connection sign': [
    sign('online', { withWord: true }),
    sign('offline', { withWord: true }),
    sign('connecting', { withWord: true }),
    sign('online'),
    sign('offline'),
  ],
  Banner: ['info', 'good', 'warn', 'bad'].map((kind) =>
    wide(
      banner(
        {
          info: 'A new version is ready.',
          good: 'Up to date',
          warn: '3 messages you sent after the backup exist only here.',
          bad: 'Offline. You can read and write; 2 messages wait.',
        }[kind],
        { kind, actions: [el('button.text-button', null, 'Show them')] },
      ),
    ),
  ),
  Tabs: [
    wide(
      tabs('Garden', [
        ['/f/1', 'Topics', true, { topics: 3 }],
        ['/f/1/room', 'Room', false, { count: 1042 }],
      ]),
    ),
  ],
  'Forum tile': [
    wide(
      el(
        'div.tiles',
        null,
        tile(
          { title: 'Garden', description: 'Beds, seeds and who waters when', icon: picture(120, 'Ga', 1.78) },
          { href: '#', creator: ada, unread: 6, topics: 3, at: at(-3), last: { title: 'Frost dates', writer: 'Grace', at: at(-3) }, members: 41 },
        ),
        tile(
          { title: 'Committee', description: 'Minutes, money', icon: picture(60, 'C', 1.78), visibility: 'private', locked: true },
          { href: '#', creator: grace, isQuiet: true, members: 4, join: button('Join') },
        ),
        tile(
          {
            title: 'The reading room of everything that was ever printed',
            description: '',
            icon: picture(20, 'Th', 1.78),
          },
          { href: '#', creator: grace },
        ),
        tile(
          { title: '林园', description: '安静的地方 a quiet place', icon: picture(300, '林', 1.78) },
          { href: '#', creator: lin, at: at(-90000) },
        ),
      ),
    ),
  ],
  'Inbox row': [
    wide(
      el(
        'div.inbox',
        null,
        inboxHeading('New topics', { href: '#', forum: { title: 'Garden' }, count: 6 }),
        inboxRow({ key: '1', href: '#', picture: avatarPair([ada, grace]), title: 'Frost dates this year', author: ada, text: 'Who covers the beds tonight?', at: at(-4), count: 31, onSeen() {} }),
        inboxRow({ key: '2', href: '#', picture: avatar(grace), title: 'Room', forum: 'Garden', author: grace, text: '@ada please close the greenhouse, it is going to be a cold night', at: at(-90), onSeen() {} }),
        inboxRow({ key: '3', href: '#', picture: avatar(lin), title: '林 徽因', text: '', at: at(-4000) }),
      ),
    ),
  ],
  'Topic row': [
    wide(
      el(
        'div',
        null,
        topicRow(
          { title: 'Welcome, read this first', pinned: true },
          { href: '#', people: [ada], author: 'Ada', last: 'Ada', at: at(-4000), replies: 0 },
        ),
        topicRow(
          { title: 'Which tomatoes for a shady balcony?' },
          { href: '#', people: [grace, lin], author: 'Grace', last: 'Lin', at: at(-2), unread: 6, replies: 41 },
        ),
        topicRow(
          { title: 'Frost dates this year' },
          {
            href: '#', people: [ada], author: 'Ada', excerpt: 'Who covers the beds tonight? I am away until Sunday.', at: at(-60), isNew: true,
            tags: tagLinks({ id: '1', title: 'Garden' }, ['frost', 'beds', 'fleece', 'autumn', 'mulch'], 3),
          },
        ),
        topicRow(
          {
            title: "A title that goes on for so long that it can't ever fit in the one line that a row has on a phone",
            solved_by: '1',
            locked: true,
          },
          {
            href: '#',
            people: [long, ada],
            author: 'Bartholomew Featherstonehaugh-Cholmondeley',
            last: 'Ada',
            at: at(-90000),
            replies: 1204,
            forum: 'Garden',
            isHere: true,
          },
        ),
      ),
    ),
  ],
  Bubble: [
    wide(
      el(
        'div',
        null,
        dayLine(new Date(noon.getTime() - 86_400_000)),
        bubble('Good morning. Who has the key to the shed?', grace, { last: false }),
        bubble('I left it on the hook, but it is gone.', grace, { first: false, last: false }),
        bubble(
          'So either Lin has it or we need a locksmith.',
          grace,
          { first: false },
          { actions: { 'reaction:👀': { count: 2 }, 'reaction:🔑': { count: 1, mine: true } } },
        ),
        bubble('@ada do you know?', lin, {}, { mentionsMe: true }),
        newLine(),
        bubble('It is in my *coat*. Sorry!', ada, { mine: true, last: false }, { status: 'all_read' }),
        bubble(
          'I bring it at noon, see https://example.org/map and `gate 4`.',
          ada,
          {
            mine: true,
            first: false,
            quote: { author: 'Grace', text: 'So either Lin has it or we need a locksmith.' },
          },
          { reply_to: '1003', status: 'delivered', edited_at: at(9), actions: { 'reaction:❤️': { count: 3 } } },
        ),
        bubble('Waits for the network', ada, { mine: true, last: false }, { state: 'waiting' }),
        bubble('Was not sent', ada, { mine: true, first: false }, { state: 'failed' }),
        bubble('🎉', lin),
        bubble('👍🏽👩‍🚀', ada, { mine: true }),
        bubble(markdown, long),
        bubble(markdown, ada, { mine: true }),
        bubble('Donaudampfschifffahrtsgesellschaftskapitänsmützenabzeichenfabrikantengattin '.repeat(2), lin),
        bubble('مرحبا، كيف الحال؟ See you at 10:30.', lin),
        bubble('<script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1))', long),
        bubble(
          'Two pictures',
          grace,
          {
            files: {
              a: { id: 'a', name: 'bed.jpg', picture: picture(140, '1', 1.4), width: 280, height: 200 },
              b: { id: 'b', name: 'plan.pdf', size: 182_044 },
            },
          },
          { attachments: ['a', 'b'] },
        ),
        bubble('', lin, { undo: act }, { deleted: true, deletion: 'author' }),
        bubble('', grace, {}, { deleted: true, deletion: 'moderator', reason: 'An advertisement.' }),
        messageElement({ id: '9', seq: 99, kind: 'system', text: 'Grace made this a topic.', topic: '12' }, {}),
        typingLine(['Grace']),
        typingLine(['Grace', 'Lin']),
        typingLine(['a', 'b', 'c']),
      ),
    ),
  ],
  Post: [
    wide(
      el(
        'div',
        null,
        post(markdown, grace, {}, { actions: { 'reaction:🌱': { count: 12, mine: true } } }),
        post(
          'Short answer.',
          ada,
          { mine: true, quote: { author: 'Grace', text: 'What we agreed' } },
          { reply_to: '1', status: 'delivered' },
        ),
        post('The pump is silent. What is it?', ada, { solution: { message: { id: '9', text: 'The pump was out of oil.' }, author: lin } }),
        post('The pump was out of oil.', lin, { solves: true }),
        post(
          'The bed in spring:\n![Two rows of lettuce](attachment:1)\nand ![the plan](attachment:2). ![Nothing](attachment:9)',
          grace,
          { files: { p1: { id: 'p1', name: 'bed.png', picture: picture(120, 'B', 1.5), href: '#' }, p2: { id: 'p2', name: 'plan.pdf', size: 48_061 } } },
          { attachments: ['p1', 'p2'] },
        ),
        post('Not sent', ada, { mine: true }, { state: 'failed' }),
        post('@ada, for you', lin, {}, { mentionsMe: true }),
        post('', lin, {}, { deleted: true, deletion: 'moved', moved_to: '3' }),
      ),
    ),
  ],
  Solution: [solution({ message: { id: '9', text: '' }, author: lin })],
  Tombstone: ['author', 'moderator', 'moved', 'erased'].map((deletion) => tombstone({ deletion })),
  Pill: [pill(6, act), pill(0, act)],
  Reaction: [reaction('👍', { count: 1 }), reaction('❤️', { count: 12, mine: true }), reaction('🎉', { count: 1042 })],
  Composer: [
    wide(composer({ send: act, upload: async () => ({}) })),
    wide(
      composer({
        send: act,
        draft: { text: 'Half a *thought*', replyTo: { author: 'Grace', text: 'Good morning. Who has the key?' } },
      }),
    ),
    wide(
      composer({
        send: act,
        enterSends: false,
        placeholder: 'Write a post',
        draft: { text: 'One line\nand another\n\nand a third' },
      }),
    ),
    edited(),
  ],
  Poll: [
    poll({}),
    poll({ mine: [1], voters: 8, closes_at: new Date(Date.now() + 3 * 86_400_000).toISOString() }),
    poll({ mine: [0, 1], choices: 3, voters: 6, anonymous: true }),
    poll({ mine: [0, 1], choices: 2, voters: 6 }),
    poll({ mine: [2], voters: 1042, closes_at: '2026-01-01T00:00:00.000Z' }),
    poll({ options: ['In the park', 'At the lake'] }, { state: 'waiting' }),
    pollElement({ poll: pollOf({ mine: [0] }) }, {}),
  ],
  'Message buttons': [
    buttonsElement({ buttons: buttons() }, { act }),
    buttonsElement({ buttons: buttons() }, {}),
    partsElement({ poll: pollOf({}), buttons: buttons().slice(0, 2) }, { act }),
  ],
  'Poll editor': [
    wide(editor({})),
    wide(editor({ options: ['In the park', 'في الحديقة', 'A very long answer that does not fit in one line of a phone'], multiple: true, anonymous: true, closes: 'day' })),
    wide(editor({ options: Array.from({ length: 10 }, (_, index) => `Bed ${index + 1}`) })),
    wide(faulty()),
  ],
  'Completion list': [
    completionList(
      [
        { words: 'Grace Hopper', second: '@grace', picture: avatar(grace, { size: 1 }) },
        { words: '林 徽因', second: '@lin', picture: avatar(lin, { size: 1 }) },
      ],
      { label: 'People' },
    ),
  ],
  'Emoji picker': [el('div', { class: 'card' }, emojiPicker(act))],
  'Attachment card': [
    attachment({ name: 'plan.pdf', size: 182_044 }, { progress: 0.4, onRemove: act }),
    attachment({ name: 'a-very-long-name-of-a-file-that-is-cut.tar.gz', size: 18 }, { onRemove: act }),
    attachment(
      { name: 'bed.jpg', size: 2_182_044, picture: picture(140, '1') },
      { failed: 'Larger than 10 MB.', onRetry: act, onRemove: act },
    ),
    progressBar(0.7, 'Upload'),
  ],
  'Picture descriptions': [
    el('div', { class: 'card' }, descriptionFields([
      { name: 'bed.jpg', picture: picture(140, '1'), description: 'Two rows of lettuce in the rain.' },
      { name: 'صورة.png', picture: picture(140, '2') },
    ])),
  ],
  'Audio and video': [
    player({ name: 'wind.ogg', size: 182_044, mime_type: 'audio/ogg' }, '/icon.svg'),
    player({ name: 'harvest.webm', size: 2_182_044, mime_type: 'video/webm' }, '/icon.svg'),
  ],
  'Link preview': [
    linkPreview({
      url: 'https://example.org/seeds',
      title: 'Seeds for shady places',
      description: 'Forty kinds that grow where the sun rarely comes, sorted by taste.',
      picture: { url: picture(90, 'S') },
    }),
    linkPreview({ url: 'http://example.org/', title: 'An old page' }),
  ],
  'Rich text': [wide(rich(markdown))],
  Pictures: [
    pictureGrid(pictures(1)),
    pictureGrid(pictures(2)),
    pictureGrid(pictures(3)),
    pictureGrid(pictures(7)),
    pictureGrid([{ id: '1', name: 'Bed', picture: picture(40, '?', 0.7) }]),
    fileCard({ id: '1', name: 'orchard.png', mime_type: 'image/png', size: 5_200_000 }),
  ],
  'Files to send': [written()],
  'Format bar': [formatBar(el('textarea')), el('div.narrow', null, formatBar(el('textarea')))],
  'Picture field': [el('div.card', null, pictureField('Choose a picture'))],
  'Copy line': [el('div.card', null, copyLine('Invite link', 'https://chat.example.org/i/b4rn0wl', { hint: 'Works for one person.' }))],
  Form: [
    el(
      'div.card',
      null,
      savingForm(button('Save', { kind: 'primary', type: 'submit' }), { work: act }, field('Name', { value: 'Ada' })),
    ),
  ],
  'Audit entry': [
    wide(
      el(
        'ul',
        null,
        entryRow({ words: 'Silenced Bartholomew for a day', who: 'Grace', face: grace, at: at(-30), reason: 'Off topic, three times', end: button('Undo') }),
        entryRow({ words: 'Changed the name of the site', at: at(-90) }),
      ),
    ),
  ],
  'Show more': [showMoreButton(async () => {})],
  Popover: [popoverElement('Grace', userCard(grace))],
  Presence: ['online', 'away', 'offline'].map((presence) => {
    const known = { presence, last_seen_at: presence === 'online' ? null : at(-90) };
    return el('span', null, withPresence(avatar(grace), known), ' ', presenceWords(known));
  }),
  'Sidebar edge': [sidebarEdge()],
  'Code block': [wide(codeBlock('swift build\nswift test', 'sh'))],
  'Person card': [
    el('div.card', null, faceField(() => 'ada')),
    el('div.card', null, userCard(ada, { actions: [button('Write', { kind: 'primary' }), button('More')] })),
    wide(userRow(long, { href: '#' })),
    wide(userRow(lin, { second: 'Moderator', end: badge(2), presence: { presence: 'online', last_seen_at: null } })),
    wide(userRow(grace, { href: '#', presence: { presence: 'away', last_seen_at: at(0) } })),
    wide(userRow(ada, { href: '#', presence: { presence: 'offline', last_seen_at: at(0) } })),
    el('div.card', null, userCard(grace, { presence: { presence: 'online', last_seen_at: null } })),
  ],
  Menu: [
    menuElement(
      [
        { words: 'Reply', picture: 'reply', keys: 'r' },
        { words: 'Star', picture: 'star', keys: 's' },
        null,
        { words: 'Remove message', picture: 'delete', danger: true },
      ],
      'Message',
    ),
  ],
  'Message sheet': [
    el(
      'div.card',
      null,
      sheetElement(
        [
          { words: 'Reply', picture: 'reply' },
          { words: 'Copy link', picture: 'link' },
          { words: 'Remove message', picture: 'delete', danger: true },
        ],
        act,
      ),
    ),
  ],
  Dialog: [
    shown(
      dialogElement(
        'Make this a topic',
        [
          el('p', null, 'The messages move into a topic of their own; a link stays here.'),
          field('Title', { value: 'Tomatoes' }),
        ],
        { actions: [button('Cancel'), button('Make the topic', { kind: 'primary' })] },
      ),
    ),
  ],
  'Command menu': [commands()],
  'Lively topics': livelyTopics([
    { title: 'Frost dates', href: '#', forum: 'Garden', writer: 'Priya', at: '2026-11-20T14:14:12.621Z' },
    { title: 'Who has the key to the shed behind the greenhouse, and who had it before?', href: '#', forum: 'حديقة', writer: 'عمر', at: '2026-11-19T14:14:12.621Z' },
  ]),
  Toast: [toastElement('The message is removed.', 'Undo'), toastElement('The link is copied.')],
  Timeline: [
    along(3, { isFlat: false }),
    along(1040, { isFlat: false }),
    wide(along(412, { isFlat: true })),
    timelinePill(12, 1042, act),
  ],
  'Feed post': [
    wide(feed('The first tomatoes are *red*. https://example.org', ada, { href: '/m/1', replies: { n: 3, hasMore: false } }, { actions: { like: { count: 12, mine: true }, 'reaction:🎉': { count: 2, mine: false } } })),
    wide(feed('المرأة تقرأ في الحديقة', long, { href: '/m/2', replies: { n: 50, hasMore: true } }, { edited_at: at(3) })),
    wide(feed('Frost tonight: bring the lemon trees in.', ada, { href: '/m/3', mayRepost: true, reposter: { name: 'Grace', href: '/u/grace' } }, { actions: { repost: { count: 4, mine: false } } })),
    wide(feed('Seeds to give away', grace, { href: '/m/4', mayRepost: true, reposter: { name: null, href: '/u/ada' } }, { actions: { repost: { count: 1, mine: true } } })),
    wide(feed('Not sent yet', ada, { mine: true, href: null }, { state: 'waiting' })),
    wide(feed('Refused', ada, { mine: true, href: null }, { state: 'failed', fault: 'You can’t write here.' })),
    wide(feed('A reply, where replies are turned off', grace, { mayReply: false })),
    waiting(3),
  ],
  'Empty state': [
    empty('No messages yet. Write the first one.', { picture: 'messages' }),
    empty('No forum yet. Create the first one.', {
      picture: 'forums',
      actions: [button('New forum', { kind: 'primary', picture: 'plus' }), button('Invite people')],
    }),
    wide(skeleton(3)),
  ],
  'Report card': [
    wide(
      reportCard(long, {
        name: long.display_name,
        href: '/u/grace',
        counts: 'Joined 14:02 · 9 reports from 3 people · 41 messages today',
        history: 'Before: Warned 2 May',
        posts: [reported()],
        more: 3,
        verbs: [['Dismiss', act], ['Warn', act], ['Remove 41 messages and ban', act, 'danger']],
      }),
    ),
    wide(
      reportCard(grace, { name: 'Grace', counts: '3 reports from 3 people', posts: [reported(), reported(), reported()], verbs: [['Dismiss', act], ['Warn', act]] }),
    ),
  ],
  'Image viewer': [
    wide(
      viewerElement(
        [
          { name: 'bed.jpg', href: picture(140, '1', 1.4) },
          { name: 'b', href: picture(10, '2') },
        ],
        0,
        {},
      ),
    ),
  ],
  'Page bar': [
    wide(
      pageBar('Garden', {
        second: '12 people · 3 online',
        back: act,
        picture: avatar(grace),
        actions: [iconButton('search', 'Search here'), iconButton('panel', 'Details')],
        state: 'online',
      }),
    ),
  ],
  Sidebar: [
    sidebar({
      community: { name: 'The Allotment' },
      me: ada,
      state: 'online',
      here: '/f/2',
      inbox: { unread: 4, loud: true },
      topics: 3,
      on: {},
      sections: [
        { key: 'pinned', title: 'Pinned', list: 0, items: [{ key: 'f4', title: 'Notices', href: '/f/4', forum: { title: 'Notices' }, topics: 1 }] },
        {
          key: 'a',
          title: 'Outside',
          items: [
            { key: 'f1', title: 'Garden', href: '/f/1', forum: { title: 'Garden' }, unread: 6, topics: 3 },
            { key: 'f2', title: 'Bees', href: '/f/2', forum: { title: 'Bees' } },
          ],
        },
        { key: 'b', title: 'Inside', isFolded: true, items: [{ key: 'f3', title: 'Kitchen', unread: 2, loud: true }] },
        {
          key: 'messages',
          title: 'Messages',
          isLast: true,
          items: [
            { key: 'c1', title: 'Grace Hopper', href: '/c/1', users: [grace], unread: 2, loud: true, presence: { presence: 'online', last_seen_at: null } },
            { key: 'c2', title: 'Grace, 林 徽因', href: '/c/2', users: [grace, lin] },
          ],
        },
      ],
    }),
  ],
  'Bottom bar': [wide(bottomBar({ here: '/', inbox: { unread: 4, loud: true }, messages: { unread: 2, loud: true } }))],
};

function waiting(n) {
  const node = newPosts(act);
  node.show(n);
  return el('div.card', null, node);
}

function feed(text, author, view, more) {
  return el('div.feed-list', null, feedPost(message(text, more), { author, act, ...view }));
}

function pollOf(more) {
  const options = [['In the park', 3], ['في الحديقة الكبيرة', 5], ['A very long answer that does not fit in one line, not even on a wide screen', 0]];
  return {
    choices: 1, anonymous: false, closes_at: null, voters: 0, mine: [],
    options: options.map(([text, votes]) => ({ text, votes: more.voters ? votes : 0 })), ...more,
  };
}

function buttons() {
  return [
    { id: 'yes', label: 'Approve', style: 'primary', pressed: false, disabled: false },
    { id: 'no', label: 'Reject', style: 'danger', pressed: false, disabled: false },
    { id: 'later', label: 'في الحديقة', style: 'default', pressed: true, disabled: false },
    { id: 'gone', label: 'An answer that takes forty characters, so', style: 'loud', pressed: false, disabled: true },
  ];
}

function poll(more, message = {}) {
  return pollElement({ poll: pollOf(more), ...message }, { act, mayClose: true });
}

function editor(kept) {
  return pollEditor(kept, { change: act, remove: act }).node;
}

function faulty() {
  const made = pollEditor({ options: ['Same', 'Same'] }, { change: act, remove: act });
  made.body();
  return made.node;
}

function pictures(count) {
  return Array.from({ length: count }, (_, it) => ({ id: String(it), name: `Bed ${it + 1}`, picture: picture(40 * it, String(it + 1), 1.4), width: 336, height: 240 }));
}

function edited() {
  const bar = referenceBar(act);
  const slot = pollSlot(act, act);
  slot.open({ options: ['Monday', 'Friday'] });
  bar.set({ editing: { text: 'Good morning. Who has the key?' } });
  const { row } = composerButtons({ verb: 'Post' }, { submit: act, togglePreview: act, insert: act });
  return el('div.card', null, bar.node, slot.node, row(el('span'), null));
}

function written() {
  const files = composerFiles(100, { change: act, remove: act });
  files.add([new File(['Beds'], 'beds.txt', { type: 'text/plain' }), new File(['x'.repeat(200)], 'too long.txt', { type: 'text/plain' })]);
  return el('div.card', null, files.node);
}

function along(n, options) {
  const node = timeline({ began: new Date(noon.getTime() - 90 * 86_400_000), ended: noon, ...options });
  node.show(n, 1042, () => noon);
  return node;
}

function wide(node) {
  node.classList.add('wide');
  return node;
}

function shown(node) {
  node.setAttribute('open', '');
  return node;
}

function withFault(node) {
  node.setFault('A password has at least 8 characters.');
  return node;
}

function commands() {
  const { node, list } = commandElement();
  list.append(
    commandRow({ words: 'Garden', second: 'Forum', picture: 'forums' }, true),
    commandRow({ words: 'Grace Hopper', second: 'Person', picture: avatar(grace, { size: 1 }) }, false),
    commandRow({ words: 'Mark everything read', keys: 'Shift Esc', picture: 'checks' }, false),
  );
  return Object.assign(el('div.card', null, node));
}

const wanted = query.get('part');
document.body.append(
  el(
    'main.parts',
    { tabindex: '-1' },
    el('h1.page-title', null, 'Parts'),
    Object.entries(parts)
      .filter(([name]) => !wanted || name === wanted)
      .map(([name, states]) =>
        el('section.part', { aria: { label: name } }, el('h2', null, name), el('div.part-states', null, states)),
      ),
  ),
);
document.body.dataset.ready = 'yes';
