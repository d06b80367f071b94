// Builds the elements of a parsed text.

/** @typedef {import('../markup.js').Node} Node */
/** @typedef {(node: Node, children: DocumentFragment) => globalThis.Node | undefined | null} Make */

/**
 * Builds DOM nodes of a tree. Text is set as `textContent` only, the elements are those of this file, and the parser has
 * checked addresses.
 *
 * `make` may return a node of its own for a mention, hashtag, link, spoiler, picture or code block; its second argument has
 * the built children. A picture that it does not make is text.
 * @param {Node[]} nodes
 * @param {{ document?: Document, make?: Make }} [options]
 * @returns {DocumentFragment}
 */
export function buildNodes(nodes, options = {}) {
  const { document = globalThis.document, make } = options;
  /** @param {Node[]} nodes @param {boolean} isTight */
  const fragment = (nodes, isTight) => {
    const made = document.createDocumentFragment();
    nodes.forEach((node, number) => {
      // Without `<p>`, as in a tight list, two blocks in a row still begin on lines of their own.
      const isBare = isTight && node.type === 'paragraph';
      if (isBare && number > 0) made.append(document.createElement('br'));
      const children = fragment(
        'children' in node ? node.children : [],
        node.type === 'list' ? !node.loose : node.type === 'item' && isTight,
      );
      made.append(make?.(node, children) ?? (isBare ? children : element(document, node, children)));
    });
    return made;
  };
  return fragment(nodes, false);
}

/** @type {Partial<Record<Node['type'], string>>} */
const tags = {
  paragraph: 'p', quote: 'blockquote', item: 'li', emphasis: 'em', strong: 'strong', strike: 'del', table: 'table',
  row: 'tr', code: 'code', break: 'br', rule: 'hr',
};

/** @param {Document} document @param {Node} node @param {DocumentFragment} children @returns {globalThis.Node} */
function element(document, node, children) {
  const make = (/** @type {string} */ tag, /** @type {Record<string, string>} */ attributes = {}) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    if ('text' in node) made.textContent = node.text;
    made.append(children);
    return made;
  };
  switch (node.type) {
    case 'text': return document.createTextNode(node.text);
    case 'mention': case 'hashtag': case 'spoiler': return make('span', { class: node.type });
    case 'heading': return make(`h${node.level}`);
    case 'list':
      if (node.start === null) return make('ul');
      return make('ol', node.start === 1 ? {} : { start: String(node.start) });
    case 'item': {
      const item = make('li');
      if (node.task === null) return item;
      const box = document.createElement('input');
      box.type = 'checkbox';
      box.disabled = true;
      box.checked = node.task === 'done';
      item.prepend(box, ' ');
      return item;
    }
    case 'codeBlock': {
      const block = document.createElement('pre');
      block.append(make('code', node.language ? { class: `language-${node.language}` } : {}));
      return block;
    }
    case 'row': return make('tr');
    case 'cell': return make('td', node.align ? { class: `align-${node.align}` } : {});
    case 'picture': {
      const text = document.createDocumentFragment();
      text.append('![', children, `](attachment:${node.number})`);
      return text;
    }
    case 'link':
      return make('a', {
        href: node.href, rel: 'nofollow noopener noreferrer ugc', ...(node.title === null ? {} : { title: node.title }),
      });
    default: return make(tags[node.type] ?? 'span');
  }
}
