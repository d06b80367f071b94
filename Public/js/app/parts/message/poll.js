// The poll of a message: its options are pressed to vote. Module, style sheet and texts are loaded with the first poll.

import { voted } from '../../../parley/outbox.js';
import { el, icon, redraw, spoken } from '../../core/dom.js';
import { loadSheet } from '../../core/sheet.js';
import { loadMoreText, number, region, say, sayWith } from '../../core/text/text.js';
import { time } from '../../core/text/times.js';

const SHEET = '/css/parts/message/poll.css';
const MINUTE = 60_000;
const UNITS = [['day', 24 * 60 * MINUTE], ['hour', 60 * MINUTE], ['minute', MINUTE]];

export const loadPolls = () => Promise.all([loadSheet(SHEET), loadMoreText()]);

/**
 * @param {object} message as in the API; in an unsent one the options of the poll are texts
 * @param {object} view
 * @param {(verb: string, detail?: any) => void} [view.act] `vote` with the chosen options, `poll` with the name of an action
 * @param {boolean} [view.mayClose]
 */
export function pollElement(message, { act, mayClose }) {
  const node = el('div.poll', { role: 'group', aria: { label: say('poll.name') } });
  let poll = withCounts(message.poll);
  const ends = poll.closes_at ? Date.parse(poll.closes_at) : Infinity;
  const vote = (index) => {
    const chosen = toggled(poll, index);
    // The next press may come before the message is drawn again.
    poll = voted(poll, chosen);
    draw();
    act('vote', chosen);
  };
  const draw = () => {
    const left = ends - Date.now();
    const isOpen = left > 0 && !message.state;
    const press = isOpen && act ? vote : null;
    redraw(
      node,
      press && poll.choices > 1 && el('p.second', null, say(poll.choices < poll.options.length ? 'poll.upTo' : 'poll.several', { n: poll.choices })),
      poll.options.map((it, index) => optionElement(poll, it, index, press)),
      el('p.poll-facts.second', null, facts(poll, left, !!message.state)),
      el(
        'p.poll-verbs',
        null,
        act && !message.state && !poll.anonymous && poll.voters > 0 && verb('votes', () => act('poll', 'showVotes')),
        press && mayClose && verb('close', () => act('poll', 'closePoll')),
      ),
    );
    if (left > 0 && left < Infinity) setTimeout(() => node.isConnected && draw(), Math.min(left, MINUTE));
  };
  draw();
  return node;
}

const verb = (name, click) => el('button.text-button', { on: { click }, data: { act: `poll-${name}` } }, say(`poll.${name}`));

/** The poll of an unsent message has no votes yet. */
function withCounts({ options, ...poll }) {
  const whole = options.map((it) => (typeof it === 'string' ? { text: it, votes: 0 } : it));
  return { choices: 1, anonymous: false, closes_at: null, voters: 0, mine: [], ...poll, options: whole };
}

/** The user's vote after an option was pressed. */
function toggled({ mine = [], choices }, index) {
  if (mine.includes(index)) return mine.filter((it) => it !== index);
  return choices === 1 ? [index] : [...mine, index].sort((a, b) => a - b);
}

/** @param {((index: number) => void) | null} press null where the user can't vote */
function optionElement({ mine = [], choices, voters }, { text, votes }, index, press) {
  const isMine = mine.includes(index);
  const share = voters ? votes / voters : 0;
  const percent = new Intl.NumberFormat(region(), { style: 'percent' }).format(share);
  const bar = el('span.poll-bar');
  bar.style.inlineSize = `${share * 100}%`;
  return el(
    press ? 'button.poll-option' : 'div.poll-option',
    {
      class: isMine ? 'is-chosen' : '',
      aria: { pressed: press ? String(isMine) : null },
      // One vote moves from option to option; of several one has to be withdrawn first.
      disabled: !!press && !isMine && choices > 1 && mine.length >= choices,
      on: press ? { click: () => press(index) } : {},
      data: { act: `vote-${index}` },
    },
    bar,
    el('span.poll-mark', { class: choices > 1 ? 'is-square' : '' }, isMine && icon('check')),
    el('span.poll-text', null, el('bdi', null, text)),
    el('span.poll-count', { aria: { hidden: 'true' } }, `${number(votes)} · ${percent}`),
    spoken(`${say('poll.count', { n: votes })}, ${percent}${isMine && !press ? `, ${say('poll.mine')}` : ''}`),
  );
}

/** The number of voters, the closing and the secrecy, as one line. */
function facts(poll, left, isUnsent) {
  const closing = left <= 0 ? say('poll.closed') : left < Infinity && sayWith('poll.closes', { at: time(poll.closes_at, () => within(left)) });
  const voters = poll.voters ? say('poll.voters', { n: poll.voters }) : say('poll.noVotes');
  const all = [!isUnsent && voters, closing, poll.anonymous && say('poll.anonymous')];
  return all.filter(Boolean).flatMap((it, index) => (index ? [' · ', it] : [it]));
}

/** `in 3 days`: in the largest unit that fits. */
function within(left) {
  const [unit, length] = UNITS.find(([, it]) => left > it - MINUTE) ?? UNITS.at(-1);
  return new Intl.RelativeTimeFormat(region()).format(Math.max(1, Math.round(left / length)), unit);
}
