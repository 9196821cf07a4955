// Cases 53 to 61: what a run does with failures, limits, streams and stores that fail.
import {
  BaseAgent,
  FunctionTool,
  InMemoryArtifactService,
  InMemorySessionService,
  ParallelAgent,
  SequentialAgent,
  StreamingMode,
  createEvent,
  isFinalResponse,
} from '@google/adk';
import { look } from './adk_contents.mjs';
import { APP, SESSION, Scripted, Stage, USER, refused, textOf, worker } from './lib.mjs';

async function case53(see) {
  const model = new Scripted([{ when: 'good', text: 'fine' }, { error: 'it broke' }]);
  const stage = await new Stage(worker(model, 'a')).open();
  see('the run fails', (await stage.prompt('bad')).error !== null);
  see('the next run fails', (await stage.prompt('good')).error !== null);
  see('the prompt of the next run', model.talk('good'));
}

async function case54(see) {
  const model = new Scripted([]);
  model.rules = [{ get calls() { return [['look', { n: model.requests.length }]]; } }];
  const stage = await new Stage(worker(model, 'a', { tools: [new FunctionTool({
    name: 'look', description: 'looks', parameters: { type: 'OBJECT', properties: {} },
    execute: () => 'quick result' })] })).open();
  const { error } = await stage.prompt('go', { maxLlmCalls: 3 });
  see('model calls', model.requests.length);
  see('the run ends with an error', error !== null);
}

async function case55(see) {
  for (const [what, name] of [['unknown tool', 'nosuch'], ['failing tool', 'look']]) {
    const model = new Scripted([{ when: 'functionResponse', text: 'I see' }, { calls: [[name]] }]);
    const broken = look(() => { throw new Error('it broke'); });
    const stage = await new Stage(worker(model, 'a', { tools: [broken] })).open();
    await stage.prompt('go', { maxLlmCalls: 5 });
    see(`${what}: the model is told`, model.requests[1]?.body.includes('rror') ?? false);
    see(`${what}: answer`, await stage.said());
  }
}

async function case56(see) {
  const model = new Scripted([]);
  for (const name of ['user', 'a b', '1a', '', 'a-b', 'ok_1'])
    see(`name "${name}"`, await refused(() => worker(model, name)));
}

async function case57(see) {
  const parts = (...list) => ({ content: { role: 'model', parts: list } });
  const call = { functionCall: { id: 'c', name: 'look', args: {} } };
  const result = { functionResponse: { id: 'c', name: 'look', response: {} } };
  const rows = {
    'an answer': parts({ text: 'x' }),
    'an answer without content': parts(),
    'a piece of an answer': { ...parts({ text: 'x' }), partial: true },
    'an answer with a call': parts({ text: 'x' }, call),
    'a result': parts(result),
    'a result that is the answer': { ...parts(result), actions: { skipSummarization: true } },
  };
  for (const [what, e] of Object.entries(rows)) see(what, isFinalResponse(createEvent(e)));
}

async function case58(see) {
  const store = new InMemoryArtifactService();
  const at = (filename, sessionId = SESSION) => ({ appName: APP, userId: USER, sessionId, filename });
  const save = (name, text) => store.saveArtifact({ ...at(name), artifact: { text } });
  see('versions', [await save('plan', 'one'), await save('plan', 'two')]);
  see('the newest', (await store.loadArtifact(at('plan'))).text);
  see('an older one', (await store.loadArtifact({ ...at('plan'), version: 0 })).text);
  see('one that is not there', (await store.loadArtifact(at('nosuch'))) === undefined);
  await save('user:plan', 'mine');
  see('in another session', (await store.loadArtifact(at('plan', 's2'))) !== undefined);
  see("the user's in another session", (await store.loadArtifact(at('user:plan', 's2')))?.text);
}

async function case59(see) {
  const model = new Scripted([{ text: 'a long answer' }]);
  const stage = await new Stage(worker(model, 'a', { outputKey: 'x' })).open();
  const { events } = await stage.prompt('go', { streamingMode: StreamingMode.SSE });
  const partial = events.filter((e) => e.partial);
  see('pieces add up to', partial.map(textOf).join(''));
  see('pieces that change state', partial.filter((e) => 'x' in e.actions.stateDelta).length);
  see('stored answers', await stage.said());
  see('state', await stage.state());
}

// Fails when the result of the call is to be stored.
class Failing extends InMemorySessionService {
  async appendEvent(request) {
    if (request.event.content?.parts?.some((p) => p.functionResponse)) throw new Error('disk full');
    return super.appendEvent(request);
  }
}

async function case60(see) {
  const model = new Scripted([{ when: 'quick result', text: 'done' }, { calls: [['look']] }]);
  const stage = await new Stage(worker(model, 'a', { tools: [look()] }), { service: new Failing() }).open();
  const { events, error } = await stage.prompt('go');
  see('the run ends with an error', error !== null);
  see('results told after it', events.filter((e) =>
    e.content?.parts?.some((p) => p.functionResponse)).length);
  see('model calls', model.requests.length);
}

class Broken extends BaseAgent {
  async *runAsyncImpl() {
    throw new Error(`${this.name} broke`);
  }
}

async function case61(see) {
  const late = new Promise((done) => setTimeout(done, 50));
  const model = new Scripted([{ when: 'I am w1', text: 'kept', after: late }, { text: 'joined' }]);
  const par = new ParallelAgent({ name: 'par', subAgents: [
    worker(model, 'w1', { outputKey: 'a' }), new Broken({ name: 'w2' }), new Broken({ name: 'w3' })] });
  const stage = await new Stage(new SequentialAgent({
    name: 'all', subAgents: [par, worker(model, 'joiner')] })).open();
  const { error } = await stage.prompt('go');
  see('the run fails', error !== null);
  see('who is named', error?.match(/w\d/)?.[0]);
  see('what the sibling left', await stage.state());
  see('the one behind runs', (await stage.said()).some((s) => s.startsWith('joiner')));
}

export const runCases = [case53, case54, case55, case56, case57, case58, case59, case60, case61]
  .map((run) => [run.name.replace('case', 'ADK-'), run]);
