// The emoji used last on this device.

import { isUnknownEmoji } from './custom.js';

export const quick = ['👍', '❤️', '😂', '🎉', '😮', '😢'];

const RECENT = 'emoji:recent';
export const MAX_RECENT = 12;

/** The emoji used last on this device, filled up with the usual ones. */
export function recentEmoji(n) {
  const kept = (localStorage.getItem(RECENT) ?? '').split(' ').filter((it) => it && !isUnknownEmoji(it));
  return [...new Set([...kept, ...quick])].slice(0, n);
}

export function rememberEmoji(character) {
  const recent = [character, ...recentEmoji(MAX_RECENT).filter((it) => it !== character)];
  localStorage.setItem(RECENT, recent.slice(0, MAX_RECENT).join(' '));
}
