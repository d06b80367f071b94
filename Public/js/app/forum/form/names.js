// Title, description and section.

import { el } from '../../core/dom.js';
import { say } from '../../core/text/text.js';
import { field } from '../../parts/forms/field.js';

const sectionsID = 'known-sections';

/** `onInput` is called when the title or the description changes. */
export function nameFields(site, forum, onInput) {
  const { limits } = site.server;
  const title = field(say('forum.title'), {
    value: forum?.title,
    required: true,
    limit: limits.title_scalars,
    on: { input: onInput },
  });
  const description = field(say('forum.description'), {
    value: forum?.description,
    lines: 2,
    hint: say('forum.descriptionHint'),
    limit: limits.description_scalars,
    on: { input: onInput },
  });
  const section = field(say('forum.section'), {
    value: forum?.section ?? '',
    hint: say('forum.sectionHint'),
    limit: 64,
  });
  section.input.setAttribute('list', sectionsID);
  const sections = [...new Set([...site.forums.values()].map((it) => it.section).filter(Boolean))];
  const known = el('datalist', { id: sectionsID }, sections.map((it) => el('option', { value: it })));
  return {
    title,
    fields: { title, description, section },
    nodes: [title, description, site.isStaff && [section, known]],
    values() {
      const chosen = section.input.value.trim() || null;
      return {
        title: title.input.value.trim(),
        description: description.input.value.trim(),
        ...(site.isStaff && (chosen || forum) ? { section: chosen } : {}),
      };
    },
  };
}
