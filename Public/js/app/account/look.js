// The appearance of the app: language, theme, density.

import { refill } from '../core/dom.js';
import { say } from '../core/text.js';
import { rememberLook } from '../core/theme.js';
import { choice } from '../parts/field.js';
import { toggle } from '../parts/switch.js';
import { changeMe } from './changeme.js';
import { chosenLanguage, languages, useLanguage } from './language.js';

export async function look(shell, column) {
  const { site } = shell;
  const preferences = { ...site.me.preferences };
  const keep = async (more) => {
    Object.assign(preferences, more);
    rememberLook(preferences, site.server.hue);
    await changeMe(shell, { preferences }).catch(() => {});
  };
  const pick = (name, values, fallback) =>
    choice(
      say(`look.${name}`),
      values.map((it) => [it, say(`look.${name}.${it}`)]),
      {
        value: preferences[name] ?? fallback,
        on: (value) => keep({ [name]: value }),
      },
    );
  refill(
    column,
    languageChoice(keep),
    pick('theme', ['system', 'light', 'dark'], 'system'),
    pick('density', ['comfortable', 'compact'], 'comfortable'),
    pick('shape', ['bubbles', 'rows'], 'bubbles'),
    toggle(say('look.tombstones'), {
      checked: preferences.tombstones !== false,
      hint: say('look.tombstonesHint'),
      on: (on) => keep({ tombstones: on }),
    }),
    toggle(say('look.letters'), {
      checked: preferences.letters !== false,
      hint: say('look.lettersHint'),
      on: (on) => keep({ letters: on }),
    }),
  );
}

/** The account keeps the language for its next devices; this device loads the app in it. */
function languageChoice(keep) {
  return choice(say('look.language'), [['', say('look.language.browser')], ...languages()], {
    value: chosenLanguage() ?? '',
    hint: say('look.languageHint'),
    on: async (code) => {
      await keep({ language: code || undefined });
      useLanguage(code || null);
    },
  });
}
