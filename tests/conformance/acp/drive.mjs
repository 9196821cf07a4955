// What an editor does with `hob acp`, each method and each way for it to end. Usage: drive.mjs PROGRAM
import assert from "node:assert/strict";
import { mkdtempSync, mkdirSync, writeFileSync, readFileSync, realpathSync, rmSync, existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Editor, problems, counts } from "./client.mjs";

const program = process.argv[2];
const root = realpathSync(mkdtempSync(join(tmpdir(), "hob-acp-")));
const work = join(root, "work");
mkdirSync(join(work, ".hob", "commands"), { recursive: true });
mkdirSync(join(root, "more"));
mkdirSync(join(root, "home", "commands"), { recursive: true });
writeFileSync(join(root, "home", "commands", "greet.md"),
  "---\ndescription: greets somebody\nargument-hint: NAME\n---\nsay hello to $1");
writeFileSync(join(work, "notes.txt"), "saved\n");
writeFileSync(join(root, "more", "other.txt"), "elsewhere\n");

const call = (tool, args) => [{ tool, args }];
const rule = (user, first, then = [{ text: "result: {{result}}" }]) => [
  { when: { user: { prefix: user }, step: 1 }, reply: first },
  { when: { user: { prefix: user } }, reply: then },
];
writeFileSync(join(root, "script.json"), JSON.stringify({
  rules: [
    ...rule("think", [{ thinking: "let me see" }, { text: "I see" }]),
    ...rule("read", call("read", { path: "notes.txt" })),
    ...rule("missing", call("read", { path: "unsaved.txt" })),
    ...rule("other", call("read", { path: join(root, "more", "other.txt") })),
    ...rule("write", call("write", { path: "out.txt", content: "two\n" })),
    ...rule("run", call("bash", { command: "echo hello; exit 3" })),
    ...rule("sleep", call("bash", { command: "echo begun; sleep 30" })),
    ...rule("slow", call("bash", { command: "sleep 30", timeout_s: 1 })),
    ...rule("wait", [{ text: "hm" }, { wait: true }]),
    ...rule("choose", call("ask_user", { question: "Which?", schema: { enum: ["red", "blue"] } })),
    ...rule("name", call("ask_user", { question: "Your name?" })),
    ...rule("form", call("ask_user", { question: "How?", schema: { type: "object", required: ["n"], properties: {
      n: { type: "integer", title: "N", description: "how many", minimum: 1, maximum: 5, default: 2 }, ok: { type: "boolean" },
      c: { oneOf: [{ const: "r", title: "Red" }, { const: "b" }] }, s: { type: "string", maxLength: 9 }, x: { type: "number" },
      m: { type: "array", items: { enum: ["x", "y"] }, maxItems: 2 } } } })),
    ...rule("long", [{ text: "half" }, { stop: "length" }]),
    ...rule("refuse", [{ text: "no" }, { stop: "refusal" }]),
    ...rule("fail", [{ error: { status: 400, message: "no way" } }]),
    ...rule("give", call("task", { agent: "general", prompt: "write it" })),
    ...rule("say hello to", [{ text: "greetings: {{rest}}" }]),
  ],
  otherwise: [{ text: "echo: {{user}}" }],
}));

const env = { PATH: process.env.PATH, HOME: root, HOB_HOME: join(root, "home") };
const args = ["-m", `scripted:${join(root, "script.json")}`];
const everything = { fs: { readTextFile: true, writeTextFile: true }, terminal: true, session: { notices: {} } };
const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

async function open(capabilities = {}, more = [], model = args) {
  const e = new Editor(program, [...model, ...more], work, env);
  e.hello = await e.agent.request("initialize", {
    protocolVersion: 1, clientCapabilities: capabilities, clientInfo: { name: "test", version: "1" },
  });
  return e;
}
const fresh = (e, more = {}) => e.agent.request("session/new", { cwd: work, mcpServers: [], ...more });
const refused = (promise, code, words) => assert.rejects(promise, (err) => {
  assert.equal(err.code, code, `${err.code}: ${err.message}`);
  assert.match(err.message, words);
  return true;
});

