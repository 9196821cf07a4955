// agui_serve.mjs - every scenario of the AG-UI oracle for the run path (`hob serve` on a scripted model): as it is, with
// words that fit an agent, or not at all, and why. Writes one list for each agent that plays; a scenario that is not
// named here is an error.
import { readFileSync, writeFileSync } from "node:fs";

const asItIs = {};
const plays = {
  default: {
    text: asItIs, unicode: asItIs, history: asItIs, "multimodal-input": asItIs, "tool-frontend": asItIs,
    "interrupt-resolve": asItIs, "interrupt-cancel": asItIs, "interrupt-uncovered": asItIs, reasoning: asItIs,
    "messages-snapshot": asItIs, subagent: asItIs, error: asItIs, abort: asItIs, cancel: asItIs,
    "same-thread-overlap": asItIs, malformed: asItIs, tolerance: asItIs, "http-methods": asItIs, cors: asItIs,
    capabilities: asItIs, connect: asItIs,
    // The server's own tool is one of hob's.
    "tool-backend": { toolName: "read" },
    // One run takes long beside what the client itself needs for it, so that the comparison is one of the server.
    concurrency: { prompt: "@slow 10 40 {nonce}" },
    // @state is played by the keeper, @activity by nobody (below).
    protobuf: { prompts: ["@echo h\u00e9llo \ud83e\udd8a", "@tool", "@reason", "@interrupt 1", "@interrupt 2", "@error", "@snapshot"] },
  },
  // An agent whose answer becomes state.
  keeper: {
    state: { expectState: { counter: "2" }, expectNextState: { counter: "3" } },
    protobuf: { prompts: ["@state"] },
  },
  // A workflow: its agents are steps. RAW is for events of other systems; a session has none.
  pair: { "steps-custom-usage": { types: ["STEP_STARTED", "STEP_FINISHED", "CUSTOM"] }, protobuf: { prompts: ["@misc"] } },
  // hob says every 15 seconds that it is there.
  quiet: { keepalive: { prompt: "@silent 17000", maxGapMs: 16900 } },
};
const notAtAll = {
  "interrupt-expired": "an approval of hob's waits until it is answered, it never expires",
  activity: "a session has no events that are activities: what people may want to know is CUSTOM",
};

const all = JSON.parse(readFileSync("scenarios.json", "utf8"));
const strangers = all.filter((s) => !notAtAll[s.name] && !Object.values(plays).some((p) => p[s.name]));
if (strangers.length) {
  console.error(`agui_serve.mjs does not say what becomes of: ${strangers.map((s) => s.name).join(", ")}`);
  process.exit(1);
}
for (const [agent, mine] of Object.entries(plays))
  writeFileSync(`serve-${agent}.json`, JSON.stringify(all.filter((s) => mine[s.name]).map((s) => ({ ...s, ...mine[s.name] }))));
for (const [name, why] of Object.entries(notAtAll)) console.log(`n/a  ${name}: ${why}`);
