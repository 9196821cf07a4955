// fold_events.js - what each kind of event does to the conversation (fold.js).

Conversation.handlers = {
  session_opened(e, d) {
    Object.assign(this.settings, {cwd: d.cwd, model: d.model, thinking: d.thinking, mode: d.permission_mode, agent: d.agent, parent: d.parent, created: e.ts});
  },
  config_changed(e, d) {
    for (const name of ['model', 'thinking', 'title', 'agent']) if (name in d) this.settings[name] = d[name];
    if (d.permission_mode) this.settings.mode = d.permission_mode;
  },
  run_started(e, d) {
    this.running = e.run_id;
    this.stopping = this.paused = false;
    this.stateTouched.clear();
    this.runs.set(e.run_id, {id: e.run_id, start: e.ts, model: d.model, origin: d.origin, continues: d.continues, status: 'running', spent: {}});
    this.begin(`r-${e.run_id}`, e, 'run', d.continues ? 'run, continued' : 'run', {parent: null});
    const before = d.continues && this.item(`r-${d.continues}`);
    if (before) before.continued = true;
  },
  user_message(e, d) {
    this.firstWords = this.firstWords || wordsOf(d.content).split('\n')[0];
    this.place(e, 'user', wordsOf(d.content));
    this.item(`u-${e.seq}`, {kind: 'user', entry: e.entry, parent: e.parent_entry || '', content: d.content, ts: e.ts, run: e.run_id});
    const run = this.runs.get(e.run_id);
    if (run) run.content = d.content;
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
    if ((d.items || []).length) this.remark(e, 'info', `Not delivered: ${d.items.map((i) => `“${cut(wordsOf(i.content), 200)}”`).join(', ')}`, {back: d.items.map((i) => wordsOf(i.content)).join('\n')});
  },
  cancel_requested() { this.stopping = true; },
  run_paused() { this.paused = true; },
  run_resumed() { this.paused = false; },
  model_call_started(e, d) {
    this.begin(`m-${d.message}`, e, 'model', d.model, {item: `a-${d.message}`, attempt: d.attempt});
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
    const span = this.openSpans.get(`m-${d.message}`);
    if (span) span.tokens = tokensOf(d.usage);
    this.end(`m-${d.message}`, e, d.stop === 'aborted' ? 'cancelled' : 'ok');
    const item = this.answer(e, d.message);
    this.place(e, 'assistant', wordsOf(d.content) || (d.content || []).map((b) => b.name).filter(Boolean).join(', '));
    Object.assign(item, {entry: e.entry, blocks: (d.content || []).map(finalBlock), streaming: false, waiting: false,
      stop: d.stop, usage: d.usage, cost: d.cost_usd, model: d.model, ts: e.ts, by: d.by});
    numberCalls(item);
    for (const b of item.blocks) if (b.name === 'write') this.noteBefore(this.call(b.call), b.args);
    this.context = tokensOf(d.usage) || this.context;
    this.spend(d, e.run_id);
  },
  model_call_failed(e, d) {
    this.discard(e, d.message);
    this.spend(d, e.run_id);
    this.failure = this.remark(e, 'warn', `The model did not answer: ${d.error}`, {code: d.code, run: e.run_id});
  },
  retry_scheduled(e, d) {
    const words = `. Trying again in ${duration(d.delay_ms)} (${d.attempt} of ${d.attempts}).`;
    if (this.failure && this.failure.run === e.run_id) this.item(this.failure.key).text += words;
    else this.remark(e, 'info', words.slice(2));
  },
  turn_discarded(e, d) { this.discard(e, d.message); },
  tool_decided(e, d) {
    Object.assign(this.touchCall(d.call), {tool: d.tool, ...decisionIn(d)});
  },
  approval_requested(e, d) {
    const call = this.touchCall(d.call);
    Object.assign(call, {tool: d.tool, args: call.args || d.args, state: 'asking', child: d.child, childAgent: d.agent, question: d.question, schema: d.schema, rule: d.rule, why: d.reason, class: d.class});
    if (d.tool === 'write') this.noteBefore(call, d.args);
    this.approvals.set(d.call, {call: d.call, tool: d.tool, args: d.args, child: d.child, agent: d.agent, run: e.run_id});
    this.begin(`w-${d.call}`, e, 'wait', 'waits for an answer', {item: d.child ? `q-${d.call}` : `a-${d.call.slice(0, d.call.lastIndexOf('.'))}`});
    if (d.child) this.item(`q-${d.call}`, {kind: 'question', call: d.call, ts: e.ts});
    this.childAsks(d, 1);
  },
  approval_resolved(e, d) {
    Object.assign(this.touchCall(d.call), {state: 'proposed', approved: d.approved, answeredBy: d.by, reason: d.reason});
    this.approvals.delete(d.call);
    this.end(`w-${d.call}`, e, d.approved ? 'ok' : 'denied');
    this.item(`q-${d.call}`);
    this.childAsks(d, -1);
  },
  tool_started(e, d) {
    const call = Object.assign(this.touchCall(d.call), {tool: d.tool, args: d.args, state: 'running', since: e.ts, output: ''});
    if (d.tool === 'write') this.noteBefore(call, d.args);
    this.begin(`t-${d.call}`, e, 'tool', d.tool, {about: callTitle(d.args), item: `a-${d.call.slice(0, d.call.lastIndexOf('.'))}`});
  },
  tool_output_delta(e, d) {
    const call = this.touchCall(d.call);
    call.output = (call.output + d.text).slice(-65536);
  },
  tool_finished(e, d) {
    this.end(`t-${d.call}`, e, d.outcome);
    const call = Object.assign(this.touchCall(d.call), {tool: d.tool, state: 'done', outcome: d.outcome, result: d.content,
      exitCode: d.exit_code, duration: d.duration_ms, truncated: d.truncated, warning: d.warning, pending: d.pending});
    this.noteFile(call);
    if (d.actions && d.actions.artifact_delta) this.stateRevision++;
    this.touchState(d.actions && {delta: d.actions.state_delta, removed: d.actions.removed});
  },
  tool_updated(e, d) {
    Object.assign(this.touchCall(d.call), {result: d.content, outcome: d.outcome, pending: !d.final});
  },
  state_changed(e, d) { this.touchState(d); },
  child_started(e, d) {
    this.children.set(d.child, {child: d.child, agent: d.agent, prompt: d.prompt, call: d.call, background: d.background, status: 'running', start: e.ts, run: e.run_id});
    this.begin(`c-${d.child}`, e, 'child', d.agent, {about: d.prompt, item: d.call && `a-${d.call.slice(0, d.call.lastIndexOf('.'))}`});
    const around = this.openSpans.get(`t-${d.call}`);
    if (around) around.covered = true; // the sub-agent says more than the call that waits for it
    if (d.call) this.touchCall(d.call).childSession = d.child;
  },
  child_reused(e, d) {
    const child = this.children.get(d.child);
    if (child) Object.assign(child, {status: 'running', live: null});
  },
  child_finished(e, d) {
    const child = this.children.get(d.child) || {child: d.child, agent: d.agent};
    Object.assign(child, {status: d.status, reason: d.reason, usage: d.usage, cost: d.cost_usd, text: d.text, end: e.ts, turns: d.turns, toolCalls: d.tool_calls, worktree: d.worktree});
    this.children.set(d.child, child);
    this.end(`c-${d.child}`, e, d.status);
    if (child.call) this.touchCall(child.call);
  },
  child_reported(e, d) {
    this.place(e, 'user', wordsOf(d.content));
    this.item(`u-${e.seq}`, {kind: 'report', entry: e.entry, content: d.content, agent: d.agent, child: d.child, ts: e.ts});
  },
  agent_started(e, d) {
    const parent = this.flowNode(e, d);
    const key = parent && `g-${parent.branch}-${parent.agent}`;
    this.begin(`g-${e.branch || ''}-${d.agent}`, e, 'agent', d.agent, {about: d.kind === 'llm' ? null : d.kind, parent: key || `r-${e.run_id}`});
  },
  agent_finished(e, d) {
    this.end(`g-${e.branch || ''}-${d.agent}`, e, d.status);
    this.flowEnd(e, d);
    if (d.status !== 'completed' && d.status !== 'transferred') this.remark(e, 'warn', `${d.agent}: ${d.status}${d.reason ? `, ${d.reason}` : ''}`);
  },
  compacted(e) { this.remark(e, 'info', 'Older messages were summed up.'); },
  branch_moved(e, d) {
    this.leaf = d.to || null;
    this.recount();
  },
  limit_reached(e, d) {
    const quota = /^quota_(.+)$/.exec(d.limit);
    this.remark(e, 'warn', quota ? `The quota of who pays for this run is spent: ${quota[1]} (${d.value} of ${d.max}).` : `Limit reached: ${d.limit.replace('_', ' ')} (${d.value} of ${d.max}).`);
  },
  budget_threshold(e, d) { this.remark(e, 'info', `${d.percent} % of the ${d.limit.replace('_', ' ')} limit are used.`); },
  budget_requested(e, d) { this.remark(e, 'info', `Asks its caller for more: ${d.limit.replace('_', ' ')} (${d.value} of ${d.max} used).`); },
  label_set(e, d) {
    const entry = this.entries.get(d.target);
    if (entry) entry.label = d.label;
  },
  note(e, d) { if (d.text) this.remark(e, 'info', d.text); },
  artifact_changed() { this.stateRevision++; },
  warning(e, d) { this.remark(e, 'warn', d.text, {code: d.code}); },
  run_finished(e, d) {
    this.running = null;
    this.stopping = this.paused = false;
    this.endRun(e, d.status);
    this.end(`r-${e.run_id}`, e, d.status);
    const run = this.runs.get(e.run_id) || {};
    this.settle(run, d);
    Object.assign(run, {status: d.status, reason: d.reason, end: e.ts, usage: d.usage, cost: d.cost_usd, duration: d.duration_ms, inAll: Date.parse(e.ts) - Date.parse(run.start), turns: d.turns, toolCalls: d.tool_calls});
    for (const item of this.items) if (item.streaming && item.run === e.run_id) this.item(item.key).streaming = item.waiting = false;
    if (d.status === 'failed' && this.failure && this.failure.run === e.run_id && d.error && this.failure.text.endsWith(d.error.message)) this.item(this.failure.key).told = true;
    this.item(`r-${e.run_id}`, {kind: 'run', run: e.run_id, content: run.content, status: d.status, reason: d.reason, error: d.error, usage: d.usage,
      cost: d.cost_usd, duration: d.duration_ms, inAll: run.inAll, turns: d.turns, toolCalls: d.tool_calls, ts: e.ts});
  },
};

const decisionIn = (d) => ({decision: d.decision, rule: d.by, why: d.reason, class: d.class, nobody: d.nobody_to_ask});

Conversation.prototype.childAsks = function childAsks(d, by) {
  const child = d.child && this.children.get(d.child);
  if (!child) return;
  child.asks = Math.max(0, (child.asks || 0) + by);
  if (by < 0 && child.live) child.live = {...child.live, status: 'running'}; // until it is looked at again
  if (child.call) this.touchCall(child.call);
};

Conversation.prototype.touchState = function touchState(d) {
  const keys = [...Object.keys((d && d.delta) || {}), ...((d && d.removed) || [])];
  if (!keys.length) return;
  this.stateRevision++;
  for (const key of keys) this.stateTouched.add(key);
};