const scenes = {
  async hello() {
    const e = await open();
    assert.equal(e.hello.protocolVersion, 1);
    assert.equal(e.hello.agentCapabilities.loadSession, true);
    assert.equal(e.hello.agentInfo.name, "hob");
    await refused(e.agent.request("authenticate", { methodId: e.hello.authMethods[0].id }), -32000, /API_KEY/);
    await refused(e.agent.request("session/archive", { sessionId: "x" }), -32601, /session\/archive/);
    await refused(e.agent.request("_mine", {}), -32601, /_mine/);
    await e.agent.notify("_mine/note", {});
    await refused(fresh(e, { cwd: "relative" }), -32602, /absolute/);
    await refused(fresh(e, { cwd: "/there/is/none" }), -32002, /there\/is\/none/);
    await refused(e.prompt("nobody", "hi"), -32002, /nobody/);
    assert.equal(await e.end(), 0);
  },

  async keyless() {
    const e = await open({}, [], []);
    await refused(fresh(e), -32000, /ANTHROPIC_API_KEY/);
    assert.equal(await e.end(), 0);
  },

  async turns() {
    const e = await open(everything);
    const { sessionId, modes, configOptions } = await fresh(e);
    assert.equal(modes.currentModeId, "ask");
    assert.deepEqual(configOptions.map((o) => o.id), ["mode", "model", "thinking"]);
    await e.until(() => e.of("available_commands_update").length, "the list of commands");
    assert.deepEqual(e.of("available_commands_update")[0].availableCommands,
      [{ name: "greet", description: "greets somebody", input: { hint: "NAME" } }]);
    assert.equal((await e.prompt(sessionId, "think")).stopReason, "end_turn");
    assert.equal(e.text("agent_thought_chunk"), "let me see");
    assert.equal(e.text("agent_message_chunk"), "I see");
    assert.equal((await e.prompt(sessionId, "long")).stopReason, "max_tokens");
    assert.equal((await e.prompt(sessionId, "refuse")).stopReason, "refusal");
    await refused(e.prompt(sessionId, "fail"), -32603, /no way/);
    await e.prompt(sessionId, "/greet Ada");
    assert.equal(e.text("agent_message_chunk"), "greetings: Ada");
    await e.prompt(sessionId, [{ type: "text", text: "see" }, { type: "image", mimeType: "image/png", data: png },
      { type: "resource_link", name: "a.c", uri: "file:///a.c" },
      { type: "resource", resource: { uri: "file:///b.c", text: "int b;" } }]);
    assert.match(e.text("agent_message_chunk"), /\[@a.c\]\(file:\/\/\/a.c\)[^]*int b;/);
    await refused(e.prompt(sessionId, [{ type: "audio", mimeType: "audio/wav", data: "" }]), -32602, /audio/);
    assert.equal(await e.end(), 0);
  },

  async files() {
    const e = await open(everything);
    const { sessionId } = await fresh(e, { additionalDirectories: [join(root, "more")] });
    e.buffers.set(join(work, "notes.txt"), "not saved yet\n");
    await e.prompt(sessionId, "read");
    assert.equal(e.text("agent_message_chunk"), "result: not saved yet\n");
    const read = e.of("tool_call")[0];
    assert.equal(read.kind, "read");
    assert.deepEqual(read.locations, [{ path: join(work, "notes.txt") }]);
    e.buffers.set(join(work, "unsaved.txt"), "only in the editor\n");
    await e.prompt(sessionId, "missing");
    assert.equal(e.text("agent_message_chunk"), "result: only in the editor\n");
    await e.prompt(sessionId, "other");
    assert.equal(e.text("agent_message_chunk"), "result: elsewhere\n");
    e.buffers.delete(join(work, "unsaved.txt"));
    await e.prompt(sessionId, "missing");
    assert.match(e.text("agent_message_chunk"), /unsaved.txt/);

    await e.prompt(sessionId, "write");
    const diff = { type: "diff", path: join(work, "out.txt"), oldText: null, newText: "two\n" };
    assert.deepEqual(e.permissions[0].toolCall.content, [diff]);
    assert.deepEqual(e.permissions[0].options.map((o) => o.kind), ["allow_once", "reject_once"]);
    assert.equal(e.written.get(join(work, "out.txt")), "two\n");
    assert.equal(existsSync(join(work, "out.txt")), false, "the editor writes, not hob");
    const last = e.of("tool_call_update").at(-1);
    assert.equal(last.status, "completed");
    assert.deepEqual(last.content, [diff]);
    e.option = "reject";
    e.written.clear();
    await e.prompt(sessionId, "write");
    assert.equal(e.of("tool_call_update").at(-1).status, "failed");
    assert.equal(e.written.size, 0);
    assert.equal(await e.end(), 0);
  },

  async questions() {
    const e = await open({ elicitation: { form: {} } });
    const { sessionId } = await fresh(e);
    e.option = "choice-1";
    await e.prompt(sessionId, "choose");
    assert.deepEqual(e.permissions[0].options.map((o) => o.name), ["red", "blue", "Do not answer"]);
    assert.equal(e.permissions[0].toolCall.title, "Which?");
    assert.equal(e.text("agent_message_chunk"), "result: blue");
    e.option = "decline";
    await e.prompt(sessionId, "choose");
    assert.equal(e.text("agent_message_chunk"), "result: the user did not answer");
    e.form = { action: "accept", content: { answer: "Eva" } };
    await e.prompt(sessionId, "name");
    assert.equal(e.forms[0].message, "Your name?");
    assert.equal(e.text("agent_message_chunk"), "result: Eva");
    e.form = { action: "accept", content: { n: 3, m: ["y"] } };
    await e.prompt(sessionId, "form");
    assert.deepEqual(Object.keys(e.forms[1].requestedSchema.properties), ["n", "ok", "c", "s", "x", "m"]);
    assert.equal(e.text("agent_message_chunk"), 'result: {"n":3,"m":["y"]}');
    e.form = { action: "cancel" };
    await e.prompt(sessionId, "form");
    assert.equal(e.text("agent_message_chunk"), "result: the user did not answer");
    assert.equal(await e.end(), 0);
    const plain = await open();
    await plain.prompt((await fresh(plain)).sessionId, "name");
    assert.match(plain.text("agent_message_chunk"), /did not answer: this editor cannot show such a question/);
    assert.equal(await plain.end(), 0);
  },

  async terminals() {
    const e = await open(everything);
    const { sessionId } = await fresh(e);
    await e.prompt(sessionId, "run");
    assert.match(e.text("agent_message_chunk"), /^result: hello\nexit code 3$/);
    assert.equal(e.of("tool_call")[0].kind, "execute");
    const terminal = { type: "terminal", terminalId: "term-1" };
    assert.deepEqual(e.of("tool_call_update").at(-1).content, [terminal]);
    await e.until(() => e.terminals.get("term-1").released, "the release");
    await e.prompt(sessionId, "slow");
    assert.match(e.text("agent_message_chunk"), /timed out after 1 s/);
    const turn = e.prompt(sessionId, "sleep");
    await e.until(() => e.terminals.get("term-3")?.output === "begun\n", "the start of the command");
    await e.agent.notify("session/cancel", { sessionId });
    assert.equal((await turn).stopReason, "cancelled");
    await e.until(() => [...e.terminals.values()].every((t) => t.released && t.status), "the end of all terminals");
    assert.equal(await e.end(), 0);
  },

  async local() {
    const e = await open(everything, ["--local", "--permission-mode", "yolo"]);
    const { sessionId, modes } = await fresh(e);
    assert.equal(modes.currentModeId, "yolo");
    await e.prompt(sessionId, "run");
    assert.match(e.text("agent_message_chunk"), /hello\nexit code 3/);
    await e.prompt(sessionId, "write");
    assert.equal(readFileSync(join(work, "out.txt"), "utf8"), "two\n");
    assert.equal(e.of("tool_call_update").at(-1).content[0].type, "diff");
    assert.equal(e.terminals.size + e.written.size + e.permissions.length, 0);
    rmSync(join(work, "out.txt"));
    assert.equal(await e.end(), 0);
  },

  async choices() {
    const e = await open();
    const { sessionId } = await fresh(e);
    await e.prompt(sessionId, "hi");
    await e.agent.request("session/set_mode", { sessionId, modeId: "plan" });
    await e.until(() => e.of("current_mode_update").some((u) => u.currentModeId === "plan"), "the mode");
    await e.prompt(sessionId, "write");
    assert.equal(e.of("tool_call_update").at(-1).status, "failed");
    assert.equal(e.permissions.length, 0);
    const set = (configId, value) => e.agent.request("session/set_config_option", { sessionId, configId, value });
    const now = (r, id) => r.configOptions.find((o) => o.id === id).currentValue;
    assert.equal(now(await set("mode", "accept-edits"), "mode"), "accept-edits");
    assert.equal(now(await set("thinking", "high"), "thinking"), "high");
    await e.prompt(sessionId, "write");
    assert.equal(readFileSync(join(work, "out.txt"), "utf8"), "two\n");
    rmSync(join(work, "out.txt"));
    await refused(set("mode", "wild"), -32602, /wild/);
    await refused(set("model", "no/such"), -32002, /no\/such/);
    await refused(set("colour", "red"), -32602, /colour/);
    await refused(e.agent.request("session/set_mode", { sessionId, modeId: "wild" }), -32602, /wild/);
    assert.equal(await e.end(), 0);
  },

  async cancel() {
    const e = await open();
    const { sessionId } = await fresh(e);
    const turn = e.prompt(sessionId, "wait");
    await e.until(() => e.text("agent_message_chunk") === "hm", "the first words");
    await refused(e.agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "x" }] }),
      -32600, /under way/);
    await e.agent.notify("session/cancel", { sessionId });
    assert.equal((await turn).stopReason, "cancelled");
    e.option = "never";
    const asked = e.prompt(sessionId, "write");
    await e.until(() => e.permissions.length, "the question");
    await e.agent.notify("session/cancel", { sessionId });
    assert.equal((await asked).stopReason, "cancelled");
    assert.equal((await e.prompt(sessionId, "again")).stopReason, "end_turn");
    assert.equal(await e.end(), 0);
  },

  async several() {
    const e = await open();
    const a = (await fresh(e)).sessionId, b = (await fresh(e)).sessionId;
    const slow = e.prompt(a, "wait");
    await e.until(() => e.text("agent_message_chunk") === "hm", "the first words");
    assert.equal((await e.agent.request("session/prompt",
      { sessionId: b, prompt: [{ type: "text", text: "quick" }] })).stopReason, "end_turn");
    const closed = e.agent.request("session/close", { sessionId: a });
    assert.equal((await slow).stopReason, "cancelled");
    await closed;
    await refused(e.prompt(a, "x"), -32002, /open/);
    assert.equal((await e.prompt(b, "still")).stopReason, "end_turn");
    assert.equal(await e.end(), 0);
  },

  async history() {
    const e = await open();
    const { sessionId } = await fresh(e);
    await e.prompt(sessionId, "think");
    await e.prompt(sessionId, "read");
    await e.agent.request("session/close", { sessionId });
    e.updates.length = 0;
    const where = { sessionId, cwd: work, mcpServers: [] };
    await e.agent.request("session/load", where);
    await e.until(() => e.of("available_commands_update").length, "the end of the replay");
    assert.deepEqual(e.updates.map((u) => u.update.sessionUpdate), ["user_message_chunk", "agent_thought_chunk",
      "agent_message_chunk", "user_message_chunk", "tool_call", "tool_call_update", "agent_message_chunk",
      "usage_update", "available_commands_update"]);
    assert.equal(e.text("user_message_chunk"), "thinkread");
    const fork = (await e.agent.request("session/fork", where)).sessionId;
    assert.notEqual(fork, sessionId);
    await e.prompt(fork, "only in the copy");
    await e.agent.request("session/close", { sessionId });
    e.updates.length = 0;
    await e.agent.request("session/resume", where);
    await e.until(() => e.of("available_commands_update").length, "the answer");
    assert.equal(e.updates.length, 1, "resume replays nothing");
    const { sessions } = await e.agent.request("session/list", { cwd: work });
    assert.ok(sessions.some((s) => s.sessionId === sessionId) && sessions.some((s) => s.sessionId === fork));
    assert.equal((await e.agent.request("session/list", { cwd: root })).sessions.length, 0);
    await e.agent.request("session/delete", { sessionId });
    assert.ok(!(await e.agent.request("session/list", {})).sessions.some((s) => s.sessionId === sessionId));
    await refused(e.agent.request("session/load", where), -32002, /no session/);
    assert.equal(await e.end(), 0);
  },

  // A session is called what its first prompt was, then what it is named; and keeps its mode.
  async names() {
    let e = await open();
    assert.deepEqual(e.hello.agentCapabilities.sessionCapabilities.title, {});
    const { sessionId } = await fresh(e);
    await e.prompt(sessionId, "what is it");
    assert.deepEqual(e.of("session_info_update").map((u) => u.title), ["what is it"]);
    const named = await e.agent.request("session/set_title", { sessionId, title: " a name " });
    assert.deepEqual(named, { title: "a name" });
    await e.until(() => e.of("session_info_update").some((u) => u.title === "a name"), "the title");
    await e.agent.request("session/set_mode", { sessionId, modeId: "yolo" });
    await e.prompt(sessionId, "again");
    assert.equal(await e.end(), 0);
    e = await open();
    assert.equal((await e.agent.request("session/set_title", { sessionId, title: "another" })).title, "another");
    assert.equal((await e.agent.request("session/list", {})).sessions.find((s) => s.sessionId === sessionId).title, "another");
    await refused(e.agent.request("session/set_title", { sessionId: "none", title: "x" }), -32002, /none/);
    const where = { sessionId, cwd: work, mcpServers: [] };
    assert.equal((await e.agent.request("session/resume", where)).modes.currentModeId, "yolo");
    assert.equal(await e.end(), 0);
    e = await open({}, ["--permission-mode", "ask"]);
    assert.equal((await e.agent.request("session/load", where)).modes.currentModeId, "ask");
    await refused(fresh(e, { cwd: "/" + "a".repeat(1200000) }), -32602, /longer than any path/);
    assert.equal(await e.end(), 0);
  },

  async delegation() {
    const e = await open(everything);
    const { sessionId } = await fresh(e);
    await e.prompt(sessionId, "give");
    assert.equal(e.permissions.length, 1);
    const asked = e.permissions[0].toolCall.toolCallId;
    assert.match(asked, /^task-.*\//);
    assert.equal(e.of("tool_call").find((u) => u.toolCallId === asked).title, "Write out.txt");
    assert.equal(e.of("tool_call_update").findLast((u) => u.toolCallId === asked).status, "completed");
    assert.equal(e.written.get(join(work, "out.txt")), "two\n");
    assert.equal(await e.end(), 0);
  },

  // The editor goes away while a question waits: the next one is asked again, and the work goes on.
  async comeback() {
    let e = await open();
    e.option = "never";
    const { sessionId } = await fresh(e);
    e.prompt(sessionId, "write").catch(() => {});
    await e.until(() => e.permissions.length, "the question");
    e.child.stdin.end();
    assert.equal(await e.exited, 0);
    e = await open();
    await e.agent.request("session/load", { sessionId, cwd: work, mcpServers: [] });
    await e.until(() => e.text("agent_message_chunk").startsWith("result: created"), "the rest of the run");
    assert.equal(e.permissions.length, 1);
    assert.equal(readFileSync(join(work, "out.txt"), "utf8"), "two\n");
    rmSync(join(work, "out.txt"));
    assert.equal(await e.end(), 0);
    e = await open();
    e.prompt((await fresh(e)).sessionId, "wait").catch(() => {});
    await e.until(() => e.text("agent_message_chunk") === "hm", "the first words");
    e.child.kill("SIGTERM");
    assert.equal(await e.exited, 143);
  },

  async servers() {
    const e = await open({ session: { notices: {} } });
    const server = { name: "files", command: "/bin/true", args: [], env: [] };
    const { sessionId } = await fresh(e, { mcpServers: [server] });
    await e.prompt(sessionId, "hi");
    assert.match(e.of("notice")[0].title, /MCP servers are not available[^]*files/);
    assert.equal(await e.end(), 0);
  },

  async nonsense() {
    const e = await open();
    e.child.stdin.write("this is no JSON\n[]\n{}\n\n");
    const { sessionId } = await fresh(e);
    assert.equal((await e.prompt(sessionId, "hi")).stopReason, "end_turn");
    assert.equal(counts.error >= 3, true);
    assert.equal(await e.end(), 0);
  },
};

let failed = 0;
for (const [name, scene] of Object.entries(scenes)) {
  try {
    await scene();
    console.log(`ok ${name}`);
  } catch (err) {
    failed++;
    console.log(`not ok ${name}: ${err.stack}`);
  }
}
rmSync(root, { recursive: true });
const missing = ["update agent_message_chunk", "update agent_thought_chunk", "update user_message_chunk", "update tool_call",
  "update tool_call_update", "update available_commands_update", "update current_mode_update",
  "update config_option_update", "update usage_update", "update notice", "update session_info_update"].filter((what) => !counts[what]);
for (const what of missing) console.log(`never seen: ${what}`);
for (const problem of problems) console.log(`schema: ${problem}`);
const checked = Object.entries(counts).filter(([k]) => !k.startsWith("update ")).reduce((n, [, v]) => n + v, 0);
console.log(`${checked} messages checked, ${problems.length} wrong; ${failed} scenes failed`);
process.exit(failed || problems.length || missing.length ? 1 : 0);
