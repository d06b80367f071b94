// UI texts by key, from one file of Public/lang for each language. `{name}` is a parameter; a text that depends on a number
// is an object of plural forms, chosen by `n`. The bundled app has two files of a language: texts of the first view, and
// texts that only later pages use.

import { restAddress } from '../bundle.js';

let messages = {};
let plurals = new Intl.PluralRules('en');
let chosen = 'en';
let regional = 'en-GB';
/** The locale of the browser in the language of the app. */
let ofBrowser = regional;
let isTurned = false;
/** Changes the texts of the pseudo-locale. */
let pseudo = (texts) => texts;
/** @type {Promise<void> | undefined} */
let more;
/** Maximum age of a cookie in browsers, in seconds. */
const COOKIE_AGE = 400 * 86_400;
/** After a refusal without a time of its own, in milliseconds. */
const DEFAULT_WAIT = 60_000;

export const language = () => chosen;

/** Keeps the language chosen on this device; null returns the choice to the browser. The server reads the cookie. */
export function keepLanguage(code) {
  if (code) localStorage.setItem('language', code);
  else localStorage.removeItem('language');
  document.cookie = `language=${code ?? ''}; path=/; max-age=${code ? COOKIE_AGE : 0}; samesite=lax`;
}

/** Loads the texts of a language; the page's own, if the server does not have it or the network is away. */
export async function loadText(wanted) {
  const root = document.documentElement;
  if (wanted === 'en-XA') {
    ({ pseudo } = await import('./pseudo.js'));
    wanted = 'en';
  }
  const texts = await table(wanted).catch(() => table((wanted = root.lang)));
  useText(texts, wanted);
  root.lang = chosen;
  root.dir = texts['language.direction'];
}

/** Adds the texts of the later pages. */
export function loadMoreText() {
  if (!restAddress()) return undefined;
  more ??= table(`${chosen}.more`).then(
    (it) => Object.assign(messages, pseudo(it)),
    (error) => {
      more = undefined;
      throw error;
    },
  );
  return more;
}

async function table(name) {
  const response = await fetch(`${restAddress() ? '/app' : '/lang'}/${name}.json`);
  if (!response.ok) throw new Error(name);
  return response.json();
}

export function useText(table, wanted = 'en') {
  messages = pseudo(table);
  chosen = wanted;
  isTurned = table['language.direction'] === 'rtl';
  // A browser may name a locale that `Intl` refuses, such as en-US@posix.
  const isRegional = new RegExp(`^${chosen}(-\\w+)+$`);
  regional = ofBrowser = globalThis.navigator?.languages?.find((it) => isRegional.test(it)) ?? (chosen === 'en' ? 'en-GB' : chosen);
  plurals = new Intl.PluralRules(chosen);
}

/** Takes the region and the clock that the user has chosen; without a choice those of the browser count. */
export function useRegion({ region, clock } = {}) {
  const hours = { 12: '-u-hc-h12', 24: '-u-hc-h23' }[clock] ?? '';
  regional = (/^[A-Z]{2}$/.test(region) ? `${chosen}-${region}` : ofBrowser) + hours;
}

export function say(key, params) {
  const message = formOf(key, params);
  return params ? message.replace(/\{(\w+)\}/g, (whole, name) => show(params[name], whole)) : message;
}

/** The same as pieces in their order, for a sentence in which a name is a link. @returns {(string|Node)[]} */
export function sayWith(key, params) {
  return formOf(key, params)
    .split(/(\{\w+\})/)
    .map((piece) => {
      const value = params[/^\{(\w+)\}$/.exec(piece)?.[1]];
      return value instanceof Node ? value : show(value, piece);
    });
}

function formOf(key, params) {
  const message = messages[key] ?? key;
  return typeof message === 'object' ? (message[plurals.select(Number(params?.n ?? 0))] ?? message.other) : message;
}

export function knows(key) {
  return Object.hasOwn(messages, key);
}

function show(value, otherwise) {
  if (value === undefined || value === null) return otherwise;
  return typeof value === 'number' ? number(value) : isolate(String(value));
}

const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * Isolates a name that may have the other direction than the page (UAX #9 §2.4.2). Otherwise the punctuation and the digits
 * behind it would take its direction and change places with it.
 */
export function isolate(name) {
  return name && (isTurned || RIGHT_TO_LEFT.test(name)) ? `\u2068${name}\u2069` : name;
}

/** From one name to the next, in the direction of reading. */
export const arrow = () => (isTurned ? '←' : '→');

/** The language with the chosen region, or with the first that the browser has for it, for `Intl`. */
export const region = () => regional;

/** Groups digits by the rules of the language: 1,042. */
export function number(value) {
  return new Intl.NumberFormat(regional).format(value);
}

/** Several names as the language lists them: Ada, Grace and Lin. */
export function list(names) {
  return new Intl.ListFormat(regional, { type: 'conjunction' }).format(names);
}

export function bytes(count) {
  const units = say('file.units').split(' ');
  let unit = 0;
  while (count >= 1000 && unit < units.length - 1) {
    count /= 1000;
    unit += 1;
  }
  const digits = count < 10 && unit ? 1 : 0;
  return `${new Intl.NumberFormat(regional, { minimumFractionDigits: digits, maximumFractionDigits: digits }).format(count)} ${units[unit]}`;
}

/** Returns the text for a problem, by its code, or a general one. */
export function sayProblem(problem) {
  const field = problem?.errors?.[0];
  const params = { ...problem?.params, ...field?.params };
  const keys = [
    // One of a list has the text of the list.
    field && `problem.${field.field.replace(/\[\d+\]/, '')}.${field.code}`,
    field && `problem.${field.code}`,
    ...(problem?.code ? keysOf(problem.code, params) : []),
  ];
  const key = keys.find((it) => it && knows(it)) ?? 'problem.other';
  const seconds = Math.max(1, Math.ceil((problem?.retryAfter ?? DEFAULT_WAIT) / 1_000));
  const sentence = say(key, { seconds, ...params, ...(params.until && { until: dayAndTime(params.until) }) });
  // A parameter did not come.
  return /\{\w+\}/.test(sentence) ? say('problem.invalid') : sentence;
}

/** A code has forms for the parameters that came with it, and for the limit that was reached. */
function keysOf(code, params) {
  const given = ['until', 'reason'].filter((it) => params[it]);
  return [
    typeof params.limit === 'string' && `problem.${code}.${params.limit}`,
    given.length > 0 && `problem.${code}.${given.join('.')}`,
    `problem.${code}`,
  ];
}

/** A future time always has its day, and of another year the year: 24 Nov, 03:21. */
function dayAndTime(at) {
  const date = new Date(at);
  const year = date.getFullYear() === new Date().getFullYear() ? undefined : 'numeric';
  const format = (parts) => new Intl.DateTimeFormat(regional, parts).format(date);
  return say('time.dayAt', { day: format({ day: 'numeric', month: 'short', year }), time: format({ timeStyle: 'short' }) });
}
