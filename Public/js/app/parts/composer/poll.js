// The poll of a message that is being written: options, how one votes, and when it closes.

import { el, refill } from '../../core/dom.js';
import { number, say } from '../../core/text/text.js';
import { button, iconButton } from '../forms/button.js';
import { choice } from '../forms/field.js';
import { toggle } from '../forms/switch.js';

export { loadPolls } from '../message/poll.js';

const MIN = 2;
const MAX = 10;
const MAX_LENGTH = 80;
const HOUR = 3_600_000;
const DURATIONS = { hour: HOUR, day: 24 * HOUR, days: 3 * 24 * HOUR, week: 7 * 24 * HOUR };

/**
 * @param {object} kept the poll of a draft, or that of an unsent message as it was posted
 * @param {{ change: () => void, remove: () => void }} on
 */
export function pollEditor(kept, on) {
  const before = asKept(kept);
  const fault = el('p.field-fault', { role: 'alert', hidden: true });
  const options = optionList(before.options, changed);
  const closes = choice(say('poll.closeAfter'), ['none', ...Object.keys(DURATIONS)].map((it) => [it, say(`poll.after.${it}`)]), {
    value: before.closes, on: changed,
  });
  const several = toggle(say('poll.multiple'), { checked: before.multiple, on: changed });
  const secret = toggle(say('poll.anonymous'), { checked: before.anonymous, hint: say('poll.anonymousHint'), on: changed });

  function changed() {
    fault.hidden = true;
    for (const it of options.inputs) it.removeAttribute('aria-invalid');
    on.change();
  }

  function refuse(words, input) {
    fault.textContent = words;
    fault.hidden = false;
    input.setAttribute('aria-invalid', 'true');
    input.focus();
    return null;
  }

  const node = el(
    'fieldset.poll-editor',
    { aria: { label: say('poll.name') } },
    el(
      'div.poll-editor-head', null,
      el('span', null, el('strong', null, say('poll.name')), ' ', el('span.second', null, say('poll.question'))),
      iconButton('close', say('poll.remove'), { on: on.remove }),
    ),
    options.nodes,
    el('div.poll-editor-more', null, closes, several, secret),
    fault,
  );
  return {
    node,
    focus: () => (options.inputs.find((it) => !it.value) ?? options.inputs[0]).focus(),
    get value() {
      return { options: options.inputs.map((it) => it.value), multiple: several.input.checked, anonymous: secret.input.checked, closes: closes.input.value };
    },
    /** The poll to post; null after it has shown what is missing. */
    body() {
      const filled = options.inputs.filter((it) => it.value.trim());
      if (filled.length < MIN) return refuse(say('poll.least', { n: MIN }), options.inputs.find((it) => !it.value.trim()));
      const texts = filled.map((it) => it.value.trim());
      const again = filled.find((_, index) => texts.indexOf(texts[index]) < index);
      if (again) return refuse(say('problem.poll.options.taken'), again);
      const duration = DURATIONS[closes.input.value];
      return {
        options: texts,
        choices: several.input.checked ? texts.length : 1,
        anonymous: secret.input.checked,
        ...(duration ? { closes_at: new Date(Date.now() + duration).toISOString() } : {}),
      };
    },
  };
}

/** The fields of the options, from two to ten. */
function optionList(values, changed) {
  const list = el('div.poll-editor-options');
  const more = button(say('poll.add'), { kind: 'quiet', picture: 'plus', on: () => add().focus() });
  const most = el('p.field-hint', { hidden: true }, say('poll.most', { n: MAX }));
  const field = (value) => el('input.field-input', { value, maxlength: MAX_LENGTH, autocomplete: 'off', dir: 'auto', on: { input: changed, keydown: pressed } });
  let inputs = values.map(field);

  function add() {
    const input = field('');
    inputs.push(input);
    draw();
    changed();
    return input;
  }

  function remove(input) {
    const at = inputs.indexOf(input);
    inputs = inputs.filter((it) => it !== input);
    draw();
    changed();
    inputs[Math.min(at, inputs.length - 1)].focus();
  }

  /** Enter goes on to the next option. It neither sends the message nor leaves the poll. */
  function pressed(event) {
    if (event.key !== 'Enter' || event.isComposing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const next = inputs[inputs.indexOf(event.currentTarget) + 1] ?? (inputs.length < MAX ? add() : null);
    next?.focus();
  }

  function draw() {
    refill(list, inputs.map((input, index) => {
      const n = number(index + 1);
      input.setAttribute('aria-label', say('poll.option', { n }));
      input.placeholder = say('poll.option', { n });
      return el('div.poll-editor-option', null, input, iconButton('close', say('poll.removeOption', { n }), { on: () => remove(input), disabled: inputs.length <= MIN }));
    }));
    more.hidden = inputs.length >= MAX;
    most.hidden = !more.hidden;
  }

  draw();
  return {
    nodes: [list, more, most],
    get inputs() {
      return inputs;
    },
  };
}

/** The poll in the form of drafts. A closing time becomes the next longer duration. */
function asKept({ options = [], choices = 1, multiple = choices > 1, anonymous = false, closes_at: at, closes }) {
  const left = at ? Date.parse(at) - Date.now() : null;
  const next = left !== null && (Object.keys(DURATIONS).find((it) => DURATIONS[it] >= left) ?? 'week');
  const empty = Array.from({ length: Math.max(0, MIN - options.length) }, () => '');
  return { options: [...options, ...empty], multiple, anonymous, closes: closes ?? (next || 'none') };
}
