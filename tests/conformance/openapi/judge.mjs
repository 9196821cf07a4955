// node judge.mjs HOB: starts `hob serve`, takes its /openapi.json and has it judged by the schema of OpenAPI 3.1; then asks
// every route that has no parameters without a token, and compares what is answered with what the document says.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Validator } from "@seriousme/openapi-schema-validator";

const home = mkdtempSync(join(tmpdir(), "hob-openapi-"));
const token = "a-token-for-the-judge";
const hob = spawn(process.argv[2], ["serve", "--listen", "127.0.0.1:0", "--json"], {
  cwd: home,
  env: { PATH: process.env.PATH, HOB_HOME: join(home, "home"), HOB_SERVER_TOKEN: token },
  stdio: ["ignore", "pipe", "inherit"],
});
const fail = (text) => {
  console.error("openapi: " + text);
  process.exitCode = 1;
};

try {
  const [line] = await new Promise((resolve, reject) => {
    createInterface({ input: hob.stdout }).once("line", (text) => resolve([text]));
    hob.once("exit", (code) => reject(new Error("hob serve ended with " + code)));
  });
  const base = JSON.parse(line).url.replace(/\/$/, "");
  const response = await fetch(base + "/openapi.json", { headers: { authorization: "Bearer " + token } });
  const document = await response.json();

  while (!(await fetch(base + "/readyz")).ok) await new Promise((resolve) => setTimeout(resolve, 20));
  const validator = new Validator();
  const verdict = await validator.validate(document);
  if (!verdict.valid) fail(JSON.stringify(verdict.errors, null, 1));
  if (validator.version !== "3.1") fail("judged as OpenAPI " + validator.version);

  const ids = new Set();
  let operations = 0;
  for (const [path, methods] of Object.entries(document.paths))
    for (const [method, operation] of Object.entries(methods)) {
      operations++;
      if (ids.has(operation.operationId)) fail("twice: " + operation.operationId);
      ids.add(operation.operationId);
      const named = [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]);
      const declared = operation.parameters.filter((p) => p.in === "path").map((p) => p.name);
      if (named.join() !== declared.join()) fail(`${method} ${path}: parameters ${declared}`);
      const answer = await fetch(base + path.replace(/\{\w+\}/g, "x"), { method: method.toUpperCase() });
      const open = operation.security.length === 0;
      if (open ? !answer.ok : answer.status !== 401) fail(`${method} ${path} without a token: ${answer.status}`);
      await answer.body?.cancel();
    }
  console.log(`openapi: ${operations} operations`);
} catch (error) {
  fail(error.stack);
} finally {
  hob.kill("SIGTERM");
  await new Promise((resolve) => (hob.exitCode === null ? hob.once("exit", resolve) : resolve()));
  rmSync(home, { recursive: true, force: true });
}
