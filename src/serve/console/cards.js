// cards.js - calls of tools: what was asked, whether it may run, what it gave. A card stays the same node as long as the
// call is shown; its inside is made when somebody opens it, and only what changed is made anew.

const OUTCOMES = {
  ok: ['ok', 'done'], error: ['bad', 'failed'], denied: ['bad', 'denied'], skipped: ['mute', 'skipped'],
  cancelled: ['mute', 'stopped'], unknown: ['warn', 'outcome unknown'],
};
const TOOL_ICONS = {bash: 'terminal', read: 'file', write: 'pencil', edit: 'pencil', task: 'people', ask_user: 'ask', recall: 'search', transfer_to_agent: 'people'};
const MAX_LINES = 400;

function argsOf(call, block) {
  const args = call.args || (block && block.args);
  if (args) return args;
  try {
    return JSON.parse((block && block.text) || '{}');
  } catch {
    return null; // still being written
  }
}

// What a call is about, in one line.
function callTitle(args) {
  const first = args && (args.command ?? args.path ?? args.pattern ?? args.prompt ?? args.url ?? args.query ?? args.name ?? args.question);
  if (typeof first === 'string') return cut(first.split('\n').find((line) => line.trim()) || '', 160);
  return args && Object.keys(args).length ? cut(JSON.stringify(args), 120) : '';
}

// ---- what was asked ----

const changesOf = (before, after) => diffLines(before.replace(/\n$/, ''), after.replace(/\n$/, ''));

function diffView(before, after, language) {
  const names = {'+': ['ins', '+'], '-': ['del', '−'], ' ': ['same', '']};
  const lines = shortDiff(numberLines(changesOf(before, after).map(([mark, line]) => [mark, visible(line)])));
  const gap = (words) => h('div.gap', h('span.nr', '⋯'), h('span.mark'), h('span.line', words));
  if (!lines.some(([mark]) => mark === '+' || mark === '-')) return h('p.hint', 'Nothing changes: it reads so already.');
  const parts = changedParts(lines);
  const row = ([mark, line, n], i) => {
    if (mark === '…') return gap(plural(n, 'unchanged line'));
    const words = highlight(line, language);
    return h(`div.${names[mark][0]}`, h('span.nr', n), h('span.mark', names[mark][1]), h('span.line', parts.has(i) ? markRange(words, ...parts.get(i)) : words));
  };
  return h('div.diff', {role: 'group', 'aria-label': 'changes', tabindex: 0}, lines.slice(0, MAX_LINES).map(row),
    lines.length > MAX_LINES && gap(plural(lines.length - MAX_LINES, 'more line')));
}

function unifiedView(diff) {
  return h('pre.unified', {tabindex: 0}, diffCode(visible(diff)));
}

function argsView(name, args, block, before) {
  if (!args) return h('pre.args', visible((block && block.text) || ''));
  const rest = Object.entries(args).filter(([key]) => !['command', 'path', 'content', 'old_string', 'new_string', 'diff', 'prompt', 'agent'].includes(key));
  const more = rest.length > 0 && h('p.hint.mono', rest.map(([key, value]) => `${key}: ${visible(JSON.stringify(value))}`).join('  '));
  if (typeof args.command === 'string') return [copyable(h('pre.args.command', {tabindex: 0}, highlight(visible(args.command), 'sh')), 'Copy the command', args.command), more];
  if (typeof args.old_string === 'string' && typeof args.new_string === 'string') return [diffView(args.old_string, args.new_string, languageOf(args.path)), more];
  if (typeof args.diff === 'string') return [unifiedView(args.diff), more];
  if (name === 'write' && typeof args.content === 'string')
    return [diffView(before || '', args.content, languageOf(args.path)), before === undefined && h('p.hint', 'The whole file; what stood there before was not read in this session.')];
  if (name === 'task' && typeof args.prompt === 'string') return [(args.prompt.includes('\n') || args.prompt.length > 90) && h('blockquote', visible(args.prompt)), more];
  if (name === 'ask_user' && typeof args.question === 'string') return (args.question.includes('\n') || args.question.length > 90) && h('blockquote', visible(args.question));
  if (name === 'read' && typeof args.path === 'string') return [h('p.hint.mono', visible(args.path)), more];
  return h('pre.args', {tabindex: 0}, highlight(visible(JSON.stringify(args, null, 2)), 'json'));
}

