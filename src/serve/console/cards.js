// cards.js - calls of tools: what was asked, whether it may run, what it gave.

const OUTCOMES = {
  ok: ['ok', 'done'], error: ['bad', 'failed'], denied: ['bad', 'denied'], skipped: ['mute', 'skipped'],
  cancelled: ['mute', 'stopped'], unknown: ['warn', 'unknown outcome'],
};

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
function callTitle(name, args, block) {
  if (!args) return cut((block && block.text) || '', 120);
  const first = args.command ?? args.path ?? args.pattern ?? args.prompt ?? args.url ?? args.query ?? args.name;
  if (typeof first === 'string') return cut(first.split('\n')[0], 160);
  const keys = Object.keys(args);
  return keys.length ? cut(JSON.stringify(args), 120) : '';
}

function diffView(before, after) {
  const lines = shortDiff(diffLines(before.replace(/\n$/, ''), after.replace(/\n$/, '')));
  const names = {'+': 'ins', '-': 'del', ' ': 'same', '…': 'gap'};
  return h('div.diff', {role: 'group', 'aria-label': 'changes'}, lines.slice(0, 400).map(([mark, line]) =>
    h(`div.${names[mark]}`, h('span.mark', mark), h('span.line', mark === '…' ? '' : line))),
  lines.length > 400 && h('div.gap', h('span.mark', '…'), h('span.line', plural(lines.length - 400, 'more line'))));
}

function unifiedView(diff) {
  const kind = (line) => (/^(\+\+\+|---|@@|diff )/.test(line) ? 'gap' : line[0] === '+' ? 'ins' : line[0] === '-' ? 'del' : 'same');
  return h('div.diff', diff.split('\n').slice(0, 400).map((line) =>
    h(`div.${kind(line)}`, h('span.mark', /^[+-]/.test(line) ? line[0] : ' '), h('span.line', /^[+\- ]/.test(line) ? line.slice(1) : line))));
}

function argsView(name, args, block) {
  if (!args) return h('pre.args', (block && block.text) || '');
  if (typeof args.command === 'string') return h('pre.args.command', args.command);
  if (name === 'edit' && 'new_string' in args) return diffView(args.old_string || '', args.new_string || '');
  if (typeof args.diff === 'string') return unifiedView(args.diff);
  if (name === 'write' && typeof args.content === 'string') return diffView('', args.content);
  if (name === 'task' && typeof args.prompt === 'string') return h('blockquote', args.prompt);
  return h('pre.args', JSON.stringify(args, null, 2));
}

function contentView(content, plainText = true) {
  return (content || []).map((block) => {
    if (block.type === 'text' && plainText) return h('pre.output', block.text);
    if (block.type === 'text') {
      const node = h('div.md');
      new Markdown(node).show(block.typed || block.text);
      return node;
    }
    if (block.type === 'image' && /^image\/(png|jpeg|gif|webp)$/.test(block.media_type || ''))
      return h('img.picture', {src: `data:${block.media_type};base64,${block.data}`, alt: 'image'});
    return h('pre.output', JSON.stringify(block));
  });
}

function approvalBar(call, act) {
  const reason = h('input', {placeholder: 'Reason (optional, the model sees it)', 'aria-label': 'Reason', maxlength: 1000});
  const busy = (yes) => bar.querySelectorAll('button, input').forEach((n) => { n.disabled = yes; });
  const answer = async (approved) => {
    busy(true);
    try {
      await act.answer(call.call, approved, reason.value.trim());
    } catch (error) {
      busy(false);
      act.fail(error);
    }
  };
  const bar = h('div.approval', {role: 'group', 'aria-label': `May ${call.tool} run?`},
    h('span.ask', call.child ? `${call.childAgent || 'a sub-agent'} asks: may it run?` : 'May it run?'), reason,
    h('button.primary', {type: 'button', data: {answer: 'allow'}, onclick: () => answer(true)}, icon('check'), 'Allow once'),
    h('button', {type: 'button', data: {answer: 'deny'}, onclick: () => answer(false)}, icon('cross'), 'Deny'));
  return bar;
}

function callStatus(call) {
  if (call.state === 'asking') return h('span.badge.warn', 'waits for you');
  if (call.state === 'running') return h('span.badge.live', h('span.spinner'), 'running');
  if (call.state !== 'done') return call.approved === false ? h('span.badge.bad', 'denied') : null;
  const [tone, word] = OUTCOMES[call.outcome] || ['mute', call.outcome];
  if (call.pending) return h('span.badge.live', 'pending');
  const code = call.exitCode ? `exit ${call.exitCode}` : word;
  return h(`span.badge.${tone}`, code, call.duration !== undefined && h('span.took', duration(call.duration)));
}

function callResult(call) {
  if (call.state === 'running') return call.output ? h('pre.output.live', call.output) : null;
  if (call.state !== 'done') return null;
  return [...contentView(call.result), call.truncated && h('p.hint', 'The output was cut.')];
}

function callCard(call, block, act, remembered) {
  const name = call.tool || block.name || 'tool';
  const args = argsOf(call, block);
  const wantsEyes = call.state === 'asking' || (call.state === 'done' && ['error', 'unknown', 'denied'].includes(call.outcome));
  const edits = ['write', 'edit', 'patch'].includes(name);
  const open = remembered ?? (wantsEyes || call.state === 'running' || edits);
  const card = h('details.card', {open, data: {call: call.call || '', state: call.state, outcome: call.outcome || ''}},
    h('summary', h('span.tool', name), h('span.about', callTitle(name, args, block)), callStatus(call)),
    h('div.card-body', argsView(name, args, block),
      call.warning && h('p.hint', call.warning),
      call.reason && call.state === 'done' && h('p.hint', call.reason),
      call.childSession && h('p', h('a', {href: `#/s/${encodeURIComponent(call.childSession)}`}, 'Open its session')),
      call.state === 'asking' && approvalBar(call, act),
      callResult(call)));
  return card;
}
