// The script of the documentation: search over an index, and one choice of the language for all examples. The pages are
// whole without it.

(() => {
  const MAX_FOUND = 12;
  const form = document.querySelector('.find');
  const field = form.querySelector('input');
  const list = form.querySelector('.found');
  let index = null;
  form.hidden = false;

  /** The index is read at the first use; it stays in the memory of the page. */
  const load = () => (index ??= fetch('/docs/search.json').then((answer) => (answer.ok ? answer.json() : [])).catch(() => {
    index = null;
    return [];
  }));

  /** Rows that have all words; those in the title count more, at its start most, and pages more than sections. */
  function rank([title, address, text], words) {
    let sum = address.includes('#') ? 0 : 1;
    for (const word of words) {
      const at = title.toLowerCase().indexOf(word);
      if (at === 0) sum += 4;
      else if (at > 0) sum += 2;
      else if (text.toLowerCase().includes(word)) sum += 1;
      else return 0;
    }
    return sum;
  }

  async function search() {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    const rows = words.length ? await load() : [];
    const found = rows.map((row) => [rank(row, words), row]).filter(([sum]) => sum).sort((a, b) => b[0] - a[0]).slice(0, MAX_FOUND);
    list.replaceChildren(...found.map(([, [title, address, text]]) => {
      const link = document.createElement('a');
      link.href = address;
      const name = document.createElement('strong');
      name.textContent = title;
      const line = document.createElement('span');
      line.textContent = text;
      link.append(name, line);
      return link;
    }));
    if (words.length && !found.length) list.textContent = 'No results.';
  }

  field.addEventListener('focus', load);
  field.addEventListener('input', search);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    list.querySelector('a')?.click();
  });
  form.addEventListener('keydown', (event) => {
    const links = [field, ...list.querySelectorAll('a')];
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      links[(links.indexOf(document.activeElement) + step + links.length) % links.length].focus();
    } else if (event.key === 'Escape') {
      field.value = '';
      list.replaceChildren();
      field.focus();
    }
  });
  document.addEventListener('keydown', (event) => {
    if (event.key !== '/' || event.ctrlKey || event.metaKey || event.target.closest('input')) return;
    event.preventDefault();
    field.focus();
  });

  const KEY = 'documentation.language';
  function choose(language) {
    for (const choice of document.querySelectorAll(`.examples input[value="${CSS.escape(language)}"]`)) choice.checked = true;
  }
  document.addEventListener('change', ({ target }) => {
    if (!target.matches('.examples input')) return;
    choose(target.value);
    try {
      localStorage.setItem(KEY, target.value);
    } catch {
      // The choice holds for this page.
    }
  });
  try {
    choose(localStorage.getItem(KEY) ?? '');
  } catch {
    // The first language stays.
  }
})();
