// A text with its marks, as elements. The one place where the app meets the Markdown twin.

import { el } from "./dom.js";

/** At most three emoji and nothing else: shown large, without a bubble. */
export function isEmojiAlone(text) {
  return /^(?:\s*(?:\p{Extended_Pictographic}(?:\u200d\p{Extended_Pictographic}|[\u{1f3fb}-\u{1f3ff}]|\ufe0f)*|\p{Regional_Indicator}{2})){1,3}\s*$/u.test(text ?? "");
}

export function rich(text) {
  return el("div.rich", null, el("p", null, text));
}
