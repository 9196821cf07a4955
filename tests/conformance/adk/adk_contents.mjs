// Cases 34 to 41: what an agent's model is shown.
import {
  FunctionTool,
  LongRunningFunctionTool,
  ParallelAgent,
  SequentialAgent,
} from '@google/adk';
import { Scripted, Stage, worker } from './lib.mjs';

export const look = (run) =>
  new FunctionTool({ name: 'look', description: 'looks', execute: run ?? (() => 'quick result') });

const CALL_THEN_SAY = [{ when: 'quick result', text: 'done' }, { calls: [['look']] }];
const cut = (lines) => lines?.map((l) => l.replace(/(returned result: ).*/, '$1…'));

async function case34(see) {
  const model = new Scripted([{ when: 'I am a', text: 'r1' }, { text: 'r2' }]);
  const both = new SequentialAgent({
    name: 'both', subAgents: [worker(model, 'a'), worker(model, 'b')] });
  const stage = await new Stage(both).open();
  await stage.prompt('go');
  see('the first agent', model.talk('I am a'));
  see('the second agent', model.talk('I am b'));
  await stage.prompt('more');
  see('the second agent in the next run', model.talk('I am b', 1));
}

async function case35(see) {
  const model = new Scripted([
    { when: 'I am root', calls: [['transfer_to_agent', { agentName: 'child' }]] },
    { text: 'mine' }]);
  const root = worker(model, 'root', { subAgents: [worker(model, 'child')] });
  const stage = await new Stage(root).open();
  await stage.prompt('go');
  see('the agent that was handed over to', cut(model.talk('I am child')));
}

function callId(events, name) {
  return events.flatMap((e) => e.content?.parts ?? [])
    .find((p) => p.functionCall?.name === name)?.functionCall.id;
}

const response = (id, name, value) =>
  ({ role: 'user', parts: [{ functionResponse: { id, name, response: value } }] });

async function case36(see) {
  const model = new Scripted([
    { when: 'a parcel', text: 'it came' }, { when: 'any news', text: 'not yet' },
    { when: 'ticket 7', text: 'ordered' }, { calls: [['order']] }]);
  const order = new LongRunningFunctionTool({
    name: 'order', description: 'orders', execute: () => 'ticket 7' });
  const stage = await new Stage(worker(model, 'a', { tools: [order] })).open();
  const id = callId((await stage.prompt('buy')).events, 'order');
  see('model calls until the receipt', model.requests.length);
  await stage.prompt('any news?');
  await stage.prompt(response(id, 'order', { result: 'a parcel' }));
  see('the prompt with the result', model.talk('a parcel'));
}

async function case37(see) {
  let ran = 0;
  const tool = new FunctionTool({
    name: 'look', description: 'looks', requireConfirmation: true,
    execute: () => (ran++, 'quick result') });
  const model = new Scripted(CALL_THEN_SAY);
  const stage = await new Stage(worker(model, 'a', { tools: [tool] })).open();
  const first = await stage.prompt('go');
  see('times it ran before it was allowed', ran);
  const id = callId(first.events, 'adk_request_confirmation');
  await stage.prompt(response(id, 'adk_request_confirmation', { confirmed: true }));
  see('times it ran after that', ran);
  see('the prompt with the result', model.talk('quick result'));
  see('answers', await stage.said());
}

async function case38(see) {
  const model = new Scripted([{ text: 'fine' }]);
  const stage = await new Stage(worker(model, 'a')).open();
  await stage.prompt('go');
  const bad = await stage.prompt(response('nosuch', 'look', { result: 'x' }));
  see('a result of no call', bad.error ? 'refused' : 'accepted');
  see('events it leaves', (await stage.session()).events.length - 2);
  see('the next turn', (await stage.prompt('more')).error ? 'refused' : 'accepted');
  see('the prompt of the next turn', model.requests.at(-1) && model.talk('more'));
}

async function case39(see) {
  const model = new Scripted(CALL_THEN_SAY);
  const only = worker(model, 'a', { includeContents: 'none', tools: [look()] });
  const stage = await new Stage(only).open();
  await stage.prompt('first');
  await stage.prompt('second');
  see('the second turn', model.talk('I am a', 2));
  see('the second turn with its result', model.talk('I am a', 3));
}

async function case40(see) {
  const model = new Scripted(CALL_THEN_SAY);
  const one = (name) => worker(model, name, { includeContents: 'none', tools: [look()] });
  const par = new ParallelAgent({ name: 'par', subAgents: [one('a'), one('b'), one('c')] });
  const stage = await new Stage(par).open();
  await stage.prompt('go');
  for (const name of ['a', 'b', 'c'])
    see(`${name} after its call`, model.talk(`I am ${name}`, 1));
}

async function case41(see) {
  const model = new Scripted([
    { when: 'set two', text: 'done' },
    { calls: [['set', { name: 'one', delta: { k: 1, a: 1 } }],
      ['set', { name: 'two', delta: { k: 2, b: 2 } }]] }]);
  const set = new FunctionTool({
    name: 'set', description: 'sets', parameters: { type: 'OBJECT', properties: {} },
    execute: ({ name, delta }, context) => {
      for (const [k, v] of Object.entries(delta)) context.state.set(k, v);
      return `set ${name}`;
    } });
  const stage = await new Stage(worker(model, 'a', { tools: [set] })).open();
  await stage.prompt('go');
  see('results', model.talk('set two')?.filter((l) => l.startsWith('result')));
  see('state', await stage.state());
}

export const contentsCases = [case34, case35, case36, case37, case38, case39, case40, case41]
  .map((run, i) => [`ADK-${34 + i}`, run]);
