// agui_proto.mjs FILE - lines of JSON and of hexadecimal by turns: the protobuf form, read by @ag-ui/proto, is the event.
import { readFileSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { EventSchemas } from "@ag-ui/core/schemas";
import { decode } from "@ag-ui/proto";

const lines = readFileSync(process.argv[2], "utf8").trimEnd().split("\n");
const plain = (v) => JSON.parse(JSON.stringify(v));
let wrong = 0, seen = new Set();
for (let i = 0; i + 1 < lines.length; i += 2) {
  const event = JSON.parse(lines[i]);
  seen.add(event.type);
  let read;
  try {
    read = plain(decode(Buffer.from(lines[i + 1], "hex")));
    if (!EventSchemas.safeParse(event).success) throw new Error("the JSON is no event of 1.0");
  } catch (e) { read = String(e); }
  if (isDeepStrictEqual(read, event)) continue;
  wrong++;
  console.log(`${event.type}:\n  sent ${lines[i]}\n  read ${JSON.stringify(read)}`);
}
console.log(`${lines.length / 2} events, ${seen.size} kinds, ${wrong} wrong`);
process.exit(wrong || seen.size < 28 ? 1 : 0);
