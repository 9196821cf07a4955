// agui_front.mjs - what a front end does all day, with the real client against `hob serve` (script: agui_serve.sh):
// talk, tools that run in the page, approvals, a pause, a reload in the middle of a run, another try, an edit, state.
// Every response is also held against the rules for producers (wire.mjs).
//
//   node agui_front.mjs URL TOKEN 1.0.0|0.0.59
import { isDeepStrictEqual } from "node:util";
import { randomUUID } from "node:crypto";
import { PROTOCOL_VERSION, audit, eventsOf, must, recorder } from "./wire.mjs";

const [url, token, client] = process.argv.slice(2);
const modern = client !== "0.0.59";
const lib = await import(modern ? "@ag-ui/client" : "ag-ui-client-0-0-59");
const headers = { Authorization: `Bearer ${token}` };
const warnings = [];
console.warn = (...a) => warnings.push(a.map(String).join(" "));

const equal = (got, want, what) => must(isDeepStrictEqual(got, want), `${what}: got ${JSON.stringify(got)}, expected ${JSON.stringify(want)}`);
const user = (content) => ({ id: randomUUID(), role: "user", content });
const said = (agent) => agent.messages.map((m) => `${m.role}: ${m.content ?? m.toolCalls.map((c) => c.function.name).join(" ")}`);

class Front extends lib.HttpAgent {
  constructor({ agent = "default", ...config } = {}) {
    const wire = recorder();
    super({ url: `${url}agui/${agent}`, headers, fetch: wire.fetch, ...config });
    Object.assign(this, { wire });
  }
  connect(input) {
    return lib.transformHttpEventStream(lib.runHttpRequest(() => this.fetch(`${this.url}/connect`, this.requestInit(input))));
  }
  async go(params = {}, watch = {}) {
    await this.runAgent(params, watch);
    return this.judge();
  }
  judge() {
    const x = this.wire.last();
    return audit(eventsOf(x), JSON.parse(x.body), { version: modern ? PROTOCOL_VERSION : null });
  }
  say(text, params, watch) {
    this.addMessage(user(text));
    return this.go(params, watch);
  }
}

const api = async (method, path, body) => {
  const res = await fetch(`${url}api/${path}`, { method, headers: { ...headers, "content-type": "application/json" }, body: body && JSON.stringify(body) });
  must(res.ok, `${method} ${path} -> ${res.status}`);
  return res.status === 204 ? null : res.json();
};

const pick = { name: "pick", description: "Lets the user pick a colour", parameters: { type: "object", properties: { of: { type: "string" } }, required: ["of"] } };

/** Runs until no call is left to the page, as front ends do: the page's tools are carried out and answered. */
async function converse(agent, text, tools, carryOut) {
  let run = await agent.say(text, { tools });
  for (let round = 0; run.pending.length && round < 5; round++) {
    for (const call of agent.messages.flatMap((m) => m.toolCalls ?? []).filter((c) => run.pending.includes(c.id)))
      agent.addMessage({ id: randomUUID(), role: "tool", toolCallId: call.id, ...(await carryOut(call)) });
    run = await agent.go({ tools });
  }
  return run;
}

