// Runs the live cases on the ADK and prints what was observed, one JSON object a line.
import { agentCases } from './adk_agents.mjs';
import { contentsCases } from './adk_contents.mjs';
import { runCases } from './adk_runs.mjs';
import { storeCases } from './adk_store.mjs';
import { observer } from './lib.mjs';

const table = [...(await storeCases()), ...contentsCases, ...agentCases, ...runCases];
const only = process.argv[2];
for (const [name, run, on] of table) {
  if (only && name !== only) continue;
  const see = observer(name, on);
  try {
    await run(see);
  } catch (e) {
    see('the case itself failed', e.stack);
  }
}
process.exit(0); // the ADK's database service holds its pool open
