// One scene with Node's `ws` and an echo server: node node_ws.js SCENE URL. Prints `ok` and exits with 0 on success.
const assert = require('node:assert');
const { once } = require('node:events');
const { randomBytes } = require('node:crypto');
const WebSocket = require('ws');

const text = 'Grüße, Ada – 你好 👋';

async function comesBack(socket, message, options) {
  const received = once(socket, 'message');
  socket.send(message, options ?? {});
  const [data, isBinary] = await received;
  assert.strictEqual(isBinary, typeof message !== 'string');
  assert.ok(Buffer.from(message).equals(data));
}

const scenes = {
  async echo(socket) {
    for (const message of [text, '', Buffer.alloc(0), randomBytes(70000), 'x'.repeat(126)]) await comesBack(socket, message);
  },
  async deflate(socket) {
    assert.match(socket.extensions, /permessage-deflate/);
    for (let round = 0; round < 20; round++) await comesBack(socket, text.repeat(500));
  },
  async large(socket) {
    await comesBack(socket, randomBytes(8 * 1024 * 1024), { compress: false });
  },
  async fragments(socket) {
    const received = once(socket, 'message');
    socket.send('one ', { fin: false });
    socket.send('', { fin: false });
    socket.send('two', { fin: true });
    assert.strictEqual(String((await received)[0]), 'one two');
  },
  async ping(socket) {
    const answered = once(socket, 'pong');
    socket.ping('are you there?');
    assert.strictEqual(String((await answered)[0]), 'are you there?');
  },
  async close(socket) {
    const closed = once(socket, 'close');
    socket.close(3001, 'done');
    assert.strictEqual((await closed)[0], 3001);
  },
};

async function play(scene, url) {
  const socket = new WebSocket(url);
  await once(socket, 'open');
  await scene(socket);
  socket.terminate();
}

const [name, url] = process.argv.slice(2);
play(scenes[name], url).then(
  () => console.log('ok'),
  (fault) => {
    console.error(fault);
    process.exit(1);
  },
);
