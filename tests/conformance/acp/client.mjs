// An editor for `hob acp`: the SDK's client, with files and terminals of its own, and a check of every message.
import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import * as acp from "@agentclientprotocol/sdk/unstable";

const sdk = new URL("./node_modules/@agentclientprotocol/sdk/dist/v1/", import.meta.url);
const stable = await import(new URL("schema/zod.gen.js", sdk));
const unstable = await import(new URL("unstable/schema/zod.gen.js", sdk));

// Answers and requests of the agent, by method. Those with unstable parts are checked against the unstable schema.
const answers = {
  "initialize": unstable.zInitializeResponse,
  "authenticate": stable.zAuthenticateResponse,
  "session/new": stable.zNewSessionResponse,
  "session/load": stable.zLoadSessionResponse,
  "session/resume": stable.zResumeSessionResponse,
  "session/fork": unstable.zForkSessionResponse,
  "session/list": stable.zListSessionsResponse,
  "session/close": stable.zCloseSessionResponse,
  "session/delete": stable.zDeleteSessionResponse,
  "session/prompt": unstable.zPromptResponse,
  "session/set_mode": stable.zSetSessionModeResponse,
  "session/set_config_option": stable.zSetSessionConfigOptionResponse,
  "session/set_title": unstable.zSetSessionTitleResponse,
};
const calls = {
  "session/update": stable.zSessionNotification,
  "session/request_permission": stable.zRequestPermissionRequest,
  "elicitation/create": stable.zCreateElicitationRequest,
  "fs/read_text_file": stable.zReadTextFileRequest,
  "fs/write_text_file": stable.zWriteTextFileRequest,
  "terminal/create": stable.zCreateTerminalRequest,
  "terminal/output": stable.zTerminalOutputRequest,
  "terminal/wait_for_exit": stable.zWaitForTerminalExitRequest,
  "terminal/kill": stable.zKillTerminalRequest,
  "terminal/release": stable.zReleaseTerminalRequest,
};

export const problems = [];
export const counts = {};

// Whatever is in `value` must still be there after parsing: a key that the schema does not know would be gone.
function lost(value, parsed, path) {
  if (path.endsWith("rawInput") || path.endsWith("rawOutput")) return null;
  if (value === null || typeof value !== "object") return value === parsed ? null : path;
  if (parsed === null || typeof parsed !== "object") return path;
  for (const key of Object.keys(value)) {
    const gone = lost(value[key], parsed[key], `${path}.${key}`);
    if (gone) return gone;
  }
  return null;
}

function check(schema, value, what) {
  counts[what] = (counts[what] ?? 0) + 1;
  if (!schema) return problems.push(`${what}: not in the protocol`);
  const result = schema.safeParse(value);
  if (!result.success) problems.push(`${what}: ${result.error.message}: ${JSON.stringify(value)}`);
  else {
    const gone = lost(value, result.data, "");
    if (gone) problems.push(`${what}: ${gone} is unknown or changed: ${JSON.stringify(value)}`);
  }
}

const errorSchema = stable.zError;

// A call is told of before anything about it, and has begun before its tool wants something of the editor.
function checkOrder(m, known) {
  const update = m.params.update;
  if (update?.sessionUpdate === "tool_call") known.set(update.toolCallId, update.status);
  const about = update?.sessionUpdate === "tool_call_update" ? update : m.params.toolCall;
  if (about && !known.has(about.toolCallId)) problems.push(`${m.method} of an unknown call: ${JSON.stringify(about)}`);
  if (about?.status) known.set(about.toolCallId, about.status);
  if (["fs/read_text_file", "fs/write_text_file", "terminal/create"].includes(m.method) &&
      ![...known.values()].includes("in_progress"))
    problems.push(`${m.method}, and no call is in progress`);
}