// Nothing is left to say about these once they may run: the line above says it, or the form.
function isTold(call, args) {
  const values = Object.values(args || {});
  if (call.state === 'asking') return call.question !== undefined;
  return Boolean(args) && typeof args.command !== 'string' && values.length < 2 && values.every((v) => v === callTitle(args));
}

// ---- what it gave ----

function copyable(pre, label, words) {
  return h('div.copyable', pre, copyButton(label, () => words));
}

// Long text is cut in the middle until somebody wants all of it.
function outputView(text, live) {
  const lines = text.split('\n');
  const pre = h(`pre.output${live ? '.live' : ''}`, {tabindex: 0});
  if (lines.length <= MAX_LINES || live) return replace(pre, ansi(live ? lines.slice(-MAX_LINES).join('\n') : text));
  const half = MAX_LINES / 2;
  const gap = h('button.small.gap', {type: 'button', onclick: () => replace(pre, ansi(text))}, `show ${lines.length - MAX_LINES} lines more`);
  return append(pre, [ansi(`${lines.slice(0, half).join('\n')}\n`), gap, ansi(`\n${lines.slice(-half).join('\n')}`)]);
}

function picture(block) {
  const src = `data:${block.media_type};base64,${block.data}`;
  return h('button.picture', {type: 'button', title: 'Show larger', onclick: () => showPicture(src)}, h('img', {src, alt: 'picture'}));
}

function contentView(content, plainText = true, language = '') {
  return (content || []).map((block) => {
    if (block.type === 'text' && language && block.text.length < MAX_CODE && block.text.split('\n').length < MAX_LINES) return copyable(h('pre.output', {tabindex: 0}, highlight(visible(block.text), language)), 'Copy the output', block.text);
    if (block.type === 'text' && plainText) return copyable(outputView(block.text, false), 'Copy the output', block.text);
    if (block.type === 'text') return attachedFile(block.typed || block.text);
    if (block.type === 'image' && /^image\/(png|jpeg|gif|webp)$/.test(block.media_type || '')) return picture(block);
    return h('pre.output', JSON.stringify(block));
  });
}

// A text file that was attached is folded; other words of the user are Markdown.
function attachedFile(text) {
  const file = /^File ([^\n]{1,200}):\n\n/.exec(text);
  if (file) return h('details.attached', h('summary', icon('file'), file[1]), h('pre', {tabindex: 0}, text.slice(file[0].length)));
  const node = h('div.md');
  new Markdown(node).show(text);
  return node;
}

