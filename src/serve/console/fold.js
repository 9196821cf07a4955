// fold.js - the page's view of a session: a pure fold over its events, as every view in hob is. It knows no nodes.
//
// An item is a piece of the conversation with a key that stays: a user's message, an answer with its blocks, a remark, the
// agents of a workflow, the end of a run. Calls of tools hang on the blocks of answers. apply() returns the keys of items
// that changed. What each kind of event does stands in fold_events.js.

const wordsOf = (content) => (content || []).filter((b) => b.type === 'text').map((b) => b.typed || b.text).join('\n');
const tokensOf = (u) => (u ? (u.input_tokens || 0) + (u.output_tokens || 0) + (u.cache_read_tokens || 0) + (u.cache_write_tokens || 0) : 0);

class Conversation {
  constructor() {
    this.items = [];
    this.byKey = new Map();
    this.calls = new Map();
    this.entries = new Map(); // entry -> {entry, parent, role, text}
    this.leaf = null;
    this.runs = new Map();
    this.spans = [];
    this.openSpans = new Map();
    this.children = new Map();
    this.queue = new Map();
    this.approvals = new Map();
    this.files = new Map(); // path -> its text, as far as this conversation read or wrote all of it
    this.settings = {};
    this.firstWords = ''; // of the user: a title until there is one
    this.usage = {input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0};
    this.cost = 0;
    this.context = 0; // tokens of the last request
    this.lastSeq = 0;
    this.running = null; // run id
    this.stopping = this.paused = false;
    this.stateRevision = 0;
    this.stateTouched = new Set(); // keys that this run changed
    this.dirty = new Set();
  }

  apply(e) {
    this.dirty = new Set();
    if (e.seq) {
      if (e.seq <= this.lastSeq) return this.dirty; // a double is no news
      this.lastSeq = e.seq;
      if (this.lostRun) this.goOn();
    }
    const handler = Conversation.handlers[e.type];
    if (handler) handler.call(this, e, e.data || {});
    return this.dirty;
  }

  // The run under way has nobody who works on it: its process died. Until something new happens it counts as interrupted.
  abandon() {
    this.dirty = new Set();
    if (!this.running) return this.dirty;
    this.lostRun = this.running;
    this.running = null;
    for (const item of this.items) if (item.streaming) this.item(item.key).waiting = false;
    (this.runs.get(this.lostRun) || {}).status = 'unfinished';
    const item = this.item(`lost-${this.lostRun}`, {kind: 'run', run: this.lostRun, status: 'interrupted', ts: (this.runs.get(this.lostRun) || {}).start});
    item.hidden = false;
    return this.dirty;
  }
  // A paused run stands when nothing of it is under way any more.
  get stands() {
    return this.paused && ![...this.openSpans.values()].some((s) => s.run === this.running && ['model', 'tool', 'child'].includes(s.kind));
  }
  goOn() {
    this.item(`lost-${this.lostRun}`).hidden = true;
    this.running = this.lostRun;
    this.lostRun = null;
  }

  // ---- items ----

  item(key, make) {
    let item = this.byKey.get(key);
    if (!item && make) {
      item = {key, anchor: this.leaf, hidden: false, ...make};
      this.byKey.set(key, item);
      this.items.push(item);
    }
    if (item) this.dirty.add(key);
    return item;
  }
  remark(e, level, words, more = {}) {
    return this.item(`note-${e.seq}`, {kind: 'remark', level, text: words, ts: e.ts, ...more});
  }
  place(e, role, words) {
    if (!e.entry) return;
    this.entries.set(e.entry, {entry: e.entry, parent: e.parent_entry || null, role, text: words, seq: e.seq});
    this.leaf = e.entry;
  }
  call(id) {
    let call = this.calls.get(id);
    if (!call) this.calls.set(id, call = {call: id, state: 'proposed', output: ''});
    return call;
  }
  touchCall(id) {
    this.item(`a-${id.slice(0, id.lastIndexOf('.'))}`);
    return this.call(id);
  }
  answer(e, message) {
    return this.item(`a-${message}`, {kind: 'answer', message, blocks: [], streaming: true, agent: e.agent, ts: e.ts, run: e.run_id});
  }
  delta(e, d, type) {
    const item = this.answer(e, d.message);
    if (!item.streaming) return;
    item.waiting = false;
    const block = item.blocks[d.block] || (item.blocks[d.block] = {type, text: '', bytes: 0});
    if (d.offset !== block.bytes) return; // shown already, or something is missing: the whole follows
    block.text += d.text;
    block.bytes += utf8Length(d.text);
    if (d.tool) block.name = d.tool;
    if (type === 'tool_call') numberCalls(item);
  }
  spend(d, run) {
    const spent = (this.runs.get(run) || {}).spent || {};
    for (const name of Object.keys(this.usage)) {
      const n = (d.usage || {})[name] || 0;
      this.usage[name] += n;
      spent[name] = (spent[name] || 0) + n;
    }
    spent.cost = (spent.cost || 0) + (d.cost_usd || 0);
    this.cost = d.cost_usd === null || this.cost === null ? null : this.cost + (d.cost_usd || 0);
  }
  // At its end a run tells all that it used, with its sub-agents: what was not counted yet is added.
  settle(run, d) {
    const spent = run.spent || {};
    for (const name of Object.keys(this.usage)) this.usage[name] += Math.max(0, ((d.usage || {})[name] || 0) - (spent[name] || 0));
    this.cost = d.cost_usd === null || this.cost === null ? null : this.cost + Math.max(0, (d.cost_usd || 0) - (spent.cost || 0));
  }
  discard(e, message) {
    this.end(`m-${message}`, e, 'error');
    const item = this.item(`a-${message}`);
    if (item) Object.assign(item, {streaming: false, waiting: false, discarded: true});
  }