const play = {
  async "tools of the page"() {
    const agent = new Front(), seen = [];
    await converse(agent, "@colours", [pick], async (call) => {
      seen.push(JSON.parse(call.function.arguments).of);
      return { content: `${seen.at(-1)} is blue` };
    });
    equal(seen, ["sky", "sea"], "calls carried out");
    equal(said(agent), ["user: @colours", "assistant: let me ask", "assistant: pick pick", "tool: sky is blue", "tool: sea is blue", "assistant: got sea is blue"], "conversation");
    await converse(agent, "@colours", [pick], async () => ({ content: "", error: "the user closed the dialogue" }));
    must(said(agent).at(-1).includes("closed the dialogue"), `a failed tool: ${said(agent).at(-1)}`);
  },

  async "tools that are gone"() {
    const agent = new Front();
    await agent.say("@offers", { tools: [pick] });
    await agent.say("@offers", { tools: [] });
    await agent.say("@offers", { tools: [pick] });
    equal(said(agent).filter((t) => t.startsWith("assistant")), ["assistant: with pick", "assistant: without", "assistant: with pick"], "what the model had");
  },

  async "approvals, one yes and one no"() {
    const agent = new Front(), first = await agent.say("@interrupt 2");
    equal(agent.pendingInterrupts.map((i) => [i.reason, i.toolCallId]), first.pending.map((id) => ["tool_call", id]), "questions");
    const [a, b] = agent.pendingInterrupts;
    const answers = { [b.id]: { status: "resolved", payload: { approved: false, reason: "not there" } }, [a.id]: { status: "resolved", payload: { approved: true } } };
    await agent.go({ resume: lib.buildResumeArray(agent.pendingInterrupts, answers) });
    const result = (id) => agent.messages.find((m) => m.role === "tool" && m.toolCallId === id)?.content;
    must(result(a.id)?.includes("wrote") && result(b.id)?.includes("not there"), `results: ${result(a.id)}, ${result(b.id)}`);
    equal(agent.pendingInterrupts.length, 0, "questions left");
    equal(said(agent).at(-1), "assistant: denied", "answer");
  },

  async "questions of the model, after a reload"() {
    const agent = new Front(), first = await agent.say("@ask");
    equal(agent.pendingInterrupts.map((i) => [i.reason, i.toolCallId, i.message]),
      [["input_required", first.pending[0], "Which colour?"], ["input_required", first.pending[1], "Your name?"]], "questions");
    const again = new Front({ threadId: agent.threadId });
    await again.connectAgent();
    again.judge();
    const [colour, name] = again.pendingInterrupts;
    equal(colour.responseSchema.properties, { colour: { enum: ["red", "blue"] } }, "schema");
    equal(name.responseSchema, { type: "string" }, "schema of a text");
    const answers = (c) => lib.buildResumeArray(again.pendingInterrupts, {
      [colour.id]: { status: "resolved", payload: { colour: c } }, [name.id]: { status: "resolved", payload: "Eva" } });
    await again.runAgent({ resume: answers("pink") }).then(() => must(false, "a wrong answer was taken"), () => {});
    await again.go({ resume: answers("blue") });
    const result = (id) => again.messages.find((m) => m.role === "tool" && m.toolCallId === id)?.content;
    equal([result(colour.id), result(name.id)], ['{"colour":"blue"}', "Eva"], "results");
    equal(again.pendingInterrupts.length, 0, "questions left");
    equal(said(again).at(-1), "assistant: thanks", "answer");
  },

  async "a question that is left"() {
    const agent = new Front();
    await agent.say("@ask");
    await agent.go({ resume: agent.pendingInterrupts.map((i) => ({ interruptId: i.id, status: "cancelled" })) });
    must(agent.messages.filter((m) => m.role === "tool").every((m) => m.content.startsWith("the user did not answer")), JSON.stringify(said(agent)));
    equal(said(agent).at(-1), "assistant: thanks", "answer");
  },

  async "approvals after a reload"() {
    const agent = new Front();
    await agent.say("@interrupt 2");
    const again = new Front({ threadId: agent.threadId });
    await again.connectAgent();
    again.judge();
    equal(again.messages, agent.messages, "conversation");
    equal(again.pendingInterrupts.map((i) => i.id), agent.pendingInterrupts.map((i) => i.id), "questions");
    await again.go({ resume: again.pendingInterrupts.map((i) => ({ interruptId: i.id, status: "resolved", payload: { approved: true } })) });
    equal(said(again).at(-1), "assistant: approved", "answer");
  },

  async "a pause"() {
    const id = `front-${randomUUID()}`;
    await api("POST", "sessions", { id });
    const agent = new Front({ threadId: id });
    let asked;
    const run = await agent.say("@stand", {}, { onStateSnapshotEvent: () => {
      asked ??= api("GET", `sessions/${id}`).then((s) => api("POST", `sessions/${id}/runs/${s.live.run_id}/pause`));
    } });
    await asked;
    equal(run.end.outcome?.interrupts?.map((i) => i.reason), ["hob:paused"], "why the run ended");
    const again = new Front({ threadId: id });
    await again.connectAgent();
    equal(again.pendingInterrupts.map((i) => i.reason), ["hob:paused"], "why it stands");
    await agent.go({ resume: agent.pendingInterrupts.map((i) => ({ interruptId: i.id, status: "resolved" })) });
    must(said(agent).at(-1).startsWith("assistant: stood:"), `after the pause: ${said(agent).at(-1)}`);
    equal(agent.pendingInterrupts.length, 0, "questions left");
  },

  async "a reload in the middle of a run"() {
    const agent = new Front();
    let deltas = 0;
    agent.addMessage(user("@slow 40 25"));
    await agent.runAgent({}, { onTextMessageContentEvent: () => { if (++deltas === 3) agent.abortRun(); } }).catch((e) => { if (e.name !== "AbortError") throw e; });
    const again = new Front({ threadId: agent.threadId });
    await again.connectAgent();
    const run = again.judge();
    equal(said(again), ["user: @slow 40 25", `assistant: ${"0123456789".repeat(4)}`], "conversation");
    must(run.types.includes("TEXT_MESSAGE_CONTENT"), "the rest was not streamed");
    await again.say("@echo next");
    equal(said(again).at(-1), "assistant: next", "answer");
  },

  async "a reload in the middle of a workflow"() {
    const agent = new Front({ agent: "pair" });
    agent.addMessage(user("@long"));
    await agent.runAgent({}, { onTextMessageContentEvent: () => agent.abortRun() }).catch((e) => { if (e.name !== "AbortError") throw e; });
    const again = new Front({ agent: "pair", threadId: agent.threadId }), steps = [];
    await again.connectAgent({}, {
      onStepStartedEvent: ({ event }) => { steps.push(`+${event.stepName.split(/[./]/).at(-1)}`); },
      onStepFinishedEvent: ({ event }) => { steps.push(`-${event.stepName.split(/[./]/).at(-1)}`); },
    });
    again.judge();
    equal(steps, ["+pair", "+writer", "-writer", "+editor", "-editor", "-pair"], "steps");
    equal(said(again).at(-1), "assistant: edited", "answer");
  },

  async "another try, and an edit"() {
    const agent = new Front();
    await agent.say("@echo one");
    await agent.say("@echo two");
    agent.setMessages(agent.messages.slice(0, 3)); // the last answer is thrown away
    await agent.go();
    equal(said(agent), ["user: @echo one", "assistant: one", "user: @echo two", "assistant: two"], "after another try");
    agent.setMessages([...agent.messages.slice(0, 2), user("@echo three")]);
    await agent.go();
    const again = new Front({ threadId: agent.threadId });
    await again.connectAgent();
    equal(said(again), ["user: @echo one", "assistant: one", "user: @echo three", "assistant: three"], "after an edit");
    equal(again.messages, agent.messages, "conversation");
  },

  async "a conversation from elsewhere"() { // the ids in it are those that this thread will use
    const old = new Front();
    await old.say("@echo one");
    const agent = new Front({ initialMessages: old.messages });
    await agent.say("@echo two");
    equal(said(agent), ["user: @echo one", "user: @echo two", "assistant: one\n@echo two"], "conversation"); // all that is new in it
    await agent.say("@echo three");
    const again = new Front({ threadId: agent.threadId });
    await again.connectAgent();
    equal(again.messages, agent.messages, "conversation");
    equal(said(again).at(-1), "assistant: three", "answer");
  },

  async "state of both sides"() {
    const agent = new Front({ agent: "keeper", initialState: { mine: { n: 1 } } });
    await agent.say("@state");
    equal(agent.state, { mine: { n: 1 }, counter: "2" }, "state");
    agent.setState({ ...agent.state, mine: { n: 2 } });
    await agent.say("@state-next");
    const again = new Front({ agent: "keeper", threadId: agent.threadId });
    await again.connectAgent();
    equal(again.state, { mine: { n: 2 }, counter: "3" }, "state after a reload");
  },
};

let failed = 0;
for (const [name, fn] of Object.entries(play)) {
  warnings.length = 0;
  try {
    await fn();
    must(!warnings.length, `the client warned: ${warnings[0]?.slice(0, 300)}`);
    console.log(`ok   front: ${name}`);
  } catch (e) {
    failed++;
    console.log(`FAIL front: ${name}: ${e.stack ?? e}`);
  }
}
console.log(`\n${Object.keys(play).length - failed}/${Object.keys(play).length} things a front end does (client ${client})`);
process.exit(failed ? 1 : 0);
