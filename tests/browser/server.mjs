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
    this.work = path.join(this.dir, 'work');
    fs.mkdirSync(this.work);
    this.script = path.join(this.dir, 'script.json');
    fs.writeFileSync(this.script, JSON.stringify(script));
    this.port = 0;
  }
  async start() {
    const env = {...process.env, HOB_HOME: path.join(this.dir, 'home'), HOB_SERVER_TOKEN: TOKEN, HOB_MODEL: `scripted:${this.script}`};
    this.child = spawn(this.program, ['serve', '--json', '-q', '--listen', `127.0.0.1:${this.port}`],
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
  async stop(signal = 'SIGTERM') {
    const gone = new Promise((resolve) => this.child.on('exit', resolve));
    this.child.kill(signal);
    await gone;
  }
  remove() {
    fs.rmSync(this.dir, {recursive: true, force: true});
  }
  async api(method, route, body) {
    const response = await fetch(new URL(route, this.url), {method, headers: {authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json'},
      body: body === undefined ? undefined : JSON.stringify(body)});
    return response.status === 204 ? null : response.json();
  }
}
