import { el, icon } from '../../core/dom.js';
import { displayName } from '../../core/displayname.js';
import { say } from '../../core/text/text.js';
import { rich } from './rich.js';

/** The answer of a topic, repeated under the first post. Files and polls stand at the answer. */
export function solution({ message, author }) {
  const words = say('topic.answerBy', { name: displayName(author) });
  const place = (_, description) => el('a', { href: `/m/${message.id}` }, description || say('file.one'));
  return el(
    'section.post-solution',
    { aria: { label: words } },
    el('p', null, el('a', { href: `/m/${message.id}` }, icon('check'), words)),
    message.text ? rich(message.text, place) : el('p.second', null, say('message.noText')),
  );
}
