import { el, icon } from '../../core/dom.js';
import { say } from '../../core/text/text.js';

/** People, forums, topics, actions by name. `find(words)` gives {words, second, picture, on} and may take a while. */
export function commandMenu(find) {
  const before = document.activeElement;
  const node = el('dialog.command-dialog', { aria: { label: say('command.title') } });
  const parts = commandElement();
  const { input, list } = parts;
  let items = [];
  let chosen = 0;
  let listed = null;
  const show = () => {
    list.replaceChildren(...items.map((it, index) => commandRow(it, index === chosen, () => run(index))));
    if (!items.length)
      list.append(
        el(
          'li.second.command-none',
          { role: 'option', 'aria-disabled': 'true' },
          say('command.none', { words: input.value }),
        ),
      );
    input.setAttribute('aria-activedescendant', items.length ? `command-${chosen}` : '');
    list.children[chosen]?.scrollIntoView({ block: 'nearest' });
    [...list.children].forEach((row, index) => {
      row.id = `command-${index}`;
    });
  };
  const look = async () => {
    const words = input.value.trim();
    const found = await find(words);
    if (words !== input.value.trim()) return;
    [items, chosen, listed] = [found, 0, words];
    show();
  };
  const run = (index) => {
    node.close();
    items[index]?.on();
  };
  /** Waits for the list of the current query before it opens a row. */
  const enter = async () => {
    const words = input.value.trim();
    if (listed !== words) await look();
    if (listed === words && input.value.trim() === words && node.open) run(chosen);
  };
  input.addEventListener('input', look);
  node.addEventListener('keydown', (event) => {
    const to = { ArrowDown: chosen + 1, ArrowUp: chosen - 1 }[event.key];
    if (to !== undefined && items.length) {
      event.preventDefault();
      chosen = (to + items.length) % items.length;
      show();
    } else if (event.key === 'Enter') {
      event.preventDefault();
      enter();
    }
  });
  node.addEventListener('click', (event) => {
    if (event.target === node) node.close();
  });
  node.addEventListener('close', () => {
    node.remove();
    if (before?.isConnected) before.focus();
  });
  node.append(parts.node);
  document.body.append(node);
  node.showModal();
  input.focus();
  look();
  return node;
}

export function commandElement() {
  const list = el('ul.command-list', { role: 'listbox', id: 'commands', aria: { label: say('command.title') } });
  const input = el('input.command-input', {
    type: 'text',
    role: 'combobox',
    placeholder: say('command.placeholder'),
    autocomplete: 'off',
    spellcheck: 'false',
    aria: { label: say('command.title'), controls: 'commands', expanded: 'true', autocomplete: 'list' },
  });
  return { node: el('div.command', null, el('div.command-field', null, icon('search'), input), list), input, list };
}

export function commandRow(item, isChosen, on) {
  return el(
    'li.command-row',
    { role: 'option', aria: { selected: isChosen ? 'true' : 'false' }, on: { click: on } },
    item.picture instanceof Node ? item.picture : icon(item.picture ?? 'onward'),
    el('span.one-line', { dir: 'auto' }, item.words),
    item.second && el('span.mark.one-line', { dir: 'auto' }, item.second),
    item.keys && el('kbd', null, item.keys),
  );
}
