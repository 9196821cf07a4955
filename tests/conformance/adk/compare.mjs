// compare.mjs ADK HOB TABLE - compares the observations of both sides with each other and with the table of differences.
//
// Observations are equal, or the table has a row with exactly what each side does and why. A row that is no longer
// true is a fault, too, and so is an observation that only one side made.
import { readFileSync } from 'node:fs';

const [adkFile, hobFile, tableFile] = process.argv.slice(2);

function observations(file) {
  return readFileSync(file, 'utf8').split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

const stable = (value) =>
  JSON.stringify(value, (_, v) =>
    v && typeof v === 'object' && !Array.isArray(v)
      ? Object.fromEntries(Object.keys(v).sort().map((k) => [k, v[k]])) : v);

const keyOf = (o) => `${o.case}\t${o.on ?? '-'}\t${o.what}`;

// case, store ("-" where it does not matter), observation, the ADK, hob, why; the values are JSON.
function differences(file) {
  const rows = new Map();
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (!line || line.startsWith('#')) continue;
    const [name, on, what, adk, hob, why] = line.split('\t');
    if (!why) throw new Error(`a row needs six fields: ${line}`);
    rows.set(`${name}\t${on}\t${what}`, { adk: stable(JSON.parse(adk)), hob: stable(JSON.parse(hob)), used: false });
  }
  return rows;
}

const adk = observations(adkFile);
const hob = new Map(observations(hobFile).map((o) => [keyOf(o), { seen: stable(o.seen), used: false }]));
const table = differences(tableFile);
const stores = new Set(adk.map((o) => o.on).filter(Boolean));
const faults = [];
let equal = 0;
let differ = 0;

for (const o of adk) {
  const key = keyOf(o);
  const mine = hob.get(key) ?? hob.get(keyOf({ ...o, on: undefined }));
  const row = table.get(key);
  const seen = stable(o.seen);
  if (!mine) {
    faults.push(`${key}\n    only the ADK: ${seen}`);
    continue;
  }
  mine.used = true;
  if (row) row.used = true;
  if (seen === mine.seen && !row) equal++;
  else if (row && row.adk === seen && row.hob === mine.seen) differ++;
  else {
    const told = row ? `\n    the table says: ${row.adk} and ${row.hob}` : '';
    faults.push(`${key}\n    the ADK: ${seen}\n    hob:     ${mine.seen}${told}`);
  }
}
const left = (on) => on === '-' || stores.has(on); // a store that could not be installed has no rows to check
for (const [key, o] of hob) if (!o.used && left(key.split('\t')[1])) faults.push(`${key}\n    only hob: ${o.seen}`);
for (const [key, row] of table) if (!row.used && left(key.split('\t')[1])) faults.push(`${key}\n    in the table, observed by nobody`);

const cases = new Set(adk.map((o) => o.case)).size;
for (const f of faults) console.error(f);
console.log(`${cases} cases: ${equal} observations equal, ${differ} different as told, ${faults.length} faults`);
process.exit(faults.length ? 1 : 0);