function checkLine(line, sent, known) {
  let m;
  try {
    m = JSON.parse(line);
  } catch {
    return problems.push(`not JSON on stdout: ${line}`);
  }
  if (m.jsonrpc !== "2.0") problems.push(`no jsonrpc: ${line}`);
  if (m.method) {
    check(calls[m.method], m.params, m.method);
    checkOrder(m, known);
    if (m.method === "session/update") {
      const kind = `update ${m.params.update.sessionUpdate}`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
  } else if (m.error) check(errorSchema, m.error, "error");
  else check(answers[sent.get(m.id)], m.result, `${sent.get(m.id)} answer`);
}

export class Editor {
  constructor(program, args, cwd, env) {
    this.updates = [];
    this.permissions = [];
    this.forms = [];
    this.form = { action: "decline" };
    this.option = "allow";
    this.buffers = new Map(); // unsaved files
    this.written = new Map();
    this.terminals = new Map();
    this.child = spawn(program, ["acp", ...args], { cwd, env, stdio: ["pipe", "pipe", "pipe"] });
    this.stderr = "";
    this.child.stderr.on("data", (d) => (this.stderr += d));
    this.exited = new Promise((done) => this.child.on("exit", (code, signal) => done(code ?? signal)));
    this.connect();
  }

  connect() {
    const sent = new Map(), known = new Map();
    const out = Writable.toWeb(this.child.stdin);
    const tap = new TransformStream({
      transform(chunk, to) {
        for (const line of new TextDecoder().decode(chunk).split("\n").filter(Boolean)) {
          const m = JSON.parse(line);
          if (m.method && m.id !== undefined) sent.set(m.id, m.method);
        }
        to.enqueue(chunk);
      },
    });
    tap.readable.pipeTo(out).catch(() => {});
    const copy = new TransformStream();
    const writer = copy.writable.getWriter();
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      checkLine(line, sent, known);
      writer.write(new TextEncoder().encode(line + "\n")).catch(() => {});
    }).on("close", () => writer.close().catch(() => {}));
    this.connection = this.app().connect(acp.ndJsonStream(tap.writable, copy.readable));
    this.agent = this.connection.agent;
  }

  app() {
    const m = acp.methods.client;
    return acp.client({ name: "hob-test" })
      .onNotification(m.session.update, ({ params }) => void this.updates.push(params))
      .onRequest(m.session.requestPermission, ({ params }) => this.permission(params))
      .onRequest(m.elicitation.create, ({ params }) => {
        this.forms.push(params);
        return this.form;
      })
      .onRequest(m.fs.readTextFile, ({ params }) => this.read(params))
      .onRequest(m.fs.writeTextFile, ({ params }) => {
        this.written.set(params.path, params.content);
        return {};
      })
      .onRequest(m.terminal.create, ({ params }) => this.create(params))
      .onRequest(m.terminal.output, ({ params }) => {
        const t = this.terminals.get(params.terminalId);
        return { output: t.output, truncated: false, exitStatus: t.status };
      })
      .onRequest(m.terminal.waitForExit, ({ params }) => this.terminals.get(params.terminalId).ended)
      .onRequest(m.terminal.kill, ({ params }) => {
        this.terminals.get(params.terminalId).child.kill("SIGKILL");
        return {};
      })
      .onRequest(m.terminal.release, ({ params }) => {
        this.terminals.get(params.terminalId).released = true;
        return {};
      });
  }

  permission(params) {
    this.permissions.push(params);
    if (this.option === "never") return new Promise(() => {});
    if (this.option === "cancelled") return { outcome: { outcome: "cancelled" } };
    return { outcome: { outcome: "selected", optionId: this.option } };
  }

  read({ path }) {
    if (this.buffers.has(path)) return { content: this.buffers.get(path) };
    try {
      return { content: readFileSync(path, "utf8") };
    } catch {
      throw acp.RequestError.resourceNotFound(path);
    }
  }

  create({ command, args, cwd }) {
    const terminalId = `term-${this.terminals.size + 1}`;
    const child = spawn(command, args, { cwd, stdio: ["ignore", "pipe", "pipe"] });
    const t = { child, output: "", status: null, released: false };
    child.stdout.on("data", (d) => (t.output += d));
    child.stderr.on("data", (d) => (t.output += d));
    t.ended = new Promise((done) => child.on("close", (exitCode, signal) => {
      t.status = { exitCode, signal };
      done(t.status);
    }));
    this.terminals.set(terminalId, t);
    return { terminalId };
  }

  // The text of all updates of one kind, of the last turn.
  text(kind) {
    return this.updates.filter((u) => u.update.sessionUpdate === kind)
      .map((u) => u.update.content.text).join("");
  }

  of(kind) {
    return this.updates.map((u) => u.update).filter((u) => u.sessionUpdate === kind);
  }

  async prompt(sessionId, prompt) {
    this.updates.length = 0;
    if (typeof prompt === "string") prompt = [{ type: "text", text: prompt }];
    return this.agent.request("session/prompt", { sessionId, prompt });
  }

  // Until something holds; the program is given ten seconds.
  async until(holds, what) {
    for (let i = 0; i < 1000; i++) {
      if (holds()) return;
      await new Promise((done) => setTimeout(done, 10));
    }
    throw new Error(`${what} did not happen`);
  }

  async end() {
    this.child.stdin.end();
    return this.exited;
  }
}
