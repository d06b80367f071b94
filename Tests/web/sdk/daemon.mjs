// A daemon for tests, on a free port and in a temporary folder, with its owner signed in.

import { execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { webcrypto } from 'node:crypto';

import { Client } from '../../../Public/js/parley/client.js';

// Node 18 has it only behind a flag.
globalThis.crypto ??= webcrypto;

const top = fileURLToPath(new URL('../../..', import.meta.url));
const built = ['release', 'debug'].map((kind) => join(top, '.build', kind, 'parley')).find(existsSync);
// PARLEY and PARLEY_SHARE select another build with its own migrations.
const { PARLEY: program = built, PARLEY_SHARE: share = top } = process.env;

// Without variables of the tests, such as PARLEY_SEED: the daemon refuses those that are no settings.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PARLEY_')));

/** Debian's `ws` for Node. */
export const WebSocket = createRequire(import.meta.url)('/usr/share/nodejs/ws');

export const password = 'wool and needles';
const rateLimits = ['login', 'registration', 'sending', 'writing'].flatMap((kind) => [
  `--rate-${kind}`, '1000000', `--rate-${kind}-burst`, '1000000',
]);

export class Daemon {
  constructor() {
    this.folder = mkdtempSync(join(tmpdir(), 'parley-web-'));
    this.listen = '127.0.0.1:0';
  }

  /** Starts the daemon; a restart keeps the address. */
  async start(...settings) {
    this.process = spawn(
      program,
      ['serve', '--listen', this.listen, '--data', join(this.folder, 'data'), '--share', share, ...rateLimits, ...settings],
      { stdio: ['ignore', 'pipe', 'pipe'], env: environment },
    );
    this.said = '';
    await new Promise((resolve, reject) => {
      const read = (chunk) => {
        this.said += chunk;
        const ready = /^listening on (\S+)$/m.exec(this.said);
        if (!ready) return;
        this.url = ready[1];
        this.listen = new URL(this.url).host;
        resolve();
      };
      this.process.stdout.on('data', read);
      this.process.stderr.on('data', read);
      this.process.on('exit', (status) => reject(new Error(`parley ended with ${status}:\n${this.said}`)));
    });
    return this;
  }

  async setUp() {
    const link = /\/setup\/([0-9a-f]{64})$/m.exec(this.said)[1];
    const client = new Client({ url: this.url });
    const { token, user } = await client.calls.useLink({ code: link, body: { name: 'ada', password } });
    return { token, user, client: new Client({ url: this.url, token }) };
  }

  /** Signs up a new user, with open registration and without probation. */
  async createUser(owner, name) {
    const { revision } = await owner.client.calls.getSettings();
    await owner.client.calls.updateSettings({ body: { registration: 'open', newcomers: { days: 0, messages: 0 }, if_revision: revision } });
    const { token, user } = await new Client({ url: this.url }).calls.signUp({ body: { name, password } });
    return { token, user, client: new Client({ url: this.url, token }) };
  }

  /** Runs an operator command on this daemon's folder. */
  command(name, ...rest) {
    const data = ['--data', join(this.folder, 'data')];
    return execFileSync(program, [name, ...rest, ...data], { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' });
  }

  /** Stops the process by its id and waits for its exit. */
  async stop(signal = 'SIGTERM') {
    if (this.process.exitCode !== null || this.process.signalCode !== null) return;
    const gone = new Promise((resolve) => this.process.on('exit', resolve));
    this.process.removeAllListeners('exit');
    this.process.on('exit', () => {});
    const ended = new Promise((resolve) => this.process.once('close', resolve));
    this.process.kill(signal);
    await Promise.race([gone, ended]);
  }

  async remove() {
    await this.stop('SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }
}
