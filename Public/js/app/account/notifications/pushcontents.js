// The contents of push messages.

const CONTENTS = ['text', 'sender', 'nothing'];

/** The contents, most first, up to the one that the site permits. */
export const pushContents = (most = 'text') => CONTENTS.slice(Math.max(0, CONTENTS.indexOf(most)));
