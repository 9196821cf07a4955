// What the cases of the ADK have in common: a scripted model, runners on it, and observations.
import {
  BaseLlm,
  InMemorySessionService,
  LlmAgent,
  LogLevel,
  Runner,
  createEvent,
  setLogLevel,
} from '@google/adk';

setLogLevel(LogLevel.ERROR + 1);

// One observation a line; `on` names the store where that matters.
export function observer(name, on) {
  return (what, seen) => {
    const line = { case: name, what, seen: seen === undefined ? null : seen };
    if (on) line.on = on;
    process.stdout.write(JSON.stringify(line) + '\n');
  };
}

// ---- the model: the first rule whose words all stand in the request, and whose others do not, answers ----

export class Scripted extends BaseLlm {
  constructor(rules) {
    super({ model: 'scripted' });
    this.rules = rules;
    this.requests = [];
  }

  async *generateContentAsync(request, stream) {
    const body = JSON.stringify([request.config?.systemInstruction, request.contents]);
    this.requests.push({ body, contents: structuredClone(request.contents) });
    const fits = (r) => [r.when ?? []].flat().every((words) => body.includes(words));
    const rule = this.rules.find((r) => fits(r) && !(r.unless && body.includes(r.unless)));
    if (!rule) throw new Error('no rule fits');
    if (rule.after) await rule.after;
    if (rule.error) throw new Error(rule.error);
    if (stream && rule.text)
      for (const piece of rule.text.match(/.{1,4}/g))
        yield { content: { role: 'model', parts: [{ text: piece }] }, partial: true };
    yield { content: { role: 'model', parts: partsOf(rule) } };
  }

  async connect() {
    throw new Error('no live connections');
  }

  // The conversation of the nth request that has these words, one line a part.
  talk(words, nth = 0) {
    const found = this.requests.filter((r) => r.body.includes(words))[nth];
    return found ? found.contents.flatMap(lines) : null;
  }
}

function partsOf(rule) {
  if (rule.text !== undefined) return [{ text: rule.text }];
  return rule.calls.map(([name, args]) => ({ functionCall: { name, args: args ?? {} } }));
}

function resultText(response) {
  const value = response?.result ?? response;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function lines(content) {
  return (content.parts ?? []).map((p) => {
    if (p.functionCall) return `call ${p.functionCall.name} ${JSON.stringify(p.functionCall.args)}`;
    if (p.functionResponse) return `result ${resultText(p.functionResponse.response)}`;
    return `${content.role}: ${p.text}`;
  });
}

// ---- sessions and runs -------------------------------------------------------------------------------

export const APP = 'app';
export const USER = 'ann';
export const SESSION = 's1';
const KEY = { appName: APP, userId: USER, sessionId: SESSION };

export const user = (text) => ({ role: 'user', parts: [{ text }] });
export const worker = (model, name, more) =>
  new LlmAgent({ name, model, instruction: `I am ${name}`, ...more });

// A runner on a new session in memory; each prompt gives what was yielded, and what was thrown.
export class Stage {
  constructor(agent, more) {
    this.service = more?.service ?? new InMemorySessionService();
    const { service, ...rest } = more ?? {};
    this.runner = new Runner({ appName: APP, agent, sessionService: this.service, ...rest });
  }

  async open(state) {
    await this.service.createSession({ ...KEY, state });
    return this;
  }

  async prompt(message, runConfig) {
    const events = [];
    let error = null;
    try {
      const newMessage = typeof message === 'string' ? user(message) : message;
      const run = this.runner.runAsync({ userId: USER, sessionId: SESSION, newMessage, runConfig });
      for await (const e of run) events.push(structuredClone(e)); // as it is at this moment
    } catch (e) {
      error = e.message;
    }
    return { events, error: error ?? events.find((e) => e.errorCode)?.errorMessage ?? null };
  }

  session() {
    return this.service.getSession(KEY);
  }

  async state(key) {
    const all = (await this.session()).state;
    return key ? all[key] : sorted(all);
  }

  async said() {
    return (await this.session()).events.filter((e) => e.author !== 'user' && textOf(e))
      .map((e) => `${e.author}: ${textOf(e)}`);
  }
}

export const textOf = (event) => (event.content?.parts ?? []).map((p) => p.text ?? '').join('');

export function sorted(object) {
  return Object.fromEntries(Object.keys(object).sort().map((k) => [k, object[k]]));
}

export const event = (id, more) =>
  createEvent({ id, author: 'a', invocationId: 'i', content: user(id), ...more });

export async function refused(action) {
  try {
    await action();
    return 'accepted';
  } catch {
    return 'refused';
  }
}
