// Creates elements. Strings become text nodes only and are never parsed as HTML.

import { icons } from './pictures/icons.js';

const SVG = 'http://www.w3.org/2000/svg';
const PROPERTIES = new Set(['value', 'checked', 'disabled', 'selected', 'indeterminate', 'hidden', 'tabIndex']);

/**
 * `el("button.plain.wide", { on: { click }, aria: { label: "Close" } }, icon("close"), "Close")`
 * @param {string} name a tag, and classes behind dots
 * @param {object} [props] `on`, `aria` and `data` are groups; null and false are left out
 * @param {...any} children nodes, strings, lists of them; null and false are left out
 */
export function el(name, props, ...children) {
  const [tag, ...classes] = name.split('.');
  const node = document.createElement(tag);
  if (classes.length) node.className = classes.join(' ');
  if (tag === 'button') node.type = 'button';
  if (props) set(node, props);
  fill(node, children);
  return node;
}

export function set(node, props) {
  for (const [key, value] of Object.entries(props)) {
    if (key === 'on') for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (key === 'aria') for (const [name, it] of Object.entries(value)) attribute(node, `aria-${name}`, it);
    else if (key === 'data') for (const [name, it] of Object.entries(value)) attribute(node, `data-${name}`, it);
    else if (key === 'class')
      node.classList.add(
        ...String(value || '')
          .split(' ')
          .filter(Boolean),
      );
    else if (PROPERTIES.has(key)) node[key] = value ?? '';
    else if (key === 'href') node.setAttribute('href', safeAddress(value));
    else attribute(node, key, value);
  }
  return node;
}

function attribute(node, name, value) {
  if (value === null || value === undefined || value === false) return node.removeAttribute(name);
  node.setAttribute(name, value === true && !name.startsWith('aria-') ? '' : String(value));
}

function fill(node, children) {
  for (const child of children) {
    if (child === null || child === undefined || child === false) continue;
    if (Array.isArray(child)) fill(node, child);
    else node.append(child);
  }
}

/** Replaces all children. */
export function refill(node, ...children) {
  node.replaceChildren();
  fill(node, children);
  return node;
}

/** Rows that a redraw skips at most to find an equal one. */
const NEAR = 50;

/**
 * Replaces children but keeps nodes that look the same, with their listeners, so that focus and presses survive, also when
 * rows come and go before them. A child with `data-part` stays, and its own children are redrawn. The focus returns to the
 * same node, or to one with the same label, link or user; otherwise to the parent.
 */
export function redraw(node, ...children) {
  const held = node.contains(document.activeElement) && document.activeElement !== node ? document.activeElement : null;
  const before = [...node.childNodes];
  const fresh = children.flat(Infinity).filter((it) => it !== null && it !== undefined && it !== false);
  const left = before.filter((it) => !fresh.includes(it));
  const after = fresh.map((it, index) => {
    if (before.includes(it)) return it;
    const isSame = (old) => old.isEqualNode(it) || isPart(old, it);
    const own = left.indexOf(before[index]);
    const at = own >= 0 && isSame(left[own]) ? own : left.slice(0, NEAR).findIndex(isSame);
    if (at < 0) return it;
    const [old] = left.splice(at, 1);
    if (isPart(old, it)) redrawPart(old, it);
    return old;
  });
  const kept = new Set(after);
  for (const child of before) if (!kept.has(child)) child.remove();
  after.forEach((child, index) => {
    if (node.childNodes[index] !== child) node.insertBefore(child, node.childNodes[index] ?? null);
  });
  if (held && !node.contains(document.activeElement)) focusAgain(node, held);
  return node;
}

const isPart = (old, it) => it.dataset?.part && old.dataset?.part === it.dataset.part;

function redrawPart(old, { attributes, childNodes }) {
  for (const { name } of [...old.attributes]) if (!attributes[name]) old.removeAttribute(name);
  for (const { name, value } of attributes) old.setAttribute(name, value);
  redraw(old, ...childNodes);
}

/**
 * Remembers the focus. The returned function restores it, to the same node or to its replacement after a redraw.
 */
export function rememberFocus(held = document.activeElement) {
  const home = held?.closest?.('dialog, .panel, main, .shell');
  const message = held?.closest?.('[data-id]')?.dataset.id;
  return () => {
    // The replacement of the node may have the focus already.
    if (!home?.isConnected || (!held.isConnected && home.contains(document.activeElement))) return;
    focusAgain((message && home.querySelector(`[data-id="${CSS.escape(message)}"]`)) || home, held);
  };
}

/** Moves the focus of a removed node to its replacement in this node, to the given fallback, or to the node itself. */
export function focusAgain(node, held, otherwise = node) {
  const matching = ['aria-label', 'href', 'data-user', 'data-act', 'title'].flatMap((name) => {
    const value = held.getAttribute(name);
    return value ? [node.querySelector(`[${name}="${CSS.escape(value)}"]`)] : [];
  });
  const again = held.isConnected ? held : (matching.find(Boolean) ?? otherwise);
  if (again === otherwise && !again.hasAttribute('tabindex')) again.tabIndex = -1;
  again.focus({ preventScroll: true });
}

/** Returns the address if its scheme cannot run code, otherwise null. */
export function safeAddress(address) {
  const text = String(address ?? '');
  try {
    const url = new URL(text, location.origin);
    return ['http:', 'https:', 'mailto:', 'blob:'].includes(url.protocol) ? text : '#';
  } catch {
    return '#';
  }
}

/** One of the drawings in icons.js. Without a label it is decoration beside a word. */
export function icon(name, label) {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('viewBox', '0 0 20 20');
  if (label) {
    svg.setAttribute('role', 'img');
    svg.setAttribute('aria-label', label);
  } else {
    svg.setAttribute('aria-hidden', 'true');
  }
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', icons[name] ?? '');
  svg.append(path);
  return svg;
}

export function spoken(text) {
  return el('span.spoken', null, text);
}

/** A number that no other call gave: for `id`s that labels and descriptions point to. */
export function freshID(prefix) {
  freshID.last = (freshID.last ?? 0) + 1;
  return `${prefix}-${freshID.last}`;
}

/** Closes what stands over the page: dialogs, menus and popovers. */
export function closeOverlays() {
  for (const it of document.querySelectorAll('dialog[open], body > .menu, body > .popover')) {
    it.close?.();
    it.remove();
  }
}

export function isTyping(target) {
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName))
  );
}
