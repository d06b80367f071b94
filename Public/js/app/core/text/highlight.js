// Syntax highlighting: one scanner, and the comments, strings and keywords of each language. Loaded with the first block
// of code. Unknown languages stay plain.

const words = (text) => new Set(text.split(' '));
const C_LIKE = { line: '//', block: ['/*', '*/'], quotes: '"\'' };
const HASHED = { line: '#', quotes: '"\'' };

const languages = {
  bash: { ...HASHED, keywords: words('if then else elif fi for while until do done case esac in function return local export set source echo exit') },
  c: { ...C_LIKE, keywords: words('auto break case char const continue default do double else enum extern float for goto if inline int long register return short signed sizeof static struct switch typedef union unsigned void volatile while include define') },
  cpp: { ...C_LIKE, keywords: words('auto bool break case catch char class const constexpr continue default delete do double else enum explicit false float for friend if inline int long namespace new nullptr operator private protected public return short static struct switch template this throw true try typename using virtual void while include define') },
  css: { block: ['/*', '*/'], quotes: '"\'', keywords: words('important media supports import from to and not only') },
  go: { ...C_LIKE, quotes: '"\'`', keywords: words('break case chan const continue default defer else fallthrough for func go goto if import interface map nil package range return select struct switch true false type var') },
  html: { block: ['<!--', '-->'], quotes: '"\'', keywords: words(''), tags: true },
  java: { ...C_LIKE, keywords: words('abstract boolean break byte case catch char class const continue default do double else enum extends false final finally float for if implements import instanceof int interface long new null package private protected public return short static super switch synchronized this throw throws true try var void while') },
  js: { ...C_LIKE, quotes: '"\'`', keywords: words('async await break case catch class const continue default delete do else export extends false finally for from function if import in instanceof let new null of return static super switch this throw true try typeof undefined var void while yield') },
  json: { quotes: '"', keywords: words('true false null') },
  kotlin: { ...C_LIKE, keywords: words('as break by class companion const continue data do else false for fun if import in interface is null object override package private return sealed super this throw true try typealias val var when while') },
  lua: { line: '--', quotes: '"\'', keywords: words('and break do else elseif end false for function if in local nil not or repeat return then true until while') },
  php: { ...C_LIKE, keywords: words('abstract array as break case catch class const continue default do echo else elseif extends false final finally for foreach function if implements interface namespace new null private protected public return static switch throw true try use while') },
  python: { ...HASHED, long: ['"""', "'''"], keywords: words('and as assert async await break class continue def del elif else except False finally for from global if import in is lambda None nonlocal not or pass raise return True try while with yield') },
  ruby: { ...HASHED, keywords: words('alias and begin break case class def do else elsif end ensure false for if in module next nil not or redo rescue return self super then true undef unless until when while yield require') },
  rust: { ...C_LIKE, quotes: '"', keywords: words('as async await break const continue crate dyn else enum extern false fn for if impl in let loop match mod move mut pub ref return self static struct super trait true type unsafe use where while') },
  sql: { line: '--', block: ['/*', '*/'], quotes: '"\'', anyCase: true, keywords: words('add all alter and as asc between by case create delete desc distinct drop else end exists foreign from group having in index inner insert into is join key left like limit not null on or order outer primary references right select set table then union unique update values view when where with') },
  swift: { ...C_LIKE, quotes: '"', long: ['"""'], keywords: words('actor any as async await break case catch class continue default defer deinit do else enum extension fallthrough false fileprivate final for func guard if import in init inout internal is let mutating nil open override private protocol public repeat rethrows return self some static struct subscript super switch throw throws true try typealias var weak where while') },
  toml: { ...HASHED, keywords: words('true false') },
  yaml: { ...HASHED, keywords: words('true false null yes no') },
};

const names = {
  sh: 'bash', shell: 'bash', zsh: 'bash', h: 'c', 'c++': 'cpp', cc: 'cpp', xml: 'html', svg: 'html', javascript: 'js', jsx: 'js', ts: 'js',
  tsx: 'js', typescript: 'js', mjs: 'js', kt: 'kotlin', py: 'python', rb: 'ruby', rs: 'rust', yml: 'yaml', golang: 'go',
};

/** Maximum length of highlighted code. */
const MAX = 20_000;

/**
 * The pieces of code with their kinds: comment, string, number, keyword, type, function; plain pieces have none. Null for
 * an unknown language.
 * @returns {{ text: string, kind?: string }[] | null}
 */
export function highlight(code, language) {
  const name = String(language ?? '').toLowerCase();
  const rules = languages[names[name] ?? name];
  if (!rules || !Object.hasOwn(languages, names[name] ?? name) || code.length > MAX) return null;
  const pieces = [];
  const pattern = scanner(rules);
  let at = 0;
  for (const found of code.matchAll(pattern)) {
    const kind = kindOf(found, rules) ?? (found[4] && code[found.index + found[0].length] === '(' ? 'function' : null);
    if (!kind) continue;
    if (found.index > at) pieces.push({ text: code.slice(at, found.index) });
    pieces.push({ text: found[0], kind });
    at = found.index + found[0].length;
  }
  if (at < code.length) pieces.push({ text: code.slice(at) });
  return pieces;
}

const escape = (text) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

function scanner({ line, block, long = [], quotes, tags }) {
  const comments = [line && `${line === '#' ? '(?<![\\w$])' : ''}${escape(line)}[^\\n]*`, block && `${escape(block[0])}[\\s\\S]*?(?:${escape(block[1])}|$)`];
  const strings = [...long.map((it) => `${it}[\\s\\S]*?(?:${it}|$)`), ...[...quotes].map((it) => `${it}(?:\\\\.|[^${it}\\\\${it === '`' ? '' : '\\n'}])*${it}?`)];
  const word = tags ? '(?<=</?)[\\w-]+' : '[\\p{L}_$@][\\p{L}\\p{N}_$]*';
  const parts = [comments.filter(Boolean).join('|') || '(?!)', strings.join('|'), '\\b(?:0x[\\da-fA-F_]+|\\d[\\d_]*(?:\\.\\d+)?(?:e[+-]?\\d+)?)', word];
  return new RegExp(parts.map((it) => `(${it})`).join('|'), 'gu');
}

function kindOf([, comment, string, number, word], { keywords, anyCase, tags }) {
  if (comment) return 'comment';
  if (string) return 'string';
  if (number) return 'number';
  if (tags || keywords.has(anyCase ? word.toLowerCase() : word)) return 'keyword';
  if (/^\p{Lu}/u.test(word)) return 'type';
  return null;
}
