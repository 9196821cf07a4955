// agui_runs.mjs FILE - runs of hob sessions, one a line {had, events, messages}: both clients play them without a complaint and
// end up with the conversation that hob says there is.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { from } from "rxjs";

const warnings = [];
console.warn = (...a) => warnings.push(a.map(String).join(" "));
const say = console.log;
const plain = (m) => JSON.parse(JSON.stringify({
  id: m.id, role: m.role, content: m.content || undefined, calls: m.toolCalls?.map((c) => [c.id, c.function]), of: m.toolCallId }));
const byId = (messages) => messages.map(plain).sort((a, b) => (a.id < b.id ? -1 : 1));

let wrong = 0, played = 0;
for (const name of ["@ag-ui/client", "ag-ui-client-0-0-59"]) {
  const lib = await import(name);
  class Replay extends lib.AbstractAgent {
    run() { return from(this.events); }
  }
  for (const line of readFileSync(process.argv[2], "utf8").trimEnd().split("\n")) {
    const { had, events, messages } = JSON.parse(line);
    const agent = new Replay({ threadId: "t", initialMessages: had });
    agent.events = events;
    warnings.length = 0;
    let fault = "";
    try { await agent.runAgent({ runId: events[0].runId }); } catch (e) { fault = `refused: ${e.message}`; }
    if (!fault && warnings.length) fault = `warned: ${warnings[0]}`;
    if (!fault && !isDeepStrictEqual(byId(agent.messages), byId(messages)))
      fault = `has ${JSON.stringify(byId(agent.messages))}\n  not ${JSON.stringify(byId(messages))}`;
    played++;
    if (!fault) continue;
    wrong++;
    say(`${name}: ${fault}\n  ${events.map((e) => e.type).join(" ")}`);
  }
}
say(`${played} runs played, ${wrong} wrong`);
process.exit(wrong || played < 10 ? 1 : 0);
