// console.mjs - what a person does with the console page, one function a behaviour. Usage: node console.mjs PROGRAM [NAME…]
import {ask} from './ask.mjs';
import {craft} from './craft.mjs';
import {edge} from './edge.mjs';
import {look} from './look.mjs';
import {assert, launch, rig, shot} from './rig.mjs';
import {LIMIT, LINES, PANEL, REVIEW, script} from './script.mjs';
import {Server} from './server.mjs';
import {talk} from './talk.mjs';

const [program, ...only] = process.argv.slice(2);
const server = rig.server = new Server(program, script);
server.put('lines.txt', `${LINES.join('\n')}\n`);
server.put('limit.c', LIMIT);
server.put('agents/panel.yaml', PANEL, server.home);
server.put('commands/review.md', REVIEW, server.home);
let failed = 0;
let passed = 0;
await server.start();
await launch();
for (const [name, test] of Object.entries({...talk, ...ask, ...look, ...craft, ...edge})) {
  if (only.length && !only.includes(name)) continue;
  rig.complaints = [];
  try {
    await test();
    assert.deepEqual(rig.complaints, []);
    passed++;
    console.log(`ok ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED ${name}\n${error.stack}\n${rig.complaints.join('\n')}`);
    for (const context of rig.browser.contexts()) {
      for (const page of context.pages()) await shot(page, `failed-${name}`).catch(() => {});
      await context.close();
    }
    if (!server.running) await server.start();
  }
}
await rig.browser.close();
await server.stop();
server.remove();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
