// script.mjs - what the model says in these tests (docs/scripted-model.md), and the files of the server's folder.

export const LONG = Array.from({length: 60}, (_, i) => `word${i}`).join(' ');
export const STEPS = 240; // about 1,200 events: more than the page takes at once
export const LINES = Array.from({length: 30}, (_, i) => `line ${i + 1}`);
const CHANGED = LINES.map((line, i) => (i === 14 ? 'line fifteen' : line)).join('\n') + '\n';
export const LIMIT = `/* limit.c - how much. */\n#include "limit.h"\n\n${'\n'.repeat(12)}int limit(void) {\n    return 64; /* ${'a reason that is long '.repeat(8)} */\n}\n\nconst char *word(void) {\n    return name("few");\n}\n`;
const helper = {contains: 'work as a sub-agent'};
const PAINT = '# Title\n\n**bold** `code` <b>no tag</b>\n\n- a\n- b\n\n| x | y |\n|---|---|\n| 1 | 2 |\n\n```c\nint x;\n```\n\n'
  + '![p](https://evil.example/p.png) [ok](https://example.org/) [bad](javascript:alert(1)) [data](data:text/html,x)';

const FORM = {type: 'object', required: ['name', 'count', 'ready', 'colour'], properties: {
  name: {type: 'string', title: 'Name', description: 'Of the thing'}, count: {type: 'integer', minimum: 1}, ready: {type: 'boolean', title: 'Ready'},
  colour: {oneOf: [{const: 'r', title: 'Red'}, {const: 'b', title: 'Blue'}]}, sizes: {type: 'array', items: {enum: ['small', 'large']}},
  rest: {type: 'array', minItems: 2}}};

// Each line takes the square of its length, if a pattern may try every beginning with every end.
const WIDE = ' '.repeat(200000);
const STRETCH = [`# a${WIDE}b`, `c${WIDE}d\ne`, `f|g\n${WIDE}h`, `\`\`\`${WIDE}\``, `\`\`\`${'i'.repeat(200000)}\``, `${'~'.repeat(200000)}\``,
  '['.repeat(19000), '![a'.repeat(6000), '**b '.repeat(4700), `${WIDE}- j\n${WIDE}  k`, '**The end.**'].join('\n\n');

