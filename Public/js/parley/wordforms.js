// Other forms of a word: number, and in English the endings of verbs. A few rules for each language, without a dictionary. The
// server has the same rules (`WordForms.swift`), and Tests/Contract/wordforms.json the cases of both.

/** Forms of one word. */
const maxForms = 24;
/** A shorter word has no other forms, nor has a stem. */
const minLength = 3;

/**
 * The stem before an ending; null without the ending, or with a stem that is too short.
 * @param {string} word @param {string} ending
 */
const without = (word, ending) =>
  word.endsWith(ending) && word.length - ending.length >= minLength - 1 ? word.slice(0, -ending.length) : null;

/** @param {string} word @param {string[]} endings */
const ends = (word, ...endings) => endings.some((it) => word.endsWith(it));

/** @param {string} word */
const endsInVowel = (word) => /[aeiou]$/.test(word);

/** @param {(string | null)[]} words @returns {string[]} */
const known = (words) => /** @type {string[]} */ (words.filter((it) => it !== null));

// English.

/** @param {string} word */
function englishStems(word) {
  const carry = without(word, 'ied');
  if (carry !== null) return [`${carry}y`];
  const stem = without(word, 'ing') ?? without(word, 'ed');
  if (stem === null) return englishSingulars(word);
  return [stem, `${stem}e`, ...(stem.at(-1) === stem.at(-2) ? [stem.slice(0, -1)] : [])];
}

/** @param {string} word @returns {string[]} */
function englishSingulars(word) {
  const story = without(word, 'ies');
  if (story !== null) return [`${story}y`];
  const leaf = without(word, 'ves');
  if (leaf !== null) return [`${leaf}f`, `${leaf}fe`, `${leaf}ve`];
  if (ends(word, 'ses', 'xes', 'zes', 'ches', 'shes', 'oes')) return [without(word, 'es') ?? '', without(word, 's') ?? ''];
  if (ends(word, 'ss', 'us', 'is')) return [];
  return known([without(word, 's')]);
}

/** @param {string} stem @returns {string[]} */
function englishPlurals(stem) {
  if (ends(stem, 's', 'x', 'z', 'ch', 'sh')) return [`${stem}es`];
  if (ends(stem, 'o')) return [`${stem}s`, `${stem}es`];
  const story = without(stem, 'y');
  if (story !== null && !endsInVowel(story)) return [`${story}ies`];
  const leaf = without(stem, 'fe') ?? without(stem, 'f');
  return leaf === null ? [`${stem}s`] : [`${stem}s`, `${leaf}ves`];
}

/** @param {string} stem @returns {string[]} */
function englishVerbs(stem) {
  if (ends(stem, 'ing', 'ed')) return [];
  const bake = without(stem, 'e');
  if (bake !== null && !ends(bake, 'e')) return [`${bake}ing`, `${bake}ed`];
  const carry = without(stem, 'y');
  if (carry !== null && !endsInVowel(carry)) return [`${stem}ing`, `${carry}ied`];
  const plain = [`${stem}ing`, `${stem}ed`];
  const last = stem.at(-1);
  return endsInDoubling(stem) ? [...plain, `${stem}${last}ing`, `${stem}${last}ed`] : plain;
}

/**
 * A short word such as *stop*, whose last letter is doubled before `-ing`.
 * @param {string} word
 */
const endsInDoubling = (word) => word.length <= 4 && /[^aeiou][aeiou][^aeiouwxy]$/.test(word);

// German. Umlauts are folded, so *Garten* and *Gärten* are the same word already.

/** @param {string} word */
function germanStems(word) {
  const stem = ['ern', 'en', 'er', 'es', 'e', 'n', 's'].map((it) => without(word, it)).find((it) => (it ?? '').length > minLength);
  const tomato = without(word, 'en');
  return known([stem ?? null, tomato === null ? null : `${tomato}e`]);
}

/** @param {string} stem */
const german = (stem) =>
  ends(stem, 'e') ? [`${stem}n`, `${stem}s`] : ['e', 'en', 'er', 'n', 's', 'es', 'ern'].map((it) => stem + it);

// French.

/** @param {string} word */
function frenchStems(word) {
  const animal = without(word, 'aux');
  if (animal !== null) return [`${animal}al`, `${animal}au`];
  return ends(word, 'ss') ? [] : known(['es', 's', 'x', 'e'].map((it) => without(word, it)));
}

/** @param {string} stem */
function french(stem) {
  const animal = without(stem, 'al');
  if (animal !== null) return [`${animal}aux`, `${stem}e`, `${stem}es`, `${stem}s`];
  if (ends(stem, 'au', 'eu', 'ou')) return [`${stem}x`, `${stem}s`];
  if (ends(stem, 's', 'x')) return [];
  return ends(stem, 'e') ? [`${stem}s`] : [`${stem}s`, `${stem}e`, `${stem}es`];
}

// Spanish.

/** @param {string} word */
function spanishStems(word) {
  const light = without(word, 'ces');
  if (light !== null) return [`${light}z`];
  const flower = without(word, 'es');
  if (flower !== null && !endsInVowel(flower)) return [flower, `${flower}e`];
  return known([without(word, 's')]);
}

/** @param {string} stem */
function spanish(stem) {
  const light = without(stem, 'z');
  if (light !== null) return [`${light}ces`];
  if (ends(stem, 's', 'x')) return [];
  return [stem + (endsInVowel(stem) ? 's' : 'es')];
}

/** @type {Record<string, { stems: (word: string) => string[], grow: (stem: string) => string[] }>} */
const rules = {
  en: { stems: englishStems, grow: (stem) => [...englishPlurals(stem), ...englishVerbs(stem)] },
  de: { stems: germanStems, grow: german },
  fr: { stems: frenchStems, grow: french },
  es: { stems: spanishStems, grow: spanish },
};

/**
 * @param {string} word Folded: without case and accents.
 * @param {string} language Its code, such as `de` or `de-AT`. Other languages than these have no rules.
 * @returns {string[]}
 */
export function wordForms(word, language) {
  const rule = rules[language.split('-')[0].toLowerCase()];
  if (!rule || !/^[a-z]{3,}$/.test(word)) return [];
  const stems = [word, ...rule.stems(word).filter((it) => it.length >= minLength)];
  return [...new Set([...stems, ...stems.flatMap(rule.grow)])].filter((it) => it !== word).slice(0, maxForms);
}
