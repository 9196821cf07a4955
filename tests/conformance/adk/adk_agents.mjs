// Cases 42 to 52: agents that work together, their state, loops, placeholders and callbacks.
import {
  BasePlugin,
  FunctionTool,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
} from '@google/adk';
import { look } from './adk_contents.mjs';
import { Scripted, Stage, refused, user, worker } from './lib.mjs';

const inOrder = (name, ...subAgents) => new SequentialAgent({ name, subAgents });
const sideBySide = (name, ...subAgents) => new ParallelAgent({ name, subAgents });
const again = (name, maxIterations, ...subAgents) =>
  new LoopAgent({ name, maxIterations, subAgents });

async function case42(see) {
  const model = new Scripted([{ when: 'I am a', text: 'r1' }, { text: 'r2' }]);
  const stage = await new Stage(inOrder('all', worker(model, 'a', { outputKey: 'x' }),
    worker(model, 'b', { instruction: 'shorten <{x}>' }))).open();
  await stage.prompt('go');
  see('the instruction has the value', model.talk('shorten <r1>') !== null);
  see('state', await stage.state());
}

async function case43(see) {
  const model = new Scripted([
    { when: 'I am w1', text: 'one' }, { when: 'I am w2', text: 'two' }, { text: 'joined' }]);
  const stage = await new Stage(inOrder('all',
    sideBySide('par', worker(model, 'w1', { outputKey: 'a' }), worker(model, 'w2', { outputKey: 'b' })),
    worker(model, 'joiner', { instruction: 'join {a} and {b}' }))).open();
  await stage.prompt('go');
  const events = (await stage.session()).events;
  see('branches', [...new Set(events.map((e) => e.branch ?? ''))].filter(Boolean).sort());
  see('what w2 sees', model.talk('I am w2'));
  see('what the joiner sees', model.talk('join one and two')?.filter((l) => l.includes(' said: ')).sort());
  see('state', await stage.state());
}

async function case44(see) {
  let written;
  const writing = new Promise((done) => (written = done));
  const model = new Scripted([
    { when: 'has set k', text: 'done' }, { when: 'I am w1', calls: [['set']] },
    { when: 'k is', text: 'seen' }, { calls: [['read']], after: writing }]);
  const set = new FunctionTool({ name: 'set', description: 'sets', execute: (_, context) => {
    context.state.set('k', 'w1 was here');
    return 'has set k';
  } });
  const read = new FunctionTool({ name: 'read', description: 'reads', execute: (_, context) =>
    `k is ${context.state.get('k', 'nothing')}` });
  const stage = await new Stage(sideBySide('par', worker(model, 'w1', { tools: [set],
    afterAgentCallback: () => written() }), worker(model, 'w2', { tools: [read] }))).open();
  await stage.prompt('go');
  see('what the other one reads', model.talk('I am w2', 1)?.filter((l) => l.startsWith('result')));
}

const leave = () => new FunctionTool({ name: 'leave', description: 'leaves', execute: (_, context) => {
  context.actions.escalate = true;
  return 'has escalated';
} });

// The critic escalates in the second round.
async function case45(see) {
  const model = new Scripted([
    { when: 'has escalated', text: 'good' }, { when: ['I am critic', '[last] said'], calls: [['leave']] },
    { text: 'words' }]);
  const inner = () => again('inner', 5, worker(model, 'writer'),
    worker(model, 'critic', { tools: [leave()] }), worker(model, 'last'));
  const spoke = async (agent) => {
    const stage = await new Stage(agent).open();
    await stage.prompt('go');
    return (await stage.said()).map((s) => s.split(':')[0]);
  };
  see('who spoke', await spoke(inner()));
  see('who spoke in nested loops', await spoke(again('outer', 1, inner(), worker(model, 'outside'))));
}

async function case46(see) {
  const model = new Scripted([{ text: 'words' }]);
  see('a loop of no rounds', await refused(() => again('loop', 0, worker(model, 'a'))));
  const stage = await new Stage(again('loop', 0, worker(model, 'a'))).open();
  await stage.prompt('go');
  see('model calls', model.requests.length);
}