  // What a write replaces, if this conversation saw all of it.
  noteBefore(call, args) {
    if (args && typeof args.path === 'string') call.before = this.files.get(args.path);
  }
  noteFile(call) {
    const {path, content, offset, limit} = call.args || {};
    if (typeof path !== 'string') return;
    const text = wordsOf(call.result);
    if (call.outcome !== 'ok') this.files.delete(path);
    else if (call.tool === 'write') this.files.set(path, content);
    else if (call.tool === 'read' && !offset && !limit && !/\n\[lines \d.*\]$/.test(text)) this.files.set(path, text);
  }

  // ---- spans of the timeline: each hangs on the agent that it belongs to, or on the run ----

  begin(key, e, kind, name, more = {}) {
    const owner = `g-${e.branch || ''}-${e.agent}`;
    const parent = this.openSpans.has(owner) ? owner : `r-${e.run_id}`;
    const span = {key, run: e.run_id, kind, name, parent, start: Date.parse(e.ts), end: null, status: 'open', ...more};
    this.spans.push(span);
    this.openSpans.set(key, span);
  }
  end(key, e, status) {
    const span = this.openSpans.get(key);
    if (!span) return;
    span.end = Date.parse(e.ts);
    span.status = status;
    this.openSpans.delete(key);
  }
  endRun(e, status) {
    for (const [key, span] of this.openSpans) if (span.run === e.run_id && span.kind !== 'child') this.end(key, e, status);
  }

  // ---- agents of a workflow: which hangs on which follows from branches and from what is open ----

  flowNode(e, d) {
    const item = this.item(`f-${e.run_id}`, {kind: 'flow', run: e.run_id, nodes: [], ts: e.ts});
    const branch = e.branch || '';
    const own = branch.split('.').pop() === d.agent;
    const upper = own ? branch.split('.').slice(-2)[0] : null;
    const open = item.nodes.filter((n) => n.status === 'running' && n.kind !== 'llm' && n.agent !== d.agent);
    const parent = open.filter((n) => (own && upper !== d.agent ? n.agent === upper : n.branch === branch)).pop() || open.pop() || null;
    const before = item.nodes.find((n) => n.agent === d.agent && n.branch === branch && n.parent === parent);
    const node = before || {agent: d.agent, branch, parent, kind: d.kind, rounds: 0, depth: parent ? parent.depth + 1 : 0};
    Object.assign(node, {status: 'running', rounds: node.rounds + 1, start: e.ts});
    if (!before) item.nodes.push(node);
    return parent;
  }
  flowEnd(e, d) {
    const item = this.item(`f-${e.run_id}`);
    const node = item && item.nodes.filter((n) => n.agent === d.agent && n.branch === (e.branch || '') && n.status === 'running').pop();
    if (node) Object.assign(node, {status: d.status, reason: d.reason, took: Date.parse(e.ts) - Date.parse(node.start)});
  }

  // Items of branches that the conversation left are not shown.
  recount() {
    const path = new Set([null]);
    for (let at = this.leaf; at; at = (this.entries.get(at) || {}).parent) path.add(at);
    for (const item of this.items) {
      const hidden = !path.has(item.entry || item.anchor || null) || (this.leaf === null && Boolean(item.entry));
      if (hidden === item.hidden) continue;
      item.hidden = hidden;
      this.dirty.add(item.key);
    }
  }
}

function utf8Length(text) {
  let n = 0;
  for (const c of text) n += c < '\u0080' ? 1 : c < '\u0800' ? 2 : c.length === 1 ? 3 : 4;
  return n;
}

function numberCalls(item) {
  let n = 0;
  for (const block of item.blocks) {
    if (!block || block.type !== 'tool_call') continue;
    if (!block.call) block.call = `${item.message}.${n}`;
    n++;
  }
}

function finalBlock(b) {
  if (b.type !== 'tool_call') return {type: b.type, text: b.text || ''};
  return {type: 'tool_call', call: b.call, name: b.name, args: b.args, text: b.args_text || JSON.stringify(b.args || {})};
}
