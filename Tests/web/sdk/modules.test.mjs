// The module graph of Public/js has no import cycles, static or dynamic.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../Public/js/', import.meta.url));

/** Local imports of a module, without comments: JSDoc types import no code at run time. */
export function importsOf(source) {
  const code = source.replace(/\/\*[^]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '');
  return [...code.matchAll(/(?:\bfrom|\bimport)\s*\(?\s*'(\.[^']+)'/g)].map((match) => match[1]);
}

/** Tarjan's strongly connected components with more than one module. */
export function cyclesOf(graph) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const found = [];
  const visit = (node) => {
    index.set(node, index.size);
    low.set(node, index.get(node));
    stack.push(node);
    for (const next of graph.get(node) ?? []) {
      if (!index.has(next)) visit(next);
      if (stack.includes(next)) low.set(node, Math.min(low.get(node), low.get(next)));
    }
    if (low.get(node) !== index.get(node)) return;
    const component = stack.splice(stack.indexOf(node));
    if (component.length > 1) found.push(component);
  };
  for (const node of graph.keys()) if (!index.has(node)) visit(node);
  return found;
}

const modules = readdirSync(root, { recursive: true }).filter((it) => it.endsWith('.js')).map((it) => path.join(root, it));
const graph = new Map(
  modules.map((file) => [
    path.relative(root, file),
    importsOf(readFileSync(file, 'utf8')).map((it) => path.relative(root, path.resolve(path.dirname(file), it))),
  ]),
);

test('no module imports itself through others', () => {
  assert.deepEqual(cyclesOf(graph), []);
});

test('every local import names a module', () => {
  const missing = [...graph].flatMap(([file, imports]) =>
    imports.filter((it) => !graph.has(it)).map((it) => `${file}: ${it}`),
  );
  assert.deepEqual(missing, []);
});

test('a cycle is found through static and dynamic imports', () => {
  const imports = importsOf("import { a } from './a.js';\nconst b = () => import('./b.js');\n// import './c.js'\n");
  assert.deepEqual(imports, ['./a.js', './b.js']);
  assert.deepEqual(cyclesOf(new Map([['a', ['b']], ['b', ['c']], ['c', ['a']], ['d', ['a']]])).map((it) => it.length), [3]);
});
