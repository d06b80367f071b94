// Whether the caret is inside code: names there are neither completed nor replaced.

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;

/** The end of a text that no fence before it has closed, and the fence; the last paragraph outside of fences. */
function lastPart(text) {
  let fence = null;
  let lines = [];
  for (const line of text.split('\n')) {
    const [, mark, rest] = FENCE.exec(line) ?? [];
    if (fence) {
      // CommonMark §4.5: a closing fence is at least as long, and has no words behind it.
      if (mark?.startsWith(fence) && !rest.trim()) {
        fence = null;
        lines = [];
      }
    } else if (mark && !(mark[0] === '`' && rest.includes('`'))) {
      fence = mark;
    } else if (line.trim()) {
      lines.push(line);
    } else {
      lines = [];
    }
  }
  return { fence, paragraph: lines.join('\n') };
}

/** The span of code that the text opens and does not close: its backticks, and whether they stand at the start of a word. */
function openSpan(text) {
  const runs = [...text.matchAll(/`+/g)];
  for (let index = 0; index < runs.length; index += 1) {
    const close = runs.findIndex((it, at) => at > index && it[0].length === runs[index][0].length);
    if (close < 0) return { ticks: runs[index][0], isAtStart: /(^|[\s(])$/.test(text.slice(0, runs[index].index)) };
    index = close;
  }
  return null;
}

/**
 * A backtick inside a word, such as an apostrophe, opens code only if it is closed after the caret.
 * @param {string} text @param {number} caret
 */
export function isInCode(text, caret) {
  const { fence, paragraph } = lastPart(text.slice(0, caret));
  if (fence) return true;
  const open = openSpan(paragraph);
  if (!open) return false;
  const [rest] = text.slice(caret).split(/\n\s*\n/);
  return open.isAtStart || (rest.match(/`+/g) ?? []).includes(open.ticks);
}
