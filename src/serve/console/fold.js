// fold.js - the page's view of a session: a pure fold over its events, as every view in hob is. It knows no nodes.
//
// An item is a piece of the conversation with a key that stays: a user's message, an answer with its blocks, a remark, the
// end of a run. Calls of tools hang on the blocks of answers. apply() returns the keys of items that changed.

const wordsOf = (content) => (content || []).filter((b) => b.type === 'text').map((b) => b.typed || b.text).join('\n');

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
    this.settings = {};
    this.firstWords = ''; // of the user: a title until there is one
    this.usage = {input_tokens: 0, output_tokens: 0, cache_read_tokens: 0, cache_write_tokens: 0, reasoning_tokens: 0};
    this.cost = 0;
    this.lastSeq = 0;
    this.running = null; // run id
    this.stopping = false;
    this.stateRevision = 0;
    this.dirty = new Set();
  }

  apply(e) {
    this.dirty = new Set();
    if (e.seq) {
      if (e.seq <= this.lastSeq) return this.dirty; // a double is no news
      this.lastSeq = e.seq;
    }
    const handler = Conversation.handlers[e.type];
    if (handler) handler.call(this, e, e.data || {});
    return this.dirty;
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
    this.item(`note-${e.seq}`, {kind: 'remark', level, text: words, ts: e.ts, ...more});
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
    const message = id.slice(0, id.lastIndexOf('.'));
    this.item(`a-${message}`);
    return this.call(id);
  }
  answer(e, message) {
    return this.item(`a-${message}`, {kind: 'answer', message, blocks: [], streaming: true, agent: e.agent, ts: e.ts, run: e.run_id});
  }

  // ---- spans of the timeline ----

  begin(key, e, kind, name, more = {}) {
    const span = {key, run: e.run_id, kind, name, agent: e.agent, start: Date.parse(e.ts), end: null, status: 'open', ...more};
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

function deltaInto(item, d, type) {
  const block = item.blocks[d.block] || (item.blocks[d.block] = {type, text: ''});
  if (d.offset > bytes(block)) return; // something is missing: the whole follows
  if (d.offset < bytes(block)) return;
  block.text += d.text;
  block.bytes = bytes(block, d.text);
  if (d.tool) block.name = d.tool;
}

const encoder = new TextEncoder();
function bytes(block, added) {
  return (block.bytes || 0) + (added === undefined ? 0 : encoder.encode(added).length);
}

function numberCalls(item) {
  let n = 0;
  for (const block of item.blocks) if (block && block.type === 'tool_call' && !block.call) block.call = `${item.message}.${n++}`;
    else if (block && block.type === 'tool_call') n++;
}

function finalBlock(b) {
  if (b.type !== 'tool_call') return {type: b.type, text: b.text || ''};
  return {type: 'tool_call', call: b.call, name: b.name, args: b.args, text: b.args_text || JSON.stringify(b.args || {})};
}

Conversation.handlers = {
  session_opened(e, d) {
    Object.assign(this.settings, {cwd: d.cwd, model: d.model, thinking: d.thinking, mode: d.permission_mode, agent: d.agent, parent: d.parent});
  },
  config_changed(e, d) {
    for (const name of ['model', 'thinking', 'title', 'agent']) if (name in d) this.settings[name] = d[name];
    if (d.permission_mode) this.settings.mode = d.permission_mode;
  },
  run_started(e, d) {
    this.running = e.run_id;
    this.stopping = false;
    this.runs.set(e.run_id, {id: e.run_id, start: e.ts, model: d.model, origin: d.origin, continues: d.continues, status: 'running'});
    this.begin(`r-${e.run_id}`, e, 'run', d.continues ? 'run, continued' : 'run');
    if (d.continues) this.remark(e, 'info', 'The interrupted run is continued.');
  },
  user_message(e, d) {
    this.firstWords = this.firstWords || wordsOf(d.content).split('\n')[0];
    this.place(e, 'user', wordsOf(d.content));
    this.item(`u-${e.seq}`, {kind: 'user', entry: e.entry, content: d.content, ts: e.ts, run: e.run_id});
  },
  steer_queued(e, d) { this.queue.set(d.item, {kind: 'steer', text: wordsOf(d.content)}); },
  follow_up_queued(e, d) { this.queue.set(d.item, {kind: 'follow_up', text: wordsOf(d.content)}); },
  steer_delivered(e, d) {
    this.queue.delete(d.item);
    this.place(e, 'user', wordsOf(d.content));
    this.item(`u-${e.seq}`, {kind: 'user', steer: true, entry: e.entry, content: d.content, ts: e.ts, run: e.run_id});
  },
  follow_up_delivered(e, d) { this.queue.delete(d.item); },
  queue_returned(e, d) {
    for (const item of d.items || []) this.queue.delete(item.item);
    if ((d.items || []).length) this.remark(e, 'info', 'Not delivered: ' + d.items.map((i) => `“${cut(wordsOf(i.content), 60)}”`).join(', '));
  },
  cancel_requested() { this.stopping = true; },
  model_call_started(e, d) {
    this.begin(`m-${d.message}`, e, 'model', d.model, {turn: e.turn, attempt: d.attempt});
    const item = this.answer(e, d.message);
    item.waiting = true;
  },
  message_open(e, d) {
    const item = this.answer(e, d.message);
    item.blocks = [];
    item.waiting = true;
  },
  text_delta(e, d) { this.delta(e, d, 'text'); },
  thinking_delta(e, d) { this.delta(e, d, 'thinking'); },
  tool_args_delta(e, d) { this.delta(e, d, 'tool_call'); },
  assistant_message(e, d) {
    this.end(`m-${d.message}`, e, d.stop === 'aborted' ? 'cancelled' : 'ok');
    const item = this.answer(e, d.message);
    this.place(e, 'assistant', wordsOf(d.content) || (d.content || []).map((b) => b.name).filter(Boolean).join(', '));
    Object.assign(item, {entry: e.entry, blocks: (d.content || []).map(finalBlock), streaming: false, waiting: false,
      stop: d.stop, usage: d.usage, cost: d.cost_usd, model: d.model, ts: e.ts, by: d.by});
    numberCalls(item);
    this.spend(d);
  },
  model_call_failed(e, d) {
    this.end(`m-${d.message}`, e, 'error');
    const item = this.item(`a-${d.message}`);
    if (item) Object.assign(item, {streaming: false, waiting: false, discarded: true});
    this.spend(d);
    this.remark(e, 'warn', `The model did not answer: ${d.error}`, {code: d.code});
  },
  retry_scheduled(e, d) {
    this.remark(e, 'info', `Trying again in ${duration(d.delay_ms)} (${d.attempt} of ${d.attempts}).`);
  },
  turn_discarded(e, d) {
    this.end(`m-${d.message}`, e, 'error');
    const item = this.item(`a-${d.message}`);
    if (item) Object.assign(item, {streaming: false, waiting: false, discarded: true});
  },
  tool_decided(e, d) {
    Object.assign(this.touchCall(d.call), {tool: d.tool, decision: d.decision, by: d.by, reason: d.reason, class: d.class, warning: d.warning});
  },
  approval_requested(e, d) {
    const call = this.touchCall(d.call);
    Object.assign(call, {tool: d.tool, args: call.args || d.args, state: 'asking', child: d.child, childAgent: d.agent});
    this.approvals.set(d.call, {call: d.call, tool: d.tool, args: d.args, child: d.child, agent: d.agent, run: e.run_id});
    this.begin(`w-${d.call}`, e, 'wait', 'approval');
    if (d.child) this.item(`q-${d.call}`, {kind: 'question', call: d.call, ts: e.ts});
  },
  approval_resolved(e, d) {
    Object.assign(this.touchCall(d.call), {state: 'proposed', approved: d.approved, answeredBy: d.by, reason: d.reason});
    this.approvals.delete(d.call);
    this.end(`w-${d.call}`, e, d.approved ? 'ok' : 'denied');
    this.item(`q-${d.call}`);
  },
  tool_started(e, d) {
    Object.assign(this.touchCall(d.call), {tool: d.tool, args: d.args, state: 'running', since: e.ts, output: ''});
    this.begin(`t-${d.call}`, e, 'tool', d.tool);
  },
  tool_output_delta(e, d) {
    const call = this.touchCall(d.call);
    call.output = (call.output + d.text).slice(-65536);
  },
  tool_finished(e, d) {
    this.end(`t-${d.call}`, e, d.outcome);
    Object.assign(this.touchCall(d.call), {tool: d.tool, state: 'done', outcome: d.outcome, result: d.content,
      exitCode: d.exit_code, duration: d.duration_ms, truncated: d.truncated, warning: d.warning, pending: d.pending});
    if (d.actions && (d.actions.state_delta || d.actions.removed)) this.stateRevision++;
  },
  tool_updated(e, d) {
    Object.assign(this.touchCall(d.call), {result: d.content, outcome: d.outcome, pending: !d.final});
  },
  state_changed() { this.stateRevision++; },
  child_started(e, d) {
    this.children.set(d.child, {child: d.child, agent: d.agent, prompt: d.prompt, call: d.call, background: d.background, status: 'running', start: e.ts, run: e.run_id});
    this.begin(`c-${d.child}`, e, 'child', d.agent);
    if (d.call) this.touchCall(d.call).childSession = d.child;
  },
  child_finished(e, d) {
    const child = this.children.get(d.child) || {child: d.child, agent: d.agent};
    Object.assign(child, {status: d.status, reason: d.reason, usage: d.usage, cost: d.cost_usd, text: d.text, end: e.ts});
    this.children.set(d.child, child);
    this.end(`c-${d.child}`, e, d.status);
    if (child.call) this.touchCall(child.call);
  },
  child_reported(e, d) {
    this.place(e, 'user', wordsOf(d.content));
    this.item(`u-${e.seq}`, {kind: 'report', entry: e.entry, content: d.content, agent: d.agent, child: d.child, ts: e.ts});
  },
  agent_started(e, d) {
    this.begin(`g-${e.branch || ''}-${d.agent}`, e, 'agent', d.agent);
    this.item(`g-${e.seq}`, {kind: 'agent', agent: d.agent, agentKind: d.kind, ts: e.ts});
  },
  agent_finished(e, d) {
    this.end(`g-${e.branch || ''}-${d.agent}`, e, d.status);
    if (d.status !== 'completed' && d.status !== 'transferred') this.remark(e, 'warn', `${d.agent}: ${d.status}${d.reason ? `, ${d.reason}` : ''}`);
  },
  compacted(e) { this.remark(e, 'info', 'Older messages were summed up.'); },
  branch_moved(e, d) {
    this.leaf = d.to || null;
    this.recount();
  },
  limit_reached(e, d) { this.remark(e, 'warn', `Limit reached: ${d.limit.replace('_', ' ')} (${d.value} of ${d.max}).`); },
  budget_threshold(e, d) { this.remark(e, 'info', `${d.percent} % of the ${d.limit.replace('_', ' ')} limit are used.`); },
  warning(e, d) { this.remark(e, 'warn', d.text, {code: d.code}); },
  run_finished(e, d) {
    this.running = null;
    this.stopping = false;
    this.endRun(e, d.status);
    this.end(`r-${e.run_id}`, e, d.status);
    Object.assign(this.runs.get(e.run_id) || {}, {status: d.status, reason: d.reason, end: e.ts, usage: d.usage, cost: d.cost_usd, duration: d.duration_ms, turns: d.turns, toolCalls: d.tool_calls});
    for (const item of this.items) if (item.streaming && item.run === e.run_id) this.item(item.key).streaming = item.waiting = false;
    this.item(`r-${e.run_id}`, {kind: 'run', run: e.run_id, status: d.status, reason: d.reason, error: d.error, usage: d.usage,
      cost: d.cost_usd, duration: d.duration_ms, turns: d.turns, toolCalls: d.tool_calls, ts: e.ts});
  },
};

Conversation.prototype.delta = function delta(e, d, type) {
  const item = this.answer(e, d.message);
  if (!item.streaming) return;
  item.waiting = false;
  deltaInto(item, d, type);
  if (type === 'tool_call') numberCalls(item);
};

Conversation.prototype.spend = function spend(d) {
  for (const name of Object.keys(this.usage)) this.usage[name] += (d.usage || {})[name] || 0;
  if (d.cost_usd === null || this.cost === null) this.cost = null;
  else this.cost += d.cost_usd || 0;
};

if (typeof module !== 'undefined') module.exports = {Conversation};
