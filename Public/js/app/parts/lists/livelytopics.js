import { el } from '../../core/dom.js';
import { isolate, say } from '../../core/text/text.js';
import { time } from '../../core/text/times.js';

/** The topics with the newest activity, for a user who has read nothing yet. @param {{ title, href, forum, writer, at }[]} topics */
export function livelyTopics(topics) {
  if (!topics.length) return null;
  return el(
    'section.lively',
    { data: { part: 'lively' } },
    el('h2.section-title', null, say('lively.title')),
    topics.map(({ title, href, forum, writer, at }) =>
      el(
        'a.lively-topic',
        { href },
        el('span.one-line', { dir: 'auto' }, title),
        el('span.second.one-line', null, isolate(forum), ' · ', isolate(writer), ' · ', time(at)),
      ),
    ),
  );
}