export const script = {
  rules: [
    {when: {user: 'pick one', step: 1}, reply: [{tool: 'ask_user', args: {question: 'Which\u001b colour?', schema: {enum: ['red', 'blue']}}}]},
    {when: {user: 'fill in', step: 1}, reply: [{tool: 'ask_user', args: {question: 'How shall it be?\nTake your time.', schema: FORM}}]},
    {when: {user: 'your words', step: 1}, reply: [{tool: 'ask_user', args: {question: 'What is it about?'}}]},
    {when: {tool: 'ask_user'}, reply: [{text: 'Told: {{result}}.'}]},
    {when: {system: helper, user: 'asks first', step: 1}, reply: [{tool: 'bash', args: {command: 'echo asked'}}]},
    {when: {system: helper, user: 'asks first'}, reply: [{text: 'I was answered.'}]},
    {when: {system: helper}, reply: [{text: `busy ${LONG}. ${LONG}. ${LONG}`, chunk: 8, delay_ms: 60}]},
    {when: {system: 'You look at speed'}, reply: [{text: 'It is fast.', delay_ms: 20}]},
    {when: {system: 'You look at safety', step: 1}, reply: [{tool: 'read', args: {path: 'lines.txt'}}]},
    {when: {system: 'You look at safety'}, reply: [{text: 'It is safe.'}]},
    {when: {system: 'You sum up'}, reply: [{text: 'Fast and safe.'}]},
    {when: {user: 'slow'}, reply: [{text: LONG, chunk: 6, delay_ms: 40}]},
    {when: {user: 'paragraphs'}, reply: [{thinking: 'Slowly.'}, {text: `First one.\n\n${LONG}\n\nLast one.`, chunk: 6, delay_ms: 30}]},
    {when: {user: 'lines of a book'}, reply: [{text: Array.from({length: 70}, (_, i) => `line ${i + 1}`).join('\n'), chunk: 9, delay_ms: 60}]},
    {when: {user: 'lines of a long book'}, reply: [{text: Array.from({length: 400}, (_, i) => `line ${i + 1}`).join('\n'), chunk: 9, delay_ms: 60}]},
    {when: {user: 'turn left'}, reply: [{text: 'I turn left.'}]},
    {when: {user: 'afterwards'}, reply: [{text: 'And that as well.'}]},
    {when: {user: 'look around', step: 1}, reply: [{thinking: 'First the folder.'}, {text: 'I look.'}, {tool: 'bash', args: {command: 'echo seen it'}}]},
    {when: {user: 'look around', failed: true}, reply: [{text: 'Then I do not look.'}]},
    {when: {user: 'look around'}, reply: [{text: 'I have looked.'}]},
    {when: {user: 'sleep', step: 1}, reply: [{tool: 'bash', args: {command: 'sleep 30'}}]},
    {when: {user: 'nap', step: 1}, reply: [{tool: 'bash', args: {command: 'echo so far; sleep 60'}}]},
    {when: {user: 'nap'}, reply: [{text: 'Awake again.'}]},
    {when: {user: 'write', step: 1}, reply: [{tool: 'write', args: {path: 'note.txt', content: 'one\ntwo\n'}}]},
    {when: {user: 'change the file', step: 1}, reply: [{tool: 'read', args: {path: 'lines.txt'}}]},
    {when: {user: 'change the file', step: 2}, reply: [{tool: 'write', args: {path: 'lines.txt', content: CHANGED}}]},
    {when: {user: 'change the file'}, reply: [{text: 'Changed.'}]},
    {when: {user: 'tune it', step: 1}, reply: [{tool: 'read', args: {path: 'limit.c'}}]},
    {when: {user: 'tune it', step: 2}, reply: [{tool: 'write', args: {path: 'limit.c', content: LIMIT.replace('64', '128').replace('"few"', '"many"')}}, {tool: 'read', args: {path: 'nowhere.c'}}, {tool: 'bash', args: {command: 'echo out; exit 3'}}]},
    {when: {user: 'tune it', step: 3}, reply: [{tool: 'write', args: {path: 'limit.c', content: LIMIT.replace('64', '128').replace('"few"', '"many"')}}]},
    {when: {user: 'tune it'}, reply: [{text: 'Tuned.'}]},
    {when: {user: 'paint'}, reply: [{text: PAINT}]},
    {when: {user: 'stretch'}, reply: [{text: STRETCH, chunk: 0}]},
    {when: {user: 'steer me', step: 1}, reply: [{tool: 'bash', args: {command: 'sleep 2'}}]},
    {when: {user: 'no key'}, reply: [{error: {status: 401, message: 'invalid x-api-key'}}]},
    {when: {user: 'two helpers', step: 1}, reply: [{tool: 'task', args: {agent: 'general', prompt: 'This one asks first.'}}, {tool: 'task', args: {agent: 'general', prompt: 'This one talks.'}}]},
    {when: {user: 'two helpers'}, reply: [{text: 'Both are back.'}]},
    {when: {user: 'many steps', step: {max: STEPS}}, reply: [{text: 'Step {{step}}.'}, {tool: 'read', args_text: '{"path":"lines.txt","limit":{{step}}}'}]},
    {when: {user: 'many steps'}, reply: [{text: 'All steps are done.'}]},
    {when: {user: 'colours', step: 1}, reply: [{tool: 'bash', args: {command: 'seq 1 10000; printf "\\033[31mred\\033[0m\\033[2K plain\\n10%%\\r100%%\\n\\033]0;title\\007end\\n"'}}]},
    {when: {user: 'colours'}, reply: [{text: `${'x'.repeat(5000)} \u05e9\u05dc\u05d5\u05dd ${'['.repeat(400)} ${'*'.repeat(2000)} ${'> '.repeat(60)}`}]},
    {when: {user: 'disguise', step: 1}, reply: [{tool: 'bash', args: {command: 'echo safe \u202e tac \u2066'}}]},
  ],
  otherwise: [{text: 'You said: {{user}}'}],
};

// Two look side by side, one sums up.
export const PANEL = `name: panel
description: Two look, one sums up
kind: sequential
agents:
  - name: readers
    kind: parallel
    description: side by side
    agents:
      - { name: speed, description: s, prompt: You look at speed. }
      - { name: safety, description: s, prompt: You look at safety. }
  - { name: summary, description: s, prompt: You sum up. }
`;
export const REVIEW = '---\ndescription: Review the last change\n---\nReview $ARGUMENTS';
