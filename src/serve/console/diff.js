// diff.js - lines that went and lines that came, for the cards of write and edit. Pure.

// Longest common subsequence over lines, bounded: beyond that all old lines go and all new ones come.
const DIFF_CELLS = 400000;

function diffLines(before, after) {
  const a = before === '' ? [] : before.split('\n');
  const b = after === '' ? [] : after.split('\n');
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  const middle = diffMiddle(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [
    ...a.slice(0, start).map((line) => [' ', line]),
    ...middle,
    ...a.slice(a.length - end).map((line) => [' ', line]),
  ];
}

function diffMiddle(a, b) {
  if (a.length * b.length > DIFF_CELLS) return [...a.map((l) => ['-', l]), ...b.map((l) => ['+', l])];
  const width = b.length + 1;
  const best = new Uint32Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      best[i * width + j] = a[i] === b[j] ? best[(i + 1) * width + j + 1] + 1
        : Math.max(best[(i + 1) * width + j], best[i * width + j + 1]);
    }
  }
  const out = [];
  let i = 0;
  let j = 0;
  while (i < a.length && j < b.length) {
    if (a[i] === b[j]) out.push([' ', a[i++]]), j++;
    else if (best[(i + 1) * width + j] >= best[i * width + j + 1]) out.push(['-', a[i++]]);
    else out.push(['+', b[j++]]);
  }
  return [...out, ...a.slice(i).map((l) => ['-', l]), ...b.slice(j).map((l) => ['+', l])];
}

// [mark, line, number]: of the new text, for lines that went of the old one.
function numberLines(lines) {
  let old = 0;
  let now = 0;
  return lines.map(([mark, line]) => {
    if (mark !== '+') old++;
    if (mark !== '-') now++;
    return [mark, line, mark === '-' ? old : now];
  });
}

// Unchanged lines far from a change are left out: [' ' | '-' | '+', text, number], and ['…', '', how many].
function shortDiff(lines, around = 3) {
  const keep = new Uint8Array(lines.length);
  lines.forEach(([mark], i) => {
    if (mark === ' ') return;
    for (let k = Math.max(0, i - around); k <= Math.min(lines.length - 1, i + around); k++) keep[k] = 1;
  });
  const out = [];
  for (let i = 0; i < lines.length; i++) {
    if (keep[i]) out.push(lines[i]);
    else if (!out.length || out[out.length - 1][0] !== '…') out.push(['…', '', 1]);
    else out[out.length - 1][2]++;
  }
  return out;
}

// Where a line that went and the one that came in its place differ: a map from their index to [from, to] in characters.
// Lines pair off in order, where as many went as came; two that have little in common are another text, not a change.
function changedParts(lines) {
  const parts = new Map();
  for (let i = 0; i < lines.length;) {
    const run = (mark, at) => { let to = at; while (to < lines.length && lines[to][0] === mark) to++; return to; };
    const middle = run('-', i);
    const end = run('+', middle);
    if (middle - i === end - middle) for (let k = i; k < middle; k++) pairParts(lines, k, k + middle - i, parts);
    i = Math.max(end, i + 1);
  }
  return parts;
}

function pairParts(lines, a, b, parts) {
  const [was, is] = [lines[a][1], lines[b][1]];
  const short = Math.min(was.length, is.length);
  let start = 0;
  while (start < short && was[start] === is[start]) start++;
  let end = 0;
  while (end < short - start && was[was.length - 1 - end] === is[is.length - 1 - end]) end++;
  if (was.slice(0, start).trim().length + was.slice(was.length - end).trim().length < Math.max(was.trim().length, is.trim().length) / 3) return;
  parts.set(a, [start, was.length - end]);
  parts.set(b, [start, is.length - end]);
}
