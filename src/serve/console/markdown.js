// markdown.js - Markdown into nodes. What a model writes is untrusted: nothing here loads anything, links open only
// http, https and mailto, and images become links. Blocks are parsed line by line, so that a text that still grows can
// be shown: what stands before the last block does not change any more and is not parsed again. No pattern may need more
// steps than a text has characters, but for inline ones: these look through MAX_INLINE, and give up after MAX_MISSES.

const INLINE = [
  [/^\\([\\`*_{}[\]()#+\-.!~|<>])/, (m) => m[1]],
  [/^(`{1,8})(?!`)([^]{0,4000}?[^`])\1(?!`)/, (m) => h('code', m[2].replace(/^ (.+) $/, '$1'))],
  [/^\*\*(?=\S)([^]*?\S)\*\*(?!\*)/, (m) => h('strong', inline(m[1]))],
  [/^__(?=\S)([^]*?\S)__(?!\w)/, (m) => h('strong', inline(m[1]))],
  [/^\*(?=[^\s*])([^]*?[^\s*])\*(?!\*)/, (m) => h('em', inline(m[1]))],
  [/^_(?=[^\s_])([^]*?[^\s_])_(?!\w)/, (m) => h('em', inline(m[1]))],
  [/^~~(?=\S)([^]*?\S)~~/, (m) => h('del', inline(m[1]))],
  [/^!\[([^\]]*)\]\(\s*<?([^\s)>]*)>?(?:\s+"[^"]*")?\s*\)/, (m) => link(m[2], [m[1] || 'image', ' ↗'])],
  [/^\[((?:[^[\]]|\[[^\]]*\])*)\]\(\s*<?([^\s)>]*)>?(?:\s+"[^"]*")?\s*\)/, (m) => link(m[2], inline(m[1]))],
  [/^<((?:https?:\/\/|mailto:)[^\s>]+)>/, (m) => link(m[1], [m[1]])],
  [/^&(lt|gt|amp|quot|#39|nbsp);/, (m) => ENTITIES[m[1]]],
  [/^https?:\/\/[^\s<>"')\]]+[^\s<>"')\].,;:!?]/, (m) => link(m[0], [m[0]])],
];
const STOPS = /[\\`*_~![<h&]/g;
const ENTITIES = {lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'", nbsp: '\u00a0'};
const MAX_INLINE = 20000; // beyond that a paragraph is plain text: no pattern looks through more
const MAX_MISSES = 400; // signs that begin nothing: the rest is plain text

function link(href, children) {
  if (!/^(https?:\/\/|mailto:)/i.test(href)) return h('span.nolink', {title: href}, children);
  return h('a', {href, target: '_blank', rel: 'noreferrer noopener nofollow', title: href}, children);
}

function inline(text) {
  if (text.length > MAX_INLINE) return [text];
  const out = [];
  let plain = '';
  let at = 0;
  let misses = 0;
  while (at < text.length && misses < MAX_MISSES) {
    STOPS.lastIndex = at;
    const stop = STOPS.exec(text);
    if (!stop) break;
    plain += text.slice(at, stop.index);
    at = stop.index;
    const rest = text.slice(at);
    const hit = wordBefore(text, at) ? null : firstMatch(rest);
    if (hit) {
      if (plain) out.push(plain);
      plain = '';
      out.push(hit.node);
      at += hit.length;
    } else {
      if (stop[0] !== 'h') misses++;
      plain += text[at++];
    }
  }
  plain += text.slice(at);
  if (plain) out.push(plain);
  return out;
}

// snake_case is no emphasis, and neither is an h inside a word a link.
function wordBefore(text, at) {
  return (text[at] === '_' || text[at] === 'h') && at > 0 && /\w/.test(text[at - 1]);
}

function firstMatch(rest) {
  for (const [pattern, make] of INLINE) {
    const m = pattern.exec(rest);
    if (m) return {node: make(m), length: m[0].length};
  }
  return null;
}

// ---- blocks ----

const FENCE = /^ {0,3}(`{3,}|~{3,}(?!~))([^`]*)$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+([^]*)$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const HEADING = /^(#{1,6})\s+([^]*)$/;

function codeBlock(language, lines) {
  const text = lines.join('\n');
  const copy = copyButton('Copy this code', () => text);
  return h('div.code', h('div.code-head', h('span', language || 'text'), copy), h('pre', {tabindex: 0}, h('code', highlight(text, language))));
}

function cells(line) {
  const parts = line.trim().replace(/^\|/, '').replace(/\|$/, '').split(/(?<!\\)\|/);
  return parts.map((cell) => cell.replace(/\\\|/g, '|').trim());
}

function isTableLine(line) {
  return /^[\s|:-]*$/.test(line) && line.trim().indexOf('|', 1) > 0 && cells(line).every((cell) => /^:?-+:?$/.test(cell));
}

function tableBlock(lines) {
  const head = cells(lines[0]);
  const side = cells(lines[1]).map((c) => (/-:$/.test(c) ? (c[0] === ':' ? '.middle' : '.right') : ''));
  const row = (tag, parts) => h('tr', head.map((_, i) => h(`${tag}${side[i] || ''}`, inline(parts[i] || ''))));
  return h('div.table', {tabindex: 0}, h('table', h('thead', row('th', head)), h('tbody', lines.slice(2).map((line) => row('td', cells(line))))));
}

function listBlock(lines) {
  const first = ITEM.exec(lines[0]);
  const depth = first[1].length;
  const items = [];
  for (const line of lines) {
    const m = ITEM.exec(line);
    if (m && m[1].length <= depth + 1) items.push({lines: [m[3]], pad: m[1].length + m[2].length + 1});
    else items[items.length - 1].lines.push(outdent(line, items[items.length - 1].pad));
  }
  const ordered = /\d/.test(first[2]);
  return h(ordered ? 'ol' : 'ul', ordered ? {start: parseInt(first[2], 10)} : {}, items.map(listItem));
}

function outdent(line, most) {
  return line.slice(Math.min(most, line.length - line.trimStart().length));
}

function listItem({lines}) {
  const task = /^\[([ xX])\]\s+(.*)$/.exec(lines[0]);
  const body = task ? [task[2], ...lines.slice(1)] : lines;
  const tight = !body.some((l) => l.trim() === '') && !body.slice(1).some((l) => ITEM.test(l) || FENCE.test(l));
  const content = tight ? inline(body.join('\n')) : blocks(body).map(({node}) => node);
  const box = task && h('span.task', {'aria-label': task[1] === ' ' ? 'open' : 'done'}, task[1] === ' ' ? '☐' : '☑');
  return h(task ? 'li.todo' : 'li', box, content);
}

// One block at a time: {node, from, to} in lines. `from` of the last one is where a growing text is parsed again.
const MAX_DEPTH = 8; // of quotes and lists in each other
let depth = 0;

function blocks(lines, offset = 0) {
  if (depth >= MAX_DEPTH) return [{node: h('p', lines.join('\n')), from: offset, to: offset + lines.length}];
  depth++;
  try {
    return readBlocks(lines, offset);
  } finally {
    depth--;
  }
}

function readBlocks(lines, offset) {
  const out = [];
  let i = 0;
  const add = (to, node) => {
    out.push({node, from: i + offset, to: to + offset});
    i = to;
  };
  while (i < lines.length) {
    const line = lines[i];
    if (line.trim() === '') i++;
    else if (FENCE.test(line)) readFence(lines, i, add);
    else if (HEADING.test(line)) add(i + 1, headingBlock(HEADING.exec(line)));
    else if (RULE.test(line)) add(i + 1, h('hr'));
    else if (/^\s*>/.test(line)) readWhile(lines, i, (l) => /^\s*>/.test(l), add,
      (part) => h('blockquote', blocks(part.map((l) => l.replace(/^\s*> ?/, ''))).map((b) => b.node)));
    else if (ITEM.test(line)) readList(lines, i, add);
    else if (line.includes('|') && isTableLine(lines[i + 1] || '')) readWhile(lines, i, (l) => l.includes('|'), add, tableBlock);
    else readWhile(lines, i, (l, k) => k === i || startsNothing(l), add, (part) => h('p', paragraph(part)));
  }
  return out;
}

function headingBlock(m) {
  const text = m[2].trimEnd();
  let end = text.length;
  while (text[end - 1] === '#') end--;
  return h(`h${Math.min(6, m[1].length + 1)}`, inline(text.slice(0, end).trimEnd()));
}

function startsNothing(line) {
  return line.trim() !== '' && !FENCE.test(line) && !HEADING.test(line) && !/^\s*>/.test(line) && !ITEM.test(line);
}

function breaks(line) {
  return line.endsWith('  ') || line.endsWith('\\');
}

function paragraph(lines) {
  const out = [];
  lines.forEach((line, i) => {
    if (i) out.push(breaks(lines[i - 1]) ? h('br') : '\n');
    out.push(line.endsWith('\\') ? line.slice(0, -1) : breaks(line) ? line.trimEnd() : line);
  });
  if (!out.some((part) => part instanceof Node)) return inline(out.join(''));
  return out.map((part) => (part instanceof Node ? part : inline(part)));
}

function readWhile(lines, from, test, add, make) {
  let to = from;
  while (to < lines.length && test(lines[to], to)) to++;
  add(to, make(lines.slice(from, to)));
}

function readFence(lines, from, add) {
  const [, mark, about] = FENCE.exec(lines[from]);
  const [language] = /^[\w+#.-]*/.exec(about.trim());
  let to = from + 1;
  while (to < lines.length && !(lines[to].trim().startsWith(mark) && /^[`~]+$/.test(lines[to].trim()))) to++;
  const half = to === lines.length && mark.startsWith(lines[to - 1].trim() || '-') && to - 1 > from; // its end is being written
  add(Math.min(lines.length, to + 1), codeBlock(language, lines.slice(from + 1, half ? to - 1 : to)));
}

// A number or a bullet: with another one begins another list.
const markOf = (item) => item[2].replace(/\d+/, '1');

function readList(lines, from, add) {
  const first = ITEM.exec(lines[from]);
  let to = from + 1;
  while (to < lines.length) {
    const item = ITEM.exec(lines[to]);
    if (item && item[1].length <= first[1].length + 1 && markOf(item) !== markOf(first)) break;
    const blank = lines[to].trim() === '';
    const next = lines[to + 1];
    if (blank && (next === undefined || !(ITEM.test(next) || /^\s{2,}\S/.test(next)))) break;
    if (!blank && !ITEM.test(lines[to]) && !/^\s{2,}/.test(lines[to]) && lines[to - 1].trim() === '') break;
    if (!blank && (HEADING.test(lines[to]) || (FENCE.test(lines[to]) && !/^\s/.test(lines[to])))) break;
    to++;
  }
  add(to, listBlock(lines.slice(from, to)));
}

// A text that grows at its end. show() parses from its last block on.
class Markdown {
  constructor(node) {
    this.node = node;
    this.kept = 0; // lines that are settled
    this.nodes = 0; // and their nodes
    this.text = '';
  }
  show(text) {
    text = text.replace(/[\u202d\u202e]/g, visible); // nobody needs these but to deceive
    if (text === this.text) return;
    if (!text.startsWith(this.text)) this.kept = this.nodes = 0;
    this.text = text;
    const lines = text.split('\n');
    while (this.node.childNodes.length > this.nodes) this.node.lastChild.remove();
    const fresh = blocks(lines.slice(this.kept), this.kept);
    for (const {node} of fresh) this.node.append(node);
    if (fresh.length < 2) return;
    this.kept = fresh[fresh.length - 1].from;
    this.nodes += fresh.length - 1;
  }
}