async function case47(see) {
  const model = new Scripted([
    { when: 'has escalated', text: 'first' }, { when: 'I am a', calls: [['leave']] }, { text: 'second' }]);
  const stage = await new Stage(
    inOrder('all', worker(model, 'a', { tools: [leave()] }), worker(model, 'b'))).open();
  await stage.prompt('go');
  see('the agent behind it runs', (await stage.said()).some((s) => s.startsWith('b:')));
}

async function case48(see) {
  const model = new Scripted([{ text: 'words' }]);
  const stage = await new Stage(worker(model, 'a', { instruction: 'say {missing}' })).open();
  const { error } = await stage.prompt('go');
  see('the run fails', error !== null);
  see('model calls', model.requests.length);
}

async function case49(see) {
  const shapes = { 'optional': '<{opt?}>', 'doubled braces': '<{{name}}>', 'bad key': '<{bad-key}>',
    'object': '<{obj}>', 'string': '<{name}>', 'number': '<{n}>', 'another scope': '<{app:a}>' };
  for (const [what, instruction] of Object.entries(shapes)) {
    const model = new Scripted([{ text: 'words' }]);
    const stage = await new Stage(worker(model, 'a', { instruction }))
      .open({ name: 'Ada', obj: { n: 1 }, n: 1, 'app:a': 'all' });
    await stage.prompt('go');
    see(what, JSON.parse(model.requests[0]?.body ?? '[""]')[0].match(/<.*>/)?.[0]);
  }
}

async function case50(see) {
  for (const stays of [false, true]) {
    const model = new Scripted([
      { when: 'I am child', text: 'the child' }, { when: 'and now', text: 'the root' },
      { calls: [['transfer_to_agent', { agentName: 'child' }]] }]);
    const child = worker(model, 'child', { disallowTransferToParent: stays });
    const stage = await new Stage(worker(model, 'root', { subAgents: [child] })).open();
    await stage.prompt('hi');
    await stage.prompt('and now');
    see(stays ? 'after one that cannot hand back' : 'after a hand-over', (await stage.said()).at(-1));
  }
}

async function case51(see) {
  const model = new Scripted([{ when: 'I am one', text: 'one' }, { text: 'two' }]);
  let stage = await new Stage(inOrder('all',
    worker(model, 'one', { beforeAgentCallback: () => user('not me') }), worker(model, 'two'))).open();
  await stage.prompt('go');
  see('content before an agent', await stage.said());
  const calls = [];
  stage = await new Stage(worker(model, 'one', {
    beforeModelCallback: () => ({ content: { role: 'model', parts: [{ text: 'cached' }] } }),
    afterModelCallback: () => void calls.push('after_model') })).open();
  await stage.prompt('go');
  see('content before the model', await stage.said());
  see('callbacks after that', calls);
  see('model calls', model.talk('I am one')?.length ?? 0);
}

const POINTS = ['Agent', 'Model', 'Tool'];
const snake = (when, point) => `${when}_${point.toLowerCase()}`;

class Noting extends BasePlugin {
  constructor(journal) {
    super('noting');
    for (const point of POINTS)
      for (const when of ['before', 'after'])
        this[`${when}${point}Callback`] = async () => void journal.push(`P.${snake(when, point)}`);
  }
}

async function case52(see) {
  const journal = [];
  const own = {};
  for (const point of POINTS)
    for (const when of ['before', 'after'])
      own[`${when}${point}Callback`] = () => void journal.push(`A.${snake(when, point)}`);
  const model = new Scripted([{ when: 'quick result', text: 'done' }, { calls: [['look']] }]);
  const tool = look(() => (journal.push('tool'), 'quick result'));
  let stage = await new Stage(worker(model, 'one', { ...own, tools: [tool] }),
    { plugins: [new Noting(journal)] }).open();
  await stage.prompt('go');
  see('order', journal);
  const plugin = new Noting([]);
  const second = [];
  plugin.beforeModelCallback = async () => {
    second.push('P.before_model');
    return { content: { role: 'model', parts: [{ text: 'no need to ask' }] } };
  };
  stage = await new Stage(worker(model, 'one', {
    beforeModelCallback: () => void second.push('A.before_model') }), { plugins: [plugin] }).open();
  await stage.prompt('go');
  see('order when the first answers', second);
  see('answer when the first answers', await stage.said());
}

export const agentCases = [case42, case43, case44, case45, case46, case47, case48, case49, case50,
  case51, case52].map((run, i) => [`ADK-${42 + i}`, run]);
