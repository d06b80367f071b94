// The quiet lines between messages.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { aging, day, full } from '../../core/text/times.js';

export function dayLine(date) {
  return el(
    'div.day-line',
    null,
    // Without a role of its own: in a feed stand articles and plain words.
    aging(el('span', { title: full(date) }), () => day(date)),
  );
}

export function newLine() {
  return el('div.new-line', null, el('span', null, say('list.newLine')));
}

/** The typing indicator: nothing, one name, two, or several. */
export function typingLine(names) {
  const [first, second] = names;
  const words =
    names.length === 0
      ? ''
      : names.length === 1
        ? say('typing.one', { first })
        : names.length === 2
          ? say('typing.two', { first, second })
          : say('typing.several');
  return el(
    'p.typing-line',
    { class: words ? 'is-on' : '' },
    words && el('span.typing-dots', { aria: { hidden: 'true' } }, el('i'), el('i'), el('i')),
    words,
  );
}

/** "6 new ↓": the text under the eye does not move until it is pressed. */
export function pill(count, on) {
  return el(
    'button.pill',
    { on: { click: on }, aria: { label: say(count ? 'pill.newLabel' : 'pill.down', { n: count }) } },
    count ? say('pill.new', { n: count }) : say('pill.newest'),
    ' ↓',
  );
}