// The one line of a result that a reader wants to see without opening it.
function peek(call, args) {
  if (call.state !== 'done' || call.outcome === 'denied') return call.state === 'done' ? call.reason || null : null;
  const text = wordsOf(call.result);
  if (call.outcome === 'ok' && call.tool === 'write' && args && typeof args.content === 'string') {
    if (call.before === undefined) return plural(args.content.replace(/\n$/, '').split('\n').length, 'line');
    const [more, less] = ['+', '-'].map((mark) => changesOf(call.before, args.content).filter(([m]) => m === mark).length);
    return more || less ? `+${more} −${less}` : 'no change';
  }
  if (call.outcome === 'ok' && call.tool === 'read') return text ? plural(text.replace(/\n\[lines \d.*\]$/, '').replace(/\n$/, '').split('\n').length, 'line') : null;
  const lines = ansi(text).map((n) => (n instanceof Node ? n.textContent : n)).join('').replace(/\nexit code \d+\s*$/, '').trim().split('\n'); // the badge says it
  const line = call.tool === 'task' ? lines.find((l) => l.startsWith('> ')) || lines[0] : lines[lines.length - 1];
  return cut(call.tool === 'task' ? line.replace(/^> /, '').replace(/[*`]/g, '') : line, 160) || null;
}

// "+3 −1" in the colours of a diff.
function countsOf(words) {
  const m = /^(\+\d+) (−\d+)$/.exec(words);
  return m && [h('span.came', m[1]), ' ', h('span.went', m[2])];
}

function callStatus(call, child) {
  if (call.state === 'asking') return h('span.badge.warn', 'waits for you');
  if (call.state === 'running' && childWaits(child)) return h('span.badge.warn', 'waits for you');
  if (call.state === 'running') return h('span.badge.live', h('span.spinner'), 'running');
  if (call.state !== 'done') return call.approved === false ? h('span.badge.bad', 'denied') : null;
  if (call.pending) return h('span.badge.live', 'pending');
  const [tone, word] = OUTCOMES[call.outcome] || ['mute', call.outcome];
  return [call.duration !== undefined && h('span.took', duration(call.duration)),
    tone === 'ok' ? h('span.badge.ok.quiet', {title: word}, icon('check'), h('span.sr', word)) : h(`span.badge.${tone}`, call.exitCode ? `exit ${call.exitCode}` : word)];
}

// ---- the card ----

class Card {
  constructor(act) {
    this.act = act;
    this.summary = h('summary', {onclick: () => { this.touched = true; }});
    this.body = h('div.card-body');
    this.node = h('details.card', {ontoggle: () => this.node.open && this.fill()}, this.summary, this.body);
    this.parts = new Map();
  }
  show(call, block, child) {
    Object.assign(this, {call, block, child, name: call.tool || block.name || 'tool', args: argsOf(call, block)});
    Object.assign(this.node.dataset, {call: call.call || '', state: call.state, outcome: call.outcome || ''});
    const wantsEyes = call.state === 'asking' || (call.state === 'done' && ['error', 'unknown'].includes(call.outcome));
    if (!this.touched) this.node.open = wantsEyes || call.state === 'running' || ['write', 'edit', 'patch'].includes(this.name);
    this.drawHead();
    if (this.node.open) this.fill();
    else this.empty();
    return this.node;
  }
  drawHead() {
    const {call, name, args} = this;
    const about = visible(callTitle(args)) || cut(visible((!args && this.block && this.block.text) || ''), 120);
    const key = [name, about, call.state, call.outcome, call.pending, call.approved, call.duration, childWaits(this.child)].join('\u0000');
    if (key === this.headKey) return;
    this.headKey = key;
    const words = peek(call, args);
    replace(this.summary, icon(TOOL_ICONS[name] || 'gear'), h('span.tool', name), h('span.about', about), words && words.length < 16 && h('span.took', countsOf(words) || visible(words)),
      callStatus(call, this.child), icon('chevron'), words && words.length >= 16 && h('span.peek', visible(words)));
  }
  // A part of the inside, made anew when its key changes.
  part(name, key, make) {
    const had = this.parts.get(name);
    if (had && had.key === key) return had.nodes;
    const nodes = key === null ? [] : [make()].flat(Infinity).filter((n) => n instanceof Node);
    this.parts.set(name, {key, nodes});
    return nodes;
  }
  // What is closed holds nothing: no buttons that are out of date, no nodes that nobody sees.
  empty() {
    this.parts.clear();
    replace(this.body);
  }
  fill() {
    const {call, name, args, block, child} = this;
    const asking = call.state === 'asking';
    const quiet = name === 'write' && call.outcome === 'ok'; // what it did is the diff
    const result = call.state === 'running' ? call.output.length || null : call.state === 'done' && !quiet ? call.result : null;
    const pre = this.body.querySelector('pre.live');
    const below = pre && pre.scrollHeight - pre.scrollTop - pre.clientHeight > 30;
    keep(this.body, [
      this.part('args', isTold(call, args) ? null : call.args || (block && (block.args || block.text)) || '', () => argsView(name, args, block, call.before)),
      this.part('hints', `${call.warning}${call.reason}${call.state}${call.truncated}`, () => [
        call.state === 'done' && call.warning && call.warning !== true && h('p.hint', String(call.warning)),
        call.decision === 'deny' && h('p.hint', 'Not allowed by ', h('code', call.rule), call.why && `: ${call.why}`),
        call.reason && call.state === 'done' && h('p.hint', `Reason: ${call.reason}`)]),
      this.part('child', child ? JSON.stringify([child.status, child.asks, child.live, child.text]) : null, () => childStrip(child, this.act, true)),
      this.part('ask', asking ? call.call : null, () => approvalBar(call, this.act)),
      this.part('result', result, () => (call.state === 'running' ? outputView(call.output, true)
        : [...contentView(call.result, true, name === 'read' && call.outcome === 'ok' ? languageOf(args && args.path) : ''), call.truncated && h('p.hint', 'The output was cut.')])),
      this.part('stop', call.state === 'running' && !child && this.act.may('run') ? call.call : null, () => h('div.row', h('button.small', {type: 'button',
        title: 'Stop this call; the run goes on', 'data-stop': call.call, onclick: () => this.act.stopCall(call.call)}, icon('stop'), 'Stop this call'))),
    ]);
    const now = this.body.querySelector('pre.live');
    if (now && !below) now.scrollTop = now.scrollHeight;
  }
}
