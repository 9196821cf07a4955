// server.mjs - a hob serve of its own for a test: started, killed, started again on the same port.
import {spawn} from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

export const TOKEN = 'a-token-for-the-browser-test';

export class Server {
  constructor(program, script) {
    this.program = program;
    this.dir = fs.mkdtempSync(path.join(os.tmpdir(), 'hob-browser-'));
    this.home = path.join(this.dir, 'home');
    this.work = path.join(this.dir, 'work');
    fs.mkdirSync(this.work);
    this.script = path.join(this.dir, 'script.json');
    fs.writeFileSync(this.script, JSON.stringify(script));
    this.port = 0;
    this.args = [];
    this.token = TOKEN;
  }
  // A file beneath the folder of the server, or of the user.
  put(name, text, under = this.work) {
    const file = path.join(under, name);
    fs.mkdirSync(path.dirname(file), {recursive: true});
    fs.writeFileSync(file, text, {mode: 0o600});
    return file;
  }
  async start() {
    const env = {...process.env, HOB_HOME: this.home, HOB_MODEL: `scripted:${this.script}`};
    if (!this.args.includes('--token-file')) env.HOB_SERVER_TOKEN = TOKEN;
    this.child = spawn(this.program, ['serve', '--json', '-q', '--listen', `127.0.0.1:${this.port}`, ...this.args],
      {cwd: this.work, env, stdio: ['ignore', 'pipe', 'inherit']});
    const line = await new Promise((resolve, reject) => {
      let text = '';
      this.child.stdout.on('data', (chunk) => {
        text += chunk;
        if (text.includes('\n')) resolve(text.split('\n')[0]);
      });
      this.child.on('exit', (code) => reject(new Error(`hob serve ended with ${code} before it was ready`)));
    });
    this.url = JSON.parse(line).url;
    this.port = Number(new URL(this.url).port);
  }
  get running() {
    return this.child.exitCode === null && !this.child.signalCode;
  }
  async stop(signal = 'SIGTERM') {
    const gone = new Promise((resolve) => this.child.on('exit', resolve));
    this.child.kill(signal);
    await gone;
  }
  remove() {
    fs.rmSync(this.dir, {recursive: true, force: true});
  }
  async api(method, route, body) {
    const response = await fetch(new URL(route, this.url), {method, headers: {authorization: `Bearer ${this.token}`, 'content-type': 'application/json'},
      body: body === undefined ? undefined : JSON.stringify(body)});
    return response.status === 204 ? null : response.json();
  }
}
