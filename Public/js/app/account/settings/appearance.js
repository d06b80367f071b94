// The appearance of the app: language, region, clock, theme, density.

import { refill } from '../../core/dom.js';
import { language, number, say, sayProblem } from '../../core/text/text.js';
import { rememberLook } from '../../core/theme.js';
import { full } from '../../core/text/times.js';
import { choice } from '../../parts/forms/field.js';
import { toggle } from '../../parts/forms/switch.js';
import { toast } from '../../parts/overlays/toast.js';
import { changePreferences } from './changeme.js';
import { chosenLanguage, languages, useLanguage } from './language.js';

const REGIONS = 'AE AR AT AU BE BR CA CH CL CN CO CZ DE DK DZ EG ES FI FR GB GR HK HU IE IL IN IQ IT JO JP KR LB LU MA MX NL NO NZ PE PL PT RO RU SA SE SG TN TR TW UA US ZA'.split(' ');

export async function appearance(shell, column) {
  const { site } = shell;
  /** The changes that are not stored yet. */
  const chosen = {};
  const { preferences } = site.me;
  const keep = async (more) => {
    Object.assign(chosen, more);
    // Other preferences may have changed meanwhile, such as the arrangement of the sidebar.
    const all = { ...site.me.preferences, ...chosen };
    rememberLook(all, site.server.hue);
    regions.querySelector('.field-hint').textContent = regionHint();
    await changePreferences(site, chosen).catch((error) => toast(sayProblem(error)));
    // From now on the account has it, and another device may change it.
    for (const [name, value] of Object.entries(more)) if (chosen[name] === value) delete chosen[name];
  };
  const pick = (name, values, fallback) =>
    choice(
      say(`appearance.${name}`),
      values.map((it) => [it, say(`appearance.${name}.${it}`)]),
      {
        value: preferences[name] ?? fallback,
        on: (value) => keep({ [name]: value }),
      },
    );
  const regions = regionChoice(preferences.region, keep);
  refill(
    column,
    languageChoice(keep),
    regions,
    pick('clock', ['region', '24', '12'], 'region'),
    pick('theme', ['system', 'light', 'dark'], 'system'),
    pick('density', ['comfortable', 'compact'], 'comfortable'),
    pick('shape', ['bubbles', 'rows'], 'bubbles'),
    toggle(say('appearance.tombstones'), {
      checked: preferences.tombstones !== false,
      hint: say('appearance.tombstonesHint'),
      on: (on) => keep({ tombstones: on }),
    }),
    toggle(say('appearance.letters'), {
      checked: preferences.letters !== false,
      hint: say('appearance.lettersHint'),
      on: (on) => keep({ letters: on }),
    }),
  );
}

/** The format of dates, times and numbers; the language of the texts stays. */
function regionChoice(region = '', keep) {
  const names = new Intl.DisplayNames([language()], { type: 'region' });
  const named = REGIONS.map((code) => [code, names.of(code)]).sort(([, one], [, other]) => one.localeCompare(other, language()));
  return choice(say('appearance.region'), [['', say('appearance.region.browser')], ...named], {
    value: region,
    hint: regionHint(),
    on: (code) => keep({ region: code || undefined }),
  });
}

/** An example of a date, a time and a number. */
const regionHint = () => say('appearance.regionHint', { example: `${full(new Date())} · ${number(1234.5)}` });

/** The account keeps the language for its next devices; this device loads the app in it. */
function languageChoice(keep) {
  return choice(say('appearance.language'), [['', say('appearance.language.browser')], ...languages()], {
    value: chosenLanguage() ?? '',
    hint: say('appearance.languageHint'),
    on: async (code) => {
      await keep({ language: code || undefined });
      useLanguage(code || null);
    },
  });
}
