// The behaviour of a forum: calls, slow mode, switches. A new forum has the defaults.

import { say } from '../../core/text/text.js';
import { choice, field } from '../../parts/forms/field.js';
import { toggle } from '../../parts/forms/switch.js';
import { roleChoice } from './access.js';

/** Boolean fields with a switch of their own, in the order of the form. */
const SWITCHES = ['solvable', 'shows_revisions'];
/** Only staff decides whether new users join. */
const STAFF_SWITCHES = ['is_default'];

/** Slow mode in seconds; 0 is off. */
const PAUSES = [0, 10, 60, 600];

/** `isWhole`: all fields. Moderators may change slow mode and the lock only. */
export function behaviorFields(forum, isWhole, isStaff) {
  const mention = roleChoice(forum, 'room_mention', say('forum.roomMentionHint'));
  const call = field(say('forum.callAddress'), {
    value: forum.call_url ?? '',
    type: 'url',
    hint: say('forum.callHint'),
    placeholder: 'https://',
    limit: 2048,
  });
  const pauses = [...new Set([...PAUSES, forum.slow_seconds])].sort((a, b) => a - b);
  const slow = choice(
    say('forum.slow'),
    pauses.map((it) => [String(it), it ? say('forum.slowSeconds', { n: it }) : say('forum.slowNone')]),
    { value: String(forum.slow_seconds), hint: say('forum.slowHint') },
  );
  const switchOf = (name) => toggle(say(`forum.${name}`), { checked: forum[name], hint: say(`forum.${name}Hint`) });
  const [locked, archived] = ['locked', 'archived'].map(switchOf);
  const switches = [...(isStaff ? STAFF_SWITCHES : []), ...SWITCHES].map((name) => [name, switchOf(name)]);
  return {
    slow,
    fields: { call_url: call },
    nodes: [
      isWhole && [mention, call],
      slow,
      isWhole && switches.map(([, node]) => node),
      locked,
      isWhole && archived,
    ],
    values: () => ({
      slow_seconds: Number(slow.input.value),
      locked: locked.input.checked,
      ...(isWhole
        ? {
            room_mention: mention.input.value,
            call_url: normalized(call.input.value.trim()),
            archived: archived.input.checked,
            ...Object.fromEntries(switches.map(([name, { input }]) => [name, input.checked])),
          }
        : {}),
    }),
  };
}

/** Percent-encodes an address. An invalid one stays unchanged and is refused by the server. */
function normalized(address) {
  return URL.canParse(address) ? new URL(address).href : address || null;
}
