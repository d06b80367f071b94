// The structure of Public/js: no import cycles, static or dynamic; no import of a higher layer; short functions, files
// and folders; every part in the gallery.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import test from 'node:test';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../../Public/js/', import.meta.url));
// Debian's node-typescript.
const ts = createRequire(import.meta.url)('/usr/share/nodejs/typescript');

const MAX_FUNCTION = 80;
const MAX_FILE = 300;
const MAX_FOLDER = 20;
/** Half of a file of the library is documentation. `parley.js` has the public methods of one class. */
const MAX_LIBRARY_FILE = 750;
const MAX_PARLEY = 1_100;
/** A folder imports folders before it, and no folder beside it. Folders that are not named are screens. */
const LAYERS = [['core'], ['state', 'parts'], ['screens'], ['shell'], ['main.js']];

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

const app = [...graph].filter(([file]) => file.startsWith('app/'));

/** The folder of a module of the app, or `screens`. */
function folderOf(file) {
  const [, name] = file.split('/');
  return LAYERS.flat().includes(name) ? name : 'screens';
}

const layerOf = (file) => LAYERS.findIndex((it) => it.includes(folderOf(file)));

function isUpward(file, imported) {
  const [own, other] = [layerOf(file), layerOf(imported)];
  return other > own || (other === own && folderOf(imported) !== folderOf(file));
}

test('no module of the app imports a higher layer', () => {
  const upward = app.flatMap(([file, imports]) =>
    imports.filter((it) => it.startsWith('app/') && isUpward(file, it)).map((it) => `${file}: ${it}`),
  );
  assert.deepEqual(upward, []);
});

/** Lines of each function with a body, by file and name. */
function functionsOf(file) {
  const source = ts.createSourceFile(file, readFileSync(path.join(root, file), 'utf8'), ts.ScriptTarget.ES2022, true);
  const lineOf = (position) => source.getLineAndCharacterOfPosition(position).line;
  const found = [];
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body)
      found.push([`${file}: ${node.name?.text ?? 'anonymous'}`, lineOf(node.end) - lineOf(node.getStart()) + 1]);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const tooLong = (lengths, limit) => lengths.filter(([, lines]) => lines > limit);

test('functions are short', () => {
  assert.deepEqual(tooLong([...graph.keys()].flatMap(functionsOf), MAX_FUNCTION), []);
});

test('files of the app are short', () => {
  const lengths = app.map(([file]) => [file, readFileSync(path.join(root, file), 'utf8').split('\n').length - 1]);
  assert.deepEqual(tooLong(lengths, MAX_FILE), []);
});

test('files of the library do not grow', () => {
  const files = [...graph.keys()].filter((file) => file.startsWith('parley/'));
  assert.ok(files.length > 30);
  const lengths = files.map((file) => [file, readFileSync(path.join(root, file), 'utf8').split('\n').length - 1]);
  assert.deepEqual(tooLong(lengths, MAX_LIBRARY_FILE).filter(([file, lines]) => file !== 'parley/parley.js' || lines > MAX_PARLEY), []);
});

test('folders of the app have few modules', () => {
  const counts = new Map();
  for (const [file] of app) counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
  assert.deepEqual(tooLong([...counts], MAX_FOLDER), []);
});

test('the gallery shows every part', () => {
  const gallery = readFileSync(path.join(root, '../dev/parts.js'), 'utf8');
  // Gestures, pastes and the places of other parts have no look.
  const isGesture = (it) => ['app/parts/composer/completionslot.js', 'app/parts/composer/paste.js', 'app/parts/composer/selectionbar.js', 'app/parts/lists/touch.js', 'app/parts/navigation/edgemoves.js'].includes(it);
  const parts = app.map(([file]) => file).filter((it) => it.startsWith('app/parts/') && !isGesture(it));
  assert.deepEqual(parts.filter((it) => !gallery.includes(`'/js/${it}'`)), []);
});

test('a cycle is found through static and dynamic imports', () => {
  const imports = importsOf("import { a } from './a.js';\nconst b = () => import('./b.js');\n// import './c.js'\n");
  assert.deepEqual(imports, ['./a.js', './b.js']);
  assert.deepEqual(cyclesOf(new Map([['a', ['b']], ['b', ['c']], ['c', ['a']], ['d', ['a']]])).map((it) => it.length), [3]);
});

test('every icon has a drawing', async () => {
  const { icons } = await import('../../../Public/js/app/core/pictures/icons.js');
  const used = /(?:\bicon\(|\biconButton\(|\bpicture: )'([a-z-]+)'/g;
  const missing = [...app.map(([file]) => path.join(root, file)), path.join(root, '../dev/parts.js')].flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(used)].map((match) => match[1]).filter((name) => !(name in icons)));
  assert.deepEqual(missing, []);
});
